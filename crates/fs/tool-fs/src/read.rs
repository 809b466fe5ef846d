//! The tool `read` (spec 07 §6.2).

#[cfg(test)]
mod tests;
mod view;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use dsh_fs::{Cut, FsError, FsErrorCode, FsLine, FsObservation, LineWindow, one_line};
use dsh_json::Number;
use dsh_json_schema::{LowerError, Params};
use dsh_tools_core::{
    CallView, Content, Execution, FileLocation, Json, Kind, ResultView, RunContext, Schema, StoredResult,
    Tool, ToolError,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::{Access, some_path};
use crate::advice::Doing;
use crate::config::FsToolsConfig;
use crate::stored;

pub(crate) struct Read {
    pub(crate) access: Access,
    pub(crate) config: FsToolsConfig,
}

/// What a model may ask for; more reach is asked for beside it ([`Access::policy`]). The schema that it sees is [`Read::parameters`], where the limit is in the text.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct ReadArgs {
    pub(crate) file_path: String,
    #[schemars(with = "Option<f64>")]
    pub(crate) offset: Option<Number>,
    #[schemars(with = "Option<f64>")]
    pub(crate) limit: Option<Number>,
    #[schemars(with = "Option<f64>")]
    pub(crate) column: Option<Number>,
}

/// A window of a file.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ReadOutput {
    /// The absolute path of the file, or the locator of the stored result.
    pub(crate) path: String,
    /// The number of the first line asked for, from 1.
    pub(crate) offset: u64,
    /// The lines of the window.
    pub(crate) lines: Vec<Line>,
    /// How many lines the file has.
    pub(crate) total_lines: u64,
}

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Line {
    /// Its number in the file, from 1.
    pub(crate) number: u64,
    /// Its text, without the line break.
    pub(crate) text: String,
}

impl Tool for Read {
    const NAME: &'static str = "read";
    const PAGES: bool = true;
    type Args = ReadArgs;
    type Output = ReadOutput;

    fn description(&self) -> Cow<'_, str> {
        DESCRIPTION.into()
    }

    fn parameters(&self) -> Result<Schema, LowerError> {
        self.access.parameters(parameters(self.config.read_limit.get()))
    }

    fn needs_approval(&self, execution: &Execution) -> Result<Option<Arc<str>>, ToolError> {
        self.access.needs_approval(execution)
    }

    fn parallel(&self, _args: &ReadArgs) -> bool {
        true
    }

    async fn run(&self, args: ReadArgs, cx: &RunContext) -> Result<ReadOutput, ToolError> {
        let path = some_path(&args.file_path)?;
        let asked = Asked::of(&args, self.config.read_limit.get())?;
        // Arguments that ask for more reach are checked for a stored text, too, which needs none.
        let (policy, cancel) = (self.access.policy(cx)?, cx.cancel());
        if let Some(store) = self.access.store_of(path) {
            let deadline = Duration::from_millis(self.config.read_stored_ms.get());
            let (lines, total) = stored::lines(&*store, path, self.window(asked), deadline, cx).await?;
            return shown(path, asked, lines, total);
        }
        let fs = self.access.fs()?;
        let why = self.access.telling(Doing::Reading, &policy);
        let target = fs.resolve(path, &policy.workspace_root, &policy, cancel).await.map_err(&why)?;
        let read = fs.read_lines(&target, self.window(asked), &policy, cancel).await;
        if read.as_ref().is_err_and(|error| error.kind() == FsErrorCode::NotFound) {
            self.access.saw(&target, FsObservation::Absent, cx);
        }
        let read = read.map_err(why)?;
        let output = shown(&target.display, asked, read.lines, read.total_lines)?;
        self.access.saw(&target, FsObservation::Present { version: read.version }, cx);
        Ok(output)
    }

    fn render(&self, args: &ReadArgs, output: &ReadOutput) -> Result<Content, ToolError> {
        let asked = Asked::of(args, self.config.read_limit.get())?;
        Ok(dsh_tools_core::text(view::envelope(&output.path, &body(output, asked.limit))))
    }

    fn meta(&self, _args: &ReadArgs, output: &ReadOutput) -> Option<Json> {
        view::meta(output)
    }

    fn present_call(&self, args: &ReadArgs) -> Option<CallView> {
        let number =
            |number: &Option<Number>| number.as_ref().and_then(Number::as_u64).filter(|number| *number > 0);
        let (offset, limit) = (number(&args.offset), number(&args.limit));
        let first = offset.unwrap_or(1);
        let title = match (offset, limit) {
            (_, Some(limit)) => {
                format!("Read {} ({first} - {})", args.file_path, first.saturating_add(limit - 1))
            }
            (Some(_), None) => format!("Read {} (from line {first})", args.file_path),
            (None, None) => format!("Read {}", args.file_path),
        };
        Some(CallView::Generic {
            title: title.into(),
            kind: Kind::Read,
            raw_input: None,
            content: None,
            locations: vec![FileLocation { path: args.file_path.as_str().into(), line: Some(first) }],
        })
    }

    fn present_result(&self, _args: &ReadArgs, result: &StoredResult<'_>) -> Option<ResultView> {
        view::card(result)
    }
}

