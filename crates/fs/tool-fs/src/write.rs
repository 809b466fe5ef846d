//! The tool `write` (spec 07 §6.3).

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::sync::Arc;

use dsh_fs::{FsObservation, WriteOperation, WriteRequest, one_line};
use dsh_json_schema::{LowerError, Params};
use dsh_tools_core::{
    CallView, Content, Execution, FileLocation, Json, ResultView, RunContext, Schema, StoredResult, Tool,
    ToolError,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::Access;
use crate::advice::Doing;
use crate::diff::{from_meta, hunks, to_meta, whole_file};

pub(crate) struct Write {
    pub(crate) access: Access,
}

/// What a model may ask for. More reach is asked for beside it ([`Access::policy`]).
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct WriteArgs {
    pub(crate) file_path: Arc<str>,
    pub(crate) content: Arc<str>,
}

/// A file that was written.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WriteOutput {
    /// The absolute path of the file.
    pub(crate) path: Arc<str>,
    /// Whether the file is new.
    pub(crate) operation: Operation,
    /// The text before, line breaks as `\n`; null for a new file and where it can't be shown.
    pub(crate) before: Option<Arc<str>>,
    /// The text now, line breaks as `\n`.
    pub(crate) after: Arc<str>,
}

/// What happened to the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Operation {
    Create,
    Update,
}

impl Tool for Write {
    const NAME: &'static str = "write";
    type Args = WriteArgs;
    type Output = WriteOutput;

    fn description(&self) -> Cow<'_, str> {
        DESCRIPTION.into()
    }

    fn parameters(&self) -> Result<Schema, LowerError> {
        self.access.parameters(parameters())
    }

    fn needs_approval(&self, execution: &Execution) -> Result<Option<Arc<str>>, ToolError> {
        self.access.needs_approval(execution)
    }

    async fn run(&self, args: WriteArgs, cx: &RunContext) -> Result<WriteOutput, ToolError> {
        let path = self.access.path_to_change(&args.file_path)?;
        let (fs, policy, cancel) = (self.access.fs()?, self.access.policy(cx)?, cx.cancel());
        let why = self.access.telling(Doing::Writing, &policy);
        let target = fs.resolve(path, &policy.workspace_root, &policy, cancel).await.map_err(&why)?;
        let intent = self.access.write_intent(&target, cx).map_err(&why)?;
        let request = WriteRequest { content: args.content, intent };
        let outcome = fs.write_text(&target, request, &policy, cancel).await.map_err(why)?;
        self.access.saw(&target, FsObservation::Present { version: outcome.version }, cx);
        let operation = match outcome.operation {
            WriteOperation::Create => Operation::Create,
            WriteOperation::Update => Operation::Update,
        };
        Ok(WriteOutput { path: target.display, operation, before: outcome.before, after: outcome.after })
    }

    fn render(&self, _args: &WriteArgs, output: &WriteOutput) -> Result<Content, ToolError> {
        Ok(dsh_tools_core::text(written(output)))
    }

    fn meta(&self, args: &WriteArgs, output: &WriteOutput) -> Option<Json> {
        let diffs = output.before.as_ref().map(|before| hunks(&args.file_path, before, &output.after));
        Some(to_meta(&diffs.unwrap_or_default()))
    }

    fn present_call(&self, args: &WriteArgs) -> Option<CallView> {
        Some(CallView::Diff {
            title: format!("Write {}", args.file_path).into(),
            diffs: vec![whole_file(&args.file_path, &args.content)],
            locations: vec![FileLocation { path: Arc::clone(&args.file_path), line: None }],
        })
    }

    fn present_result(&self, args: &WriteArgs, result: &StoredResult<'_>) -> Option<ResultView> {
        if result.is_error {
            return None;
        }
        // Also when it equals the card of the call: a completed card replaces the pending one.
        let diffs =
            from_meta(result.meta).unwrap_or_else(|| vec![whole_file(&args.file_path, &args.content)]);
        Some(ResultView::Diff { title: None, diffs })
    }
}

// What the model reads.

const DESCRIPTION: &str = "Writes a text file as a whole: creates it with its missing directories, or replaces all of \
                           its content.";

pub(crate) const PROMPT: &str = "Use `write` to create a file, or to replace all of its content; what you leave out is \
                                 gone. The content is stored exactly as you give it.";

fn parameters() -> Params {
    Schema::params()
        .required(
            "file_path",
            Schema::string().description("The file. A relative path starts at the workspace root."),
        )
        .required("content", Schema::string().description("The whole content of the file; it may be empty."))
}

fn written(output: &WriteOutput) -> String {
    let verb = match output.operation {
        Operation::Create => "Created",
        Operation::Update => "Replaced",
    };
    let lines = output.after.split_terminator('\n').count();
    let plural = if lines == 1 { "" } else { "s" };
    format!(
        "<path>{}</path>\n<type>file</type>\n<result>\n{verb} the file: {lines} line{plural}.\n</result>",
        one_line(&output.path)
    )
}
