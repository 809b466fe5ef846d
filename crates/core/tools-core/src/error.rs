//! A failed call, as data.

use std::borrow::Cow;

use dsh_json::Json;

/// The stable codes that models, policies and programs may route on (design §4.5).
pub mod codes {
    /// No tool of that name is visible to the agent.
    pub const UNKNOWN_TOOL: &str = "UNKNOWN_TOOL";
    /// The arguments are not JSON, or do not fit the tool's parameters.
    pub const INVALID_ARGS: &str = "INVALID_ARGS";
    /// The tool's value does not fit its output schema, or could not be rendered.
    pub const INVALID_TOOL_OUTPUT: &str = "INVALID_TOOL_OUTPUT";
    /// Stopped after the body began: side effects are possible.
    pub const ABORTED: &str = "ABORTED";
    /// Stopped before the body began: there are no side effects.
    pub const ABORTED_BEFORE_DISPATCH: &str = "ABORTED_BEFORE_DISPATCH";
    /// A policy or a guard denied the call.
    pub const DENIED: &str = "DENIED";
    /// A policy withheld the result.
    pub const BLOCKED: &str = "BLOCKED";
    /// The call needs an approval, and nobody is mounted who could be asked.
    pub const APPROVAL_UNSUPPORTED: &str = "APPROVAL_UNSUPPORTED";
    /// The call needs an approval, and acts for no agent.
    pub const APPROVAL_NO_AGENT: &str = "APPROVAL_NO_AGENT";
    /// A person refused.
    pub const APPROVAL_REJECTED: &str = "APPROVAL_REJECTED";
    /// The question was withdrawn.
    pub const APPROVAL_CANCELLED: &str = "APPROVAL_CANCELLED";
    /// The question could not be put to anybody.
    pub const APPROVAL_UNAVAILABLE: &str = "APPROVAL_UNAVAILABLE";
    /// A tool or a listener panicked.
    pub const PANICKED: &str = "PANICKED";
}

/// The machine-readable half of a failure: the kind of error and its stable code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorInfo {
    /// The kind of error, such as `ToolArgsError`.
    pub name: Cow<'static, str>,
    /// The stable code, such as `INVALID_ARGS`.
    pub code: Cow<'static, str>,
}

/// Why a call failed. The message is for the model; name and code are for programs and policies.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ToolError {
    /// What to tell the model: what was wrong, where, and what to do. Without an `Error: ` in front.
    pub message: String,
    /// Absent when there is nothing to route on.
    pub info: Option<ErrorInfo>,
    /// What there is of a value nevertheless, for those who embed the registry. As a success's, it is never logged, and no
    /// model and no program sees it.
    pub value: Option<Json>,
}

impl ToolError {
    /// A failure with a stable code.
    pub fn new(
        name: impl Into<Cow<'static, str>>,
        code: impl Into<Cow<'static, str>>,
        message: impl Into<String>,
    ) -> Self {
        let info = ErrorInfo { name: name.into(), code: code.into() };
        Self { message: message.into(), info: Some(info), value: None }
    }

    /// A failure that nobody needs to tell apart from others.
    pub fn plain(message: impl Into<String>) -> Self {
        Self { message: message.into(), info: None, value: None }
    }

    /// The same failure, with what there is of a value nevertheless.
    #[must_use]
    pub fn with_value(self, value: Json) -> Self {
        Self { value: Some(value), ..self }
    }

    /// The arguments do not fit: `INVALID_ARGS`.
    pub fn invalid_args(message: impl Into<String>) -> Self {
        Self::new("ToolArgsError", codes::INVALID_ARGS, message)
    }

    /// The body heard its cancellation and stopped: `ABORTED`. Side effects are possible.
    pub fn aborted() -> Self {
        crate::text::aborted(true)
    }

    /// The stable code, if there is one.
    pub fn code(&self) -> Option<&str> {
        self.info.as_ref().map(|info| &*info.code)
    }
}