impl Read {
    fn window(&self, asked: Asked) -> LineWindow {
        let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        LineWindow {
            first: asked.offset,
            column: asked.column,
            max_lines: size(asked.limit),
            max_line_chars: size(self.config.read_max_line_length.get()),
            max_bytes: size(self.config.read_max_bytes.get()),
            mark: cut_mark,
            stream_min_size: self.config.read_stream_min_size.get(),
        }
    }
}

/// The value of a window, of a file or of a stored text.
fn shown(path: &str, asked: Asked, lines: Vec<FsLine>, total_lines: u64) -> Result<ReadOutput, ToolError> {
    if lines.is_empty() && (asked.offset, total_lines) != (1, 0) {
        return Err(past_the_end(asked.offset, path, total_lines));
    }
    let lines = lines.into_iter().map(|line| Line { number: line.number, text: line.text }).collect();
    Ok(ReadOutput { path: path.to_owned(), offset: asked.offset, lines, total_lines })
}

/// The window that was asked for, with the defaults.
#[derive(Debug, Clone, Copy)]
struct Asked {
    offset: u64,
    limit: u64,
    column: u64,
}

impl Asked {
    fn of(args: &ReadArgs, most: u64) -> Result<Self, ToolError> {
        let positive = |name: &str, number: &Option<Number>, default: u64| match number {
            None => Ok(default),
            Some(number) => number.as_u64().filter(|number| *number > 0).ok_or_else(|| {
                ToolError::plain(format!("`{name}` must be a positive integer; it is {number}"))
            }),
        };
        let asked = Self {
            offset: positive("offset", &args.offset, 1)?,
            limit: positive("limit", &args.limit, most)?,
            column: positive("column", &args.column, 1)?,
        };
        if asked.limit > most {
            let limit = asked.limit;
            return Err(ToolError::plain(format!("`limit` must be at most {most}; it is {limit}")));
        }
        Ok(asked)
    }
}

// What the model reads.

const DESCRIPTION: &str = "Reads a text file and shows its lines with their numbers. Shows a part of a longer file; go on \
                           with `offset`. Takes UTF-8, and UTF-16 with a byte order mark.";

pub(crate) const PROMPT: &str = "Use `read` to look at text files. It puts a number and a colon before each line; they \
                                 are not part of the file. Read a file before you change it, and read only the part \
                                 that you need of a long one.";

fn parameters(limit: u64) -> Params {
    Schema::params()
        .required(
            "file_path",
            Schema::string().description("The file. A relative path starts at the workspace root."),
        )
        .optional("offset", Schema::number().description("The number of the first line, from 1. Default 1."))
        .optional("limit", Schema::number().description(format!("How many lines. Default and maximum {limit}.")))
        .optional(
            "column",
            Schema::number()
                .description("The character at which each line begins, from 1: to go on in a line that was cut. Default 1."),
        )
}

fn cut_mark(cut: &Cut) -> String {
    format!(
        "… [line cut after {} characters, {} more; go on with offset {}, limit 1, column {}]",
        cut.shown, cut.rest, cut.line, cut.next_column
    )
}

fn body(output: &ReadOutput, limit: u64) -> String {
    let total = output.total_lines;
    let Some(last) = output.lines.last() else { return "(The file is empty.)".to_owned() };
    let shown: Vec<String> =
        output.lines.iter().map(|line| format!("{}: {}", line.number, line.text)).collect();
    let range = format!("Lines {}-{} of {total}", output.offset, last.number);
    let next = last.number + 1;
    let footer = match (last.number < total, (output.lines.len() as u64) < limit) {
        (false, _) => format!("(End of the file, {total} line{} in all.)", if total == 1 { "" } else { "s" }),
        (true, false) => format!("({range}. Go on with offset {next}.)"),
        (true, true) => {
            format!("({range}; more would exceed the size of one result. Go on with offset {next}.)")
        }
    };
    format!("{}\n\n{footer}", shown.join("\n"))
}

fn past_the_end(offset: u64, path: &str, total: u64) -> ToolError {
    let lines = if total == 1 { "line" } else { "lines" };
    let message = format!(
        "there is no line {offset} in {}: it has {total} {lines}. Use a smaller offset.",
        one_line(path)
    );
    ToolError::new(FsError::NAME, FsErrorCode::NotFound.as_str(), message)
}
