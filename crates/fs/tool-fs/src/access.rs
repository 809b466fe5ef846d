//! What every file tool needs for a call: the file system of now, the policy of this call, and what was seen before.

use std::sync::Arc;

use dsh_fs::{FileSystem, FsError, FsErrorCode, FsObservation, FsTarget, Intents, WriteIntent};
use dsh_json_schema::{LowerError, Params, Schema};
use dsh_lifecycle::Slot;
use dsh_sandbox_policy::{EscalationError, Reach, SandboxPolicy};
use dsh_spill::SpillStore;
use dsh_tools_core::{Execution, RunContext, ToolError};

use crate::advice::{Doing, denied, failed};
use crate::stored;

/// The way to files, shared by the tools.
#[derive(Clone)]
pub(crate) struct Access {
    pub(crate) fs: Slot<dyn FileSystem>,
    pub(crate) reach: Reach,
    pub(crate) intents: Slot<dyn Intents>,
    pub(crate) spill: Slot<dyn SpillStore>,
}

impl Access {
    /// The mounted file system.
    pub(crate) fn fs(&self) -> Result<Arc<dyn FileSystem>, ToolError> {
        self.fs.get().ok_or_else(|| {
            ToolError::plain("no file system is mounted; files can't be reached in this session")
        })
    }

    /// The spill store, where these words are one of its locators and no path.
    pub(crate) fn store_of(&self, file_path: &str) -> Option<Arc<dyn SpillStore>> {
        let store = self.spill.get()?;
        let reads = dsh_spill::reads(&*store, file_path).unwrap_or_else(|panic| {
            tracing::warn!(%panic, "the spill store panicked over a path, which is taken for that of a file");
            false
        });
        reads.then_some(store)
    }

    /// The path argument of a tool that changes files.
    pub(crate) fn path_to_change<'a>(&self, file_path: &'a str) -> Result<&'a str, ToolError> {
        let path = some_path(file_path)?;
        if self.store_of(path).is_some() { Err(stored::unchangeable(path)) } else { Ok(path) }
    }

    /// The policy of this call. Whoever runs was allowed what [`needs_approval`](Self::needs_approval) asked for.
    pub(crate) fn policy(&self, cx: &RunContext) -> Result<Arc<SandboxPolicy>, ToolError> {
        let call = cx.execution();
        self.reach
            .policy(call.session_id(), &call.arguments, call.is_granted())
            .map_err(|error| refused(&error))
    }

    /// What a person has to allow before a call with these arguments may run.
    pub(crate) fn needs_approval(&self, call: &Execution) -> Result<Option<Arc<str>>, ToolError> {
        self.reach.question(call.session_id(), &call.arguments).map_err(|error| refused(&error))
    }

    /// How failures under this policy are told.
    pub(crate) fn telling(
        &self,
        doing: Doing,
        policy: &SandboxPolicy,
    ) -> impl Fn(FsError) -> ToolError + use<> {
        let remedy = self.reach.remedy("file access", policy);
        move |error| match &remedy {
            Some(remedy) if error.kind() == FsErrorCode::SandboxDenied => denied(&error, remedy),
            _ => failed(error, doing),
        }
    }

    /// The schema of a tool's parameters, with those that ask for more reach where that is possible.
    pub(crate) fn parameters(&self, params: Params) -> Result<Schema, LowerError> {
        self.reach.declare(params).build().map_err(LowerError::Refused)
    }

    /// What must be true for a write to happen.
    pub(crate) fn write_intent(
        &self,
        target: &FsTarget,
        cx: &RunContext,
    ) -> Result<Option<WriteIntent>, FsError> {
        self.intents
            .get()
            .map_or(Ok(None), |intents| intents.write_intent(target, cx.execution().session_id()))
    }

    /// The same for an edit.
    pub(crate) fn edit_intent(
        &self,
        target: &FsTarget,
        cx: &RunContext,
    ) -> Result<Option<WriteIntent>, FsError> {
        let version = self
            .intents
            .get()
            .map_or(Ok(None), |intents| intents.edit_intent(target, cx.execution().session_id()))?;
        Ok(version.map(WriteIntent::ReplaceIfVersion))
    }

    /// Notes what the acting session knows of a file now.
    pub(crate) fn saw(&self, target: &FsTarget, observation: FsObservation, cx: &RunContext) {
        dsh_fs::tell(&self.intents, target, observation, cx.execution().session_id());
    }
}

/// An escalation that can't be granted, as the failure of the call.
fn refused(error: &EscalationError) -> ToolError {
    ToolError::invalid_args(error.to_string())
}

/// A path argument with something in it.
pub(crate) fn some_path(file_path: &str) -> Result<&str, ToolError> {
    if file_path.trim().is_empty() {
        return Err(ToolError::plain("`file_path` is blank; give the path of a file"));
    }
    Ok(file_path)
}
