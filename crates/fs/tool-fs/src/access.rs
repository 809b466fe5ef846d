//! What every file tool needs for a call: the file system of now, and the policy of this call.

use std::sync::Arc;

use dsh_fs::FileSystem;
use dsh_lifecycle::Slot;
use dsh_sandbox_policy::{PolicySource, SandboxPolicy};
use dsh_tools_core::{RunContext, ToolError};

/// The way to files, shared by the tools.
#[derive(Clone)]
pub(crate) struct Access {
    pub(crate) fs: Slot<dyn FileSystem>,
    pub(crate) policy: Arc<dyn PolicySource>,
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
        let agent = cx.execution().agent.as_ref();
        self.policy.policy(agent.map(|agent| &**agent.session().id()))
    }
}

/// A path argument with something in it.
pub(crate) fn some_path(file_path: &str) -> Result<&str, ToolError> {
    if file_path.trim().is_empty() {
        return Err(ToolError::plain("`file_path` is blank; give the path of a file"));
    }
    Ok(file_path)
}
