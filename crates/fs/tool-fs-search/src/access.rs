//! What both tools ask before each call: who searches, where, and how far.

use std::sync::Arc;
use std::time::Duration;

use dsh_fs::{FsErrorCode, Search, SearchError, SearchLimits, Warnings};
use dsh_json_schema::{LowerError, Params, Schema};
use dsh_lifecycle::Slot;
use dsh_sandbox_policy::{EscalationError, Reach, SandboxPolicy};
use dsh_tools_core::{Execution, RunContext, ToolError};

use crate::SearchToolsConfig;
use crate::text;

/// The way to a search.
#[derive(Clone)]
pub(crate) struct Access {
    pub(crate) search: Slot<dyn Search>,
    pub(crate) reach: Reach,
    pub(crate) config: SearchToolsConfig,
}

impl Access {
    /// The search that is mounted now, and the policy of this call. Whoever runs was allowed what
    /// [`needs_approval`](Self::needs_approval) asked for.
    pub(crate) fn open(&self, cx: &RunContext) -> Result<(Arc<dyn Search>, Arc<SandboxPolicy>), ToolError> {
        let call = cx.execution();
        let policy = self
            .reach
            .policy(call.session_id(), &call.arguments, call.is_granted())
            .map_err(|error| refused(&error))?;
        let search = self.search.get().ok_or_else(text::unavailable)?;
        Ok((search, policy))
    }

    /// What a person has to allow before a call with these arguments may run.
    pub(crate) fn needs_approval(&self, call: &Execution) -> Result<Option<Arc<str>>, ToolError> {
        self.reach.question(call.session_id(), &call.arguments).map_err(|error| refused(&error))
    }

    /// The schema of a tool's parameters, with those that ask for more reach where that is possible.
    pub(crate) fn parameters(&self, params: Params) -> Result<Schema, LowerError> {
        self.reach.declare(params).build().map_err(LowerError::Refused)
    }

    /// The failure of a search under this policy as that of a call.
    pub(crate) fn failed(&self, error: &SearchError, policy: &SandboxPolicy) -> ToolError {
        let told = match error {
            SearchError::Aborted => return ToolError::aborted(),
            SearchError::Root(why) if why.kind() == FsErrorCode::SandboxDenied => {
                match self.reach.remedy("file access", policy) {
                    Some(remedy) => format!("{error}.\n{remedy}"),
                    None => error.to_string(),
                }
            }
            SearchError::InvalidPattern { .. }
            | SearchError::Failed { .. }
            | SearchError::Overflow { .. }
            | SearchError::Root(_) => error.to_string(),
        };
        ToolError::new(error.name(), error.code(), told)
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

/// An escalation that can't be granted, as the failure of the call.
fn refused(error: &EscalationError) -> ToolError {
    ToolError::invalid_args(error.to_string())
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
