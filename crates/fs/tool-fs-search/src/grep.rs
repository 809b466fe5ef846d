//! The tool `grep` (spec 07 §7.3).

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use dsh_fs::GrepRequest;
use dsh_json::Json;
use dsh_json_schema::{LowerError, Params, Schema};
use dsh_llm::Content;
use dsh_tools_core::{CallView, Execution, Kind, ResultView, RunContext, StoredResult, Tool, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::{Access, shortcomings};
use crate::page::{Room, page};
use crate::spill::{Paged, Rest};
use crate::{text, view};

/// Finds lines by content.
pub(crate) struct Grep(pub(crate) Arc<Access>);

/// What a model may ask for; more reach is asked for beside it ([`Access::open`]).
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct GrepArgs {
    pattern: String,
    path: Option<String>,
    include: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GrepOutput {
    /// All lines that match, by path and line.
    matches: Vec<GrepLine>,
    /// What could not be searched; absent when everything was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    warnings: Option<Vec<String>>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct GrepLine {
    /// The file.
    pub(crate) path: Arc<str>,
    /// The number of the line, from 1.
    pub(crate) line_number: u64,
    /// The whole line.
    pub(crate) line: Arc<str>,
}

impl GrepArgs {
    fn check(&self) -> Result<(), ToolError> {
        let is_blank = |field: &Option<String>| field.as_ref().is_some_and(|text| text.trim().is_empty());
        if self.pattern.is_empty() {
            return Err(text::empty_pattern());
        }
        if is_blank(&self.path) {
            return Err(text::blank("path"));
        }
        if is_blank(&self.include) {
            return Err(text::blank("include"));
        }
        self.include.as_deref().map_or(Ok(()), check_include)
    }
}

/// An include names files to search: one glob, commas only inside braces.
fn check_include(include: &str) -> Result<(), ToolError> {
    if include.starts_with('!') {
        return Err(text::negative_include());
    }
    let mut depth = 0_usize;
    let mut chars = include.chars();
    while let Some(char) = chars.next() {
        match char {
            '\\' => {
                chars.next();
            }
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => return Err(text::several_includes()),
            _ => {}
        }
    }
    Ok(())
}

impl Grep {
    /// What a page takes.
    fn room(&self) -> Room {
        let config = &self.0.config;
        Room {
            matches: config.grep_max_matches.get(),
            line_bytes: config.grep_max_line_bytes.get(),
            bytes: config.grep_max_bytes.get(),
        }
    }
}

impl Tool for Grep {
    const NAME: &'static str = "grep";
    type Args = GrepArgs;
    type Output = GrepOutput;

    fn description(&self) -> Cow<'_, str> {
        text::GREP_DESCRIPTION.into()
    }

    async fn run(&self, args: GrepArgs, cx: &RunContext) -> Result<GrepOutput, ToolError> {
        args.check()?;
        let (search, policy) = self.0.open(cx)?;
        let request = GrepRequest {
            cwd: policy.workspace_root.clone(),
            path: args.path,
            pattern: args.pattern,
            include: args.include,
            limits: self.0.limits(),
        };
        let hits = search
            .grep(request, &policy, cx.cancel())
            .await
            .map_err(|error| self.0.failed(&error, &policy))?;
        let warnings = shortcomings(&hits.warnings, hits.truncated);
        let not_text: Arc<str> = text::NOT_TEXT.into();
        let line = |hit: dsh_fs::GrepMatch| GrepLine {
            path: hit.path,
            line_number: hit.line_number,
            line: hit.line.unwrap_or_else(|| Arc::clone(&not_text)),
        };
        Ok(GrepOutput { matches: hits.matches.into_iter().map(line).collect(), warnings })
    }

    fn parameters(&self) -> Result<Schema, LowerError> {
        self.0.parameters(parameters())
    }

    fn needs_approval(&self, execution: &Execution) -> Result<Option<Arc<str>>, ToolError> {
        self.0.needs_approval(execution)
    }

    fn render(&self, _args: &GrepArgs, output: &GrepOutput) -> Result<Content, ToolError> {
        Ok(dsh_llm::text(self.page(output, &Rest::NotKept)))
    }

    fn meta(&self, _args: &GrepArgs, output: &GrepOutput) -> Option<Json> {
        let max_bytes = self.0.config.search_meta_max_bytes.get();
        view::matches_meta(&page(&output.matches, self.room()), output.matches.len(), max_bytes)
    }

    fn parallel(&self, _args: &GrepArgs) -> bool {
        true
    }

    fn timeout(&self) -> Option<Duration> {
        Some(self.0.timeout())
    }

    fn present_call(&self, args: &GrepArgs) -> Option<CallView> {
        let (path, include) = (args.path.as_deref(), args.include.as_deref());
        Some(CallView::Generic {
            title: text::grep_title(&args.pattern, path, include).into(),
            kind: Kind::Search,
            raw_input: None,
            content: None,
            locations: Vec::new(),
        })
    }

    fn present_result(&self, _args: &GrepArgs, result: &StoredResult<'_>) -> Option<ResultView> {
        view::matches_card(result)
    }
}

impl Paged for Grep {
    const FILE: &'static str = "grep-results.txt";
    const LIST: &'static str = "matches";

    fn shows_all(&self, list: &[Json]) -> bool {
        let matches = list.iter().map(|found| (field(found, "path"), field(found, "line")));
        self.room().takes(matches) == list.len()
    }

    fn page(&self, output: &GrepOutput, rest: &Rest) -> String {
        let warnings = output.warnings.as_deref().unwrap_or_default();
        text::grep_result(&page(&output.matches, self.room()), output.matches.len(), rest, warnings)
    }

    fn complete(&self, output: &GrepOutput) -> String {
        let all = output.matches.len();
        let room = Room { matches: all, bytes: usize::MAX, ..self.room() };
        text::grep_result(&page(&output.matches, room), all, &Rest::NotKept, &[])
    }
}

fn field<'a>(found: &'a Json, name: &str) -> &'a str {
    found.get(name).and_then(Json::as_str).unwrap_or_default()
}

fn parameters() -> Params {
    let pattern = "The regular expression to look for, in the syntax of Rust.";
    let path = "The file or directory to search. Default: the working directory.";
    let include = "One glob for the files to search, such as `*.rs` or `*.{ts,tsx}`. Default: all that are not hidden or ignored.";
    Schema::params()
        .required("pattern", Schema::string().description(pattern))
        .optional("path", Schema::string().description(path))
        .optional("include", Schema::string().description(include))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_include_is_one_positive_glob() {
        let rows = [
            ("*.ts", true),
            ("*.{ts,tsx}", true),
            ("{a,{b,c}}/*.ts", true),
            (r"a\,b", true),
            ("!*.ts", false),
            ("*.ts,*.tsx", false),
            ("*.{ts,tsx},*.js", false),
            ("}a,b", false),
        ];
        for (include, accepted) in rows {
            assert_eq!(check_include(include).is_ok(), accepted, "{include}");
        }
    }
}
