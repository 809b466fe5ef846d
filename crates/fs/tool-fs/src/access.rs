//! What every file tool needs for a call: the file system of now, the policy of this call, and what was seen before.

use std::sync::Arc;

use dsh_fs::{FileSystem, FsError, FsObservation, FsTarget, Intents, WriteIntent};
use dsh_lifecycle::Slot;
use dsh_sandbox_policy::{PolicySource, SandboxPolicy};
use dsh_tools_core::{RunContext, ToolError};

/// The way to files, shared by the tools.
#[derive(Clone)]
pub(crate) struct Access {
    pub(crate) fs: Slot<dyn FileSystem>,
    pub(crate) policy: Arc<dyn PolicySource>,
    pub(crate) intents: Slot<dyn Intents>,
}

impl Access {
    /// The mounted file system.
    pub(crate) fn fs(&self) -> Result<Arc<dyn FileSystem>, ToolError> {
        self.fs.get().ok_or_else(|| {
            ToolError::plain("no file system is mounted; files can't be reached in this session")
        })
    }

    /// The policy in force for the acting session.
    pub(crate) fn policy(&self, cx: &RunContext) -> Arc<SandboxPolicy> {
        self.policy.policy(actor(cx))
    }

    /// What must be true for a write to happen.
    pub(crate) fn write_intent(
        &self,
        target: &FsTarget,
        cx: &RunContext,
    ) -> Result<Option<WriteIntent>, FsError> {
        self.intents.get().map_or(Ok(None), |intents| intents.write_intent(target, actor(cx)))
    }

    /// The same for an edit.
    pub(crate) fn edit_intent(
        &self,
        target: &FsTarget,
        cx: &RunContext,
    ) -> Result<Option<WriteIntent>, FsError> {
        let version =
            self.intents.get().map_or(Ok(None), |intents| intents.edit_intent(target, actor(cx)))?;
        Ok(version.map(WriteIntent::ReplaceIfVersion))
    }

    /// Notes what the acting session knows of a file now.
    pub(crate) fn saw(&self, target: &FsTarget, observation: FsObservation, cx: &RunContext) {
        dsh_fs::tell(&self.intents, target, observation, actor(cx));
    }
}

/// The acting session, by its id.
fn actor(cx: &RunContext) -> Option<&str> {
    cx.execution().agent.as_ref().map(|agent| &**agent.session().id())
}

/// A path argument with something in it.
pub(crate) fn some_path(file_path: &str) -> Result<&str, ToolError> {
    if file_path.trim().is_empty() {
        return Err(ToolError::plain("`file_path` is blank; give the path of a file"));
    }
    Ok(file_path)
}
