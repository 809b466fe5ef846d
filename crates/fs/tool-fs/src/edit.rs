//! The tool `edit` (spec 07 §6.4).

#[cfg(test)]
mod tests;
mod words;

use std::borrow::Cow;
use std::sync::Arc;

use dsh_fs::{EditRequest, FsObservation};
use dsh_json_schema::LowerError;
use dsh_tools_core::{
    CallView, Content, Execution, FileDiff, FileLocation, Json, ResultView, RunContext, Schema, StoredResult,
    Tool, ToolError,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use self::words::PROMPT;
use crate::access::Access;
use crate::advice::Doing;
use crate::diff::{from_meta, hunks, to_meta};

pub(crate) struct Edit {
    pub(crate) access: Access,
}

/// What a model may ask for. More reach is asked for beside it ([`Access::policy`]).
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct EditArgs {
    pub(crate) file_path: Arc<str>,
    pub(crate) old_string: Arc<str>,
    pub(crate) new_string: Arc<str>,
    #[serde(default)]
    pub(crate) replace_all: bool,
}

/// A file that was edited.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditOutput {
    /// The absolute path of the file.
    pub(crate) path: Arc<str>,
    /// The text before, line breaks as `\n`.
    #[serde(with = "crate::shared")]
    #[schemars(with = "String")]
    pub(crate) before: Arc<str>,
    /// The text now, line breaks as `\n`.
    #[serde(with = "crate::shared")]
    #[schemars(with = "String")]
    pub(crate) after: Arc<str>,
}

impl Tool for Edit {
    const NAME: &'static str = "edit";
    type Args = EditArgs;
    type Output = EditOutput;

    fn description(&self) -> Cow<'_, str> {
        words::DESCRIPTION.into()
    }

    fn parameters(&self) -> Result<Schema, LowerError> {
        self.access.parameters(words::parameters())
    }

    fn needs_approval(&self, execution: &Execution) -> Result<Option<Arc<str>>, ToolError> {
        self.access.needs_approval(execution)
    }

    async fn run(&self, args: EditArgs, cx: &RunContext) -> Result<EditOutput, ToolError> {
        let path = self.access.path_to_change(&args.file_path)?;
        args.check()?;
        let (fs, policy, cancel) = (self.access.fs()?, self.access.policy(cx)?, cx.cancel());
        let why = self.access.telling(Doing::Editing, &policy);
        let target = fs.resolve(path, &policy.workspace_root, &policy, cancel).await.map_err(&why)?;
        let intent = self.access.edit_intent(&target, cx).map_err(&why)?;
        let request = EditRequest { intent, ..args.request() };
        let outcome = fs.edit_text(&target, request, &policy, cancel).await.map_err(why)?;
        self.access.saw(&target, FsObservation::Present { version: outcome.version }, cx);
        Ok(EditOutput { path: target.display, before: outcome.before, after: outcome.after })
    }

    fn render(&self, args: &EditArgs, output: &EditOutput) -> Result<Content, ToolError> {
        // What was found, and how, follows from what was there before.
        let found = args.request().found_in(&output.before);
        Ok(dsh_tools_core::text(words::edited(&output.path, args.replace_all, found)))
    }

    fn meta(&self, args: &EditArgs, output: &EditOutput) -> Option<Json> {
        Some(to_meta(&hunks(&args.file_path, &output.before, &output.after)))
    }

    fn present_call(&self, args: &EditArgs) -> Option<CallView> {
        let old = (!args.old_string.is_empty()).then(|| Arc::clone(&args.old_string));
        let new = Arc::clone(&args.new_string);
        Some(CallView::Diff {
            title: format!("Edit {}", args.file_path).into(),
            diffs: vec![FileDiff { path: Arc::clone(&args.file_path), old_text: old, new_text: new }],
            locations: vec![FileLocation { path: Arc::clone(&args.file_path), line: None }],
        })
    }

    fn present_result(&self, _args: &EditArgs, result: &StoredResult<'_>) -> Option<ResultView> {
        if result.is_error {
            return None;
        }
        from_meta(result.meta).map(|diffs| ResultView::Diff { title: None, diffs })
    }
}

impl EditArgs {
    fn check(&self) -> Result<(), ToolError> {
        if self.old_string.is_empty() {
            return Err(ToolError::plain(words::EMPTY));
        }
        if self.old_string.replace("\r\n", "\n") == self.new_string.replace("\r\n", "\n") {
            return Err(ToolError::plain(words::EQUAL));
        }
        Ok(())
    }

    /// The edit as the file system takes it, unconditionally.
    fn request(&self) -> EditRequest {
        EditRequest {
            old: Arc::clone(&self.old_string),
            new: Arc::clone(&self.new_string),
            replace_all: self.replace_all,
            intent: None,
        }
    }
}
