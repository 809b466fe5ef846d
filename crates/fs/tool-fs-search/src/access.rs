//! What both tools ask before each call: who searches, where, and how far.

use std::sync::Arc;
use std::time::Duration;

use dsh_fs::{Search, SearchError, SearchLimits, Warnings};
use dsh_lifecycle::Slot;
use dsh_sandbox_policy::{PolicySource, SandboxPolicy};
use dsh_tools_core::{RunContext, ToolError};

use crate::SearchToolsConfig;
use crate::text;

/// The way to a search.
pub(crate) struct Access {
    pub(crate) search: Slot<dyn Search>,
    pub(crate) policy: Arc<dyn PolicySource>,
    pub(crate) config: SearchToolsConfig,
}

impl Access {
    /// The search that is mounted now, and the policy in force for the session of the call.
    pub(crate) fn open(&self, cx: &RunContext) -> Result<(Arc<dyn Search>, Arc<SandboxPolicy>), ToolError> {
        let session = cx.execution().agent.as_ref().map(|agent| &**agent.session().id());
        let policy = self.policy.policy(session);
        let search = self.search.get().ok_or_else(text::unavailable)?;
        Ok((search, policy))
    }

    /// Programs get everything, so only memory limits a search.
    pub(crate) fn limits(&self) -> SearchLimits {
        SearchLimits {
            max_hits: None,
            max_bytes: self.config.raw_output_max_bytes,
            max_warnings: self.config.search_max_warnings,
        }
    }

    pub(crate) fn timeout(&self) -> Duration {
        Duration::from_millis(self.config.timeout_ms.get())
    }
}

/// The failure of a search as that of a call.
pub(crate) fn failed(error: &SearchError) -> ToolError {
    match error {
        SearchError::Aborted => ToolError::aborted(),
        SearchError::InvalidPattern { .. }
        | SearchError::Failed { .. }
        | SearchError::Overflow { .. }
        | SearchError::Root(_) => ToolError::new(error.name(), error.code(), error.to_string()),
    }
}

/// What to tell of an incomplete search; nothing about a complete one.
pub(crate) fn shortcomings(warnings: &Warnings, truncated: bool) -> Option<Vec<String>> {
    let mut lines: Vec<String> = warnings.shown.iter().map(text::warning).collect();
    if warnings.more > 0 {
        lines.push(text::more_warnings(warnings.more));
    }
    if truncated {
        lines.push(text::STOPPED_EARLY.to_owned());
    }
    (!lines.is_empty()).then_some(lines)
}
