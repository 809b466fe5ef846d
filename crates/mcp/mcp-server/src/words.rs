//! Every text that a client, its model or its user reads, apart from tools and results.

use dsh_tools_core::{RUN_CODE, ToolError, codes};

pub(crate) const ORIGIN: &str = "mcp";

pub(crate) const NOTE: &str = "This call was made by a client of `dsh mcp`, not by a model of this session.";

/// What a client is told when it connects.
pub(crate) fn instructions(programs: bool) -> String {
    let tools = "These tools work on one workspace; relative paths start at its root. Independent calls may be sent at once: \
                 they overlap where that is safe, and otherwise run in the order in which they were sent.";
    if !programs {
        return tools.to_owned();
    }
    format!(
        "{tools} For more than a few calls, send one program to `{RUN_CODE}` in their place; its description declares \
         what programs can call."
    )
}

/// More calls at a time than the server takes.
pub(crate) fn too_many_calls(limit: usize) -> ToolError {
    let message = format!(
        "the call did not run: {limit} calls are unanswered already (`maxCallsInFlight`). Wait for one of them, and send \
         it again."
    );
    ToolError::new("TooManyCallsError", "TOO_MANY_CALLS", message)
}

/// The server stopped before the call began.
pub(crate) fn closing() -> ToolError {
    let message = "the call did not run: the server is stopping";
    ToolError::new("AbortError", codes::ABORTED_BEFORE_DISPATCH, message)
}

/// There is no record of what a call did.
pub(crate) fn outcome_unknown() -> ToolError {
    let message = "it is not known what this call did: the session's log could not be written. Look at what it may have \
                   changed before you send it again.";
    ToolError::new("ToolOutcomeUnknownError", "TOOL_OUTCOME_UNKNOWN", message)
}

/// A value that is nested too deeply for the parsers of clients.
pub(crate) fn too_deep(depth: usize, limit: usize) -> ToolError {
    let message = format!(
        "the call is done, and its value can't be sent: it is nested {depth} levels deep, and {limit} are sent. Ask for a \
         part of it."
    );
    ToolError::new("JsonError", "JSON_TOO_DEEP", message)
}

pub(crate) fn too_long(bytes: usize, limit: usize) -> String {
    format!("the message has {bytes} bytes, and {limit} are taken (`maxMessageBytes`); send less at a time")
}

pub(crate) fn not_utf8(at: usize) -> String {
    format!("the message is not UTF-8: byte {at} can't be read")
}

pub(crate) const BATCH: &str = "batches are not taken; send each message on a line of its own";

pub(crate) const BAD_ID: &str = "`id` must be a string or an integer";

pub(crate) const NO_METHOD: &str = "the message has neither `method`, nor `result` or `error`";

pub(crate) const NO_PARAMS: &str = "`params` must be an object with the `name` of a tool";

pub(crate) const NO_NAME: &str = "`name` must be a string: the name of a tool";

pub(crate) const BAD_META: &str = "`_meta` must be an object";

pub(crate) const BAD_INITIALIZE: &str =
    "`params` of `initialize` must have `protocolVersion`, `capabilities` and `clientInfo`";

pub(crate) const NOT_BEGUN: &str = "the session has not begun: send `initialize` first";

pub(crate) fn id_in_use(id: &impl std::fmt::Display) -> String {
    format!("the id {id} belongs to a call that is not answered yet; use another")
}

pub(crate) fn no_resource(uri: &str) -> String {
    format!("there is no resource {uri}; `resources/list` names those that there are")
}
