//! What the model reads when a call does not go well. Each says what to do next.

use std::sync::Arc;

use dsh_json::JsonError;
use dsh_json_schema::Violations;
use dsh_lifecycle::Panic;
use dsh_llm::{Content, ContentBlock};

use crate::{Approval, ToolError, codes, short_name};

pub(crate) fn error(error: &ToolError) -> Content {
    dsh_llm::text(format!("Error: {}", error.message))
}

pub(crate) fn malformed_arguments(error: &JsonError) -> String {
    format!(
        "the arguments can't be read, so the tool did not run: {error}. Send the call again with one complete JSON object."
    )
}

/// Text that is JSON and holds what can't be kept exactly, or too much of it.
pub(crate) fn unusable_arguments(error: &JsonError) -> String {
    format!("the arguments can't be used, so the tool did not run: {error}. Send the call again without it.")
}

pub(crate) fn invalid_arguments(tool: &str, violations: &Violations) -> String {
    format!("the arguments do not fit `{tool}`, so it did not run: {violations}")
}

pub(crate) fn unreadable_arguments(tool: &str, error: &JsonError) -> String {
    format!("the arguments do not fit `{tool}`, so it did not run: {error}")
}

pub(crate) fn unknown_tool(name: &str, nearest: Option<&str>, known: &[&str]) -> ToolError {
    const LISTED: usize = 20;
    let route = match (nearest, known.split_at_checked(LISTED)) {
        (Some(nearest), _) => format!("did you mean `{nearest}`?"),
        (None, _) if known.is_empty() => "no tools are available.".to_owned(),
        (None, None | Some((_, []))) => format!("available: {}.", known.join(", ")),
        (None, Some((listed, more))) => format!("available: {} and {} more.", listed.join(", "), more.len()),
    };
    let message = format!("there is no tool `{}`; {route}", short_name(name));
    ToolError::new("ToolNotFoundError", codes::UNKNOWN_TOOL, message)
}

/// A tool that was taken away or replaced after the call was made. `began`: an earlier attempt ran it.
pub(crate) fn gone(name: &str, began: bool) -> ToolError {
    let effects =
        if began { "An earlier attempt of this call did run it." } else { "This call did nothing." };
    let message =
        format!("the tool `{}` was removed or replaced before it could run. {effects}", short_name(name));
    ToolError::new("ToolNotFoundError", codes::UNKNOWN_TOOL, message)
}

/// A visible tool that may not be called directly. `route`: what the transport says, if there is one.
pub(crate) fn collapsed(name: &str, route: Option<String>) -> ToolError {
    let route =
        route.unwrap_or_else(|| "no program can be run in this session, so it can't be used".to_owned());
    let message = format!("`{}` can't be called directly: {route}", short_name(name));
    ToolError::new("ToolNotFoundError", codes::UNKNOWN_TOOL, message)
}

/// The two texts that spec 01 §7.1 gives.
pub(crate) fn aborted(body_began: bool) -> ToolError {
    let (code, message) = if body_began {
        (codes::ABORTED, "tool call aborted")
    } else {
        (codes::ABORTED_BEFORE_DISPATCH, "tool call aborted before dispatch")
    };
    ToolError::new("AbortError", code, message)
}

pub(crate) fn denied(reason: String) -> ToolError {
    ToolError::new("ToolDeniedError", codes::DENIED, reason)
}

pub(crate) fn no_approver(tool: &str, reason: Option<&str>) -> ToolError {
    let reason = reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
    let message = format!(
        "`{tool}` needs a person's approval{reason}, and this session has no way to ask for one. Do without it."
    );
    ToolError::new("ToolDeniedError", codes::APPROVAL_UNSUPPORTED, message)
}

pub(crate) fn no_agent(tool: &str) -> ToolError {
    let message =
        format!("`{tool}` needs a person's approval, which can only be asked for on behalf of an agent.");
    ToolError::new("ToolDeniedError", codes::APPROVAL_NO_AGENT, message)
}

/// `None` for a grant.
pub(crate) fn not_approved(tool: &str, approval: Approval) -> Option<ToolError> {
    let (code, message) = match approval {
        Approval::AllowedOnce => return None,
        Approval::Rejected => (
            codes::APPROVAL_REJECTED,
            format!(
                "this call of `{tool}` was not allowed: the user refused it, or wants nothing of the kind. Don't repeat it; go \
                 another way, or say what is needed."
            ),
        ),
        Approval::Cancelled => (
            codes::APPROVAL_CANCELLED,
            format!(
                "the question whether `{tool}` may run was withdrawn before it was answered; it did not run."
            ),
        ),
        Approval::Unavailable => (
            codes::APPROVAL_UNAVAILABLE,
            format!("`{tool}` needs a person's approval, and nobody could be reached. It did not run."),
        ),
    };
    Some(ToolError::new("ToolDeniedError", code, message))
}

pub(crate) fn invalid_output(tool: &str, violations: &Violations) -> ToolError {
    let message = format!("`{tool}` ran, and its result does not fit its own description: {violations}");
    ToolError::new("ToolOutputError", codes::INVALID_TOOL_OUTPUT, message)
}

pub(crate) fn projection_failed(tool: &str, why: &str) -> ToolError {
    let message = format!("`{tool}` ran, and its result could not be shown: {why}");
    ToolError::new("ToolOutputError", codes::INVALID_TOOL_OUTPUT, message)
}

pub(crate) fn unfit_content(tool: &str, why: &str) -> ToolError {
    let message = format!("the result of `{tool}` can't be shown: {why}");
    ToolError::new("ToolOutputError", codes::INVALID_TOOL_OUTPUT, message)
}

pub(crate) fn value_on_failure(tool: &str) -> ToolError {
    ToolError::plain(format!(
        "a policy tried to replace the value of a failed call of `{tool}`, which has none"
    ))
}

pub(crate) fn another_call(tool: &str) -> ToolError {
    ToolError::plain(format!("a policy tried to run this call of `{tool}` as another one, so it did not run"))
}

pub(crate) fn panicked(panic: &Panic, body_began: bool) -> ToolError {
    let message = if body_began {
        format!(
            "an internal error ended this call: {panic}. It may have taken effect; look before you try again."
        )
    } else {
        format!("an internal error ended this call before it began: {panic}. It had no effect.")
    };
    ToolError::new("ToolPanicError", codes::PANICKED, message)
}

pub(crate) fn blocked(feedback: &Content) -> ToolError {
    let message = dsh_llm::plain_text(feedback);
    let message = if message.is_empty() { "a policy withheld this result".to_owned() } else { message };
    ToolError::new("ToolBlockedError", codes::BLOCKED, message)
}

pub(crate) fn with_duplicate_keys(content: &Content, keys: &[String]) -> Content {
    let note = format!(
        "Note: the arguments give {} more than once; the last value was used.",
        keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ")
    );
    let note = ContentBlock::Text { text: Arc::from(note) };
    content.iter().cloned().chain(std::iter::once(note)).collect()
}
