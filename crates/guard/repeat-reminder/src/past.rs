//! What an agent called in an earlier life, from its log.

use dsh_agent::Agent;
use dsh_json::Json;
use dsh_llm::{ContentBlock, Source};
use dsh_session::{
    Event, Session, SurfaceOp, TOOL_NOT_STARTED, TOOL_OUTCOME_UNKNOWN, ToolCall, ToolResult, UserMessage,
};
use dsh_tools_core::{Arguments, DispatchSettled, JsonLimits, Tools, codes};

use crate::chain::Call;
use crate::chains::Life;
use crate::config::Settings;

/// Calls that did not come to an end, which nobody counted then.
const UNCOUNTED: [&str; 3] = [codes::ABORTED_BEFORE_DISPATCH, TOOL_NOT_STARTED, TOOL_OUTCOME_UNKNOWN];

/// The chains as the earlier life left them; empty for a fresh session. Takes time in proportion to what the log has since
/// the last message of a person, or to the last `resumeCalls` calls.
pub(crate) fn life(agent: &Agent, tools: &Tools, settings: &Settings) -> Life {
    let (mut life, session) = (Life::of(agent), agent.session());
    let (first_live, view) = (session.first_live_seq(), tools.view(Some(agent.scope())));
    if first_live == 0 {
        return life;
    }
    // What a fork took over from its parent is the parent's, and calls of this life are counted as they come.
    let own = session.header().seed_length().unwrap_or(0)..session.len();
    let events = own.rev().map_while(|seq| session.event(seq)).take_while(|event| {
        let said = event.read().filter(|_| event.surface_op == Some(SurfaceOp::Append));
        !matches!(said, Some(Ok(UserMessage(said))) if said.source == Source::User)
    });
    let calls =
        events.filter(|event| event.seq < first_live).filter_map(|event| call(session, settings, &event));
    let calls: Vec<_> = calls.take(settings.config.resume_calls).collect();
    for (nested, call) in calls.into_iter().rev() {
        let polls = view.resolve(&call.tool, nested).is_some_and(|tool| tool.polls());
        if settings.tracks(&call.tool) && !polls {
            life.chain(nested).push(call, settings.config.max_period);
        }
    }
    life
}

/// The call that an event settles, and whether a program made it. Results come in the order in which calls are counted.
fn call(session: &Session, settings: &Settings, event: &Event) -> Option<(bool, Call)> {
    if let Some(Ok(DispatchSettled { name, arguments, is_error, content, .. })) = event.read() {
        return Some((true, settings.call(&name, &arguments, is_error, &content)));
    }
    let result = event.read::<ToolResult>()?.ok()?;
    let Some(ContentBlock::ToolResult { content, is_error, .. }) = result.message.content.first() else {
        return None;
    };
    let code = result.error.map(|error| error.code);
    let is_counted = !code.as_deref().is_some_and(|code| UNCOUNTED.contains(&code));
    if event.surface_op != Some(SurfaceOp::Append) || !is_counted {
        return None;
    }
    let called = session.event(*event.source_event_seqs.as_deref()?.first()?)?;
    let ToolCall { name, arguments, .. } = called.read()?.ok()?;
    // A deployment's limit on text is not known here; its effect is.
    let arguments = match Arguments::parse(&arguments, &JsonLimits::default()) {
        Arguments::Value { value, .. } if code.as_deref() != Some("JSON_TOO_LONG") => value,
        Arguments::Value { .. } | Arguments::Malformed(_) => Json::String(arguments),
    };
    Some((false, settings.call(&name, &arguments, *is_error, content)))
}
