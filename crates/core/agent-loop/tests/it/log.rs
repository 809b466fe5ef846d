//! What a log says, one line an event, and whether it is sound.

use std::sync::Arc;

use dsh_agent::{InboxSpliced, Notice, Target};
use dsh_lifecycle::SteppingClock;
use dsh_llm::{ContentBlock, Message, ModelRequest, Source, plain_text};
use dsh_session::{
    AbortReason, AssistantChunk, AssistantMessage, Event, Payload, RequestContext, RequestHeader, Session,
    SessionSpec, StepEnd, StepStart, ToolCall, ToolResult, TurnEnd, TurnEndReason, TurnStart, UserMessage,
    verify,
};

/// An event in a few words.
pub(crate) fn line(event: &Event) -> String {
    match &*event.kind {
        TurnStart::TYPE => format!("turn/start {}", read::<TurnStart>(event).turn),
        TurnEnd::TYPE => format!("turn/end {}", reason(&read::<TurnEnd>(event).reason)),
        StepStart::TYPE => format!("step/start {}", read::<StepStart>(event).step),
        StepEnd::TYPE => format!("step/end {}", read::<StepEnd>(event).step),
        UserMessage::TYPE => said(&read::<UserMessage>(event).0),
        AssistantMessage::TYPE => said(&read::<AssistantMessage>(event).message),
        ToolCall::TYPE => format!("call {}", read::<ToolCall>(event).call_id),
        ToolResult::TYPE => format!("result {}", result(&read(event))),
        RequestHeader::TYPE => format!("header {:?}", read::<RequestHeader>(event).reason).to_lowercase(),
        RequestContext::TYPE => format!("route {}", read::<RequestContext>(event).model),
        AssistantChunk::TYPE => "chunk".to_owned(),
        InboxSpliced::TYPE => format!("inbox {}", spliced(&read(event))),
        other => other.to_owned(),
    }
}

/// `TARGET@START -REMOVED canceled +words`
fn spliced(event: &InboxSpliced) -> String {
    let InboxSpliced { target, start, removed_count, inserted, outcome } = event;
    let removed = if *removed_count > 0 { format!(" -{removed_count}") } else { String::new() };
    let outcome = if outcome.is_some() { " canceled" } else { "" };
    let inserted: Vec<_> =
        inserted.iter().map(|message| format!(" +{}", plain_text(&message.content))).collect();
    format!("{}@{start}{removed}{outcome}{}", list(*target), inserted.concat())
}

fn list(target: Target) -> &'static str {
    match target {
        Target::NextTurn => "turn",
        Target::NextStep => "step",
    }
}

/// A notice in a few words.
pub(crate) fn told(notice: &Notice<'_>) -> String {
    match notice {
        Notice::SessionStarted(source) => format!("session {source:?}").to_lowercase(),
        Notice::Status(status) => format!("status {status:?}").to_lowercase(),
        Notice::Inserted { target, message } => {
            format!("inserted {} {}", list(*target), plain_text(&message.content))
        }
        Notice::Claimed { turn, message } => format!("claimed {turn} {}", plain_text(&message.content)),
        Notice::Discarded(message) => format!("discarded {}", plain_text(&message.content)),
        Notice::Blocked { turn, reason } => format!("blocked {turn} {reason}"),
        Notice::Failed { turn, step, error } => {
            format!(
                "failed {}.{step} {}",
                turn.map_or_else(|| "-".to_owned(), |turn| turn.to_string()),
                error.code
            )
        }
        Notice::Overdue { turn, waited } => format!("overdue {turn} {}", waited.as_millis()),
    }
}

pub(crate) fn read<P: Payload>(event: &Event) -> P {
    event.read::<P>().unwrap().unwrap()
}

/// All payloads of one type.
pub(crate) fn all<P: Payload>(session: &Session) -> Vec<P> {
    session.events().iter().filter_map(|event| event.read::<P>()).map(Result::unwrap).collect()
}

/// `ID ok`, `ID CODE`, or `ID failed` for a failure without a code.
fn result(result: &ToolResult) -> String {
    let [ContentBlock::ToolResult { is_error, .. }] = &*result.message.content else { unreachable!() };
    let outcome = match &result.error {
        Some(error) => error.code.to_string(),
        None if *is_error => "failed".to_owned(),
        None => "ok".to_owned(),
    };
    format!("{} {outcome}", result.call_id().unwrap())
}

/// What the model reads of each result, by call.
pub(crate) fn result_texts(session: &Session) -> Vec<String> {
    let text = |result: &ToolResult| {
        let [ContentBlock::ToolResult { content, .. }] = &*result.message.content else { unreachable!() };
        plain_text(content)
    };
    all::<ToolResult>(session).iter().map(text).collect()
}

/// The ids of the calls in a message.
pub(crate) fn call_ids(message: &Message) -> Vec<&str> {
    let mut ids = Vec::new();
    for block in message.tool_calls() {
        let ContentBlock::ToolCall { id, .. } = block else { unreachable!() };
        ids.push(&**id);
    }
    ids
}

/// `WHO: words [calls]`
fn said(message: &Message) -> String {
    let who = match &message.source {
        Source::User => "user".to_owned(),
        Source::Plugin { plugin, .. } => plugin.to_string(),
        Source::Model { .. } => "model".to_owned(),
        Source::Tool { .. } | Source::Other(_) => unreachable!(),
    };
    let words: Vec<_> = message.content.iter().filter_map(ContentBlock::as_text).collect();
    let calls = call_ids(message);
    let calls = if calls.is_empty() { String::new() } else { format!(" [{}]", calls.join(" ")) };
    format!("{who}: {}{calls}", words.join(""))
}

pub(crate) fn reason(reason: &TurnEndReason) -> String {
    match reason {
        TurnEndReason::Completed => "completed".to_owned(),
        TurnEndReason::MaxTokens => "max-tokens".to_owned(),
        TurnEndReason::StepLimit => "step-limit".to_owned(),
        TurnEndReason::Blocked => "blocked".to_owned(),
        TurnEndReason::Interrupted => "interrupted".to_owned(),
        TurnEndReason::Error { error } => format!("error {}", error.code),
        TurnEndReason::Aborted { reason: AbortReason::Hook(words) } => format!("aborted hook {words}"),
        TurnEndReason::Aborted { reason } => format!("aborted {reason:?}").to_lowercase(),
    }
}

/// The log is sound, its turns are closed, and each request is what the log said when it was made.
pub(crate) fn assert_sound(session: &Session, requests: &[(u64, ModelRequest)]) {
    let events = session.events();
    let verdict = verify(session.header(), &events, session.vocabulary());
    assert_eq!((verdict.problems, verdict.open_turn), (vec![], None));
    let mut earlier: &[Arc<Message>] = &[];
    for (at, request) in requests {
        let before: Vec<Event> =
            events.iter().take_while(|event| event.seq < *at).map(|event| (**event).clone()).collect();
        let header = before.iter().rev().find_map(Event::read::<RequestHeader>).unwrap().unwrap().header;
        let rebuilt = Session::resume(in_memory(session), before).unwrap();
        assert_eq!(request.messages, rebuilt.messages());
        assert_eq!(request.system, header.system);
        assert_eq!(request.tools, header.tools.unwrap_or_default());
        assert_eq!(request.max_tokens, header.config.max_tokens);
        assert!(request.messages.starts_with(earlier), "a request takes back what was said");
        earlier = &request.messages;
    }
}

fn in_memory(session: &Session) -> SessionSpec {
    SessionSpec {
        header: session.header().clone(),
        vocabulary: Arc::clone(session.vocabulary()),
        clock: Arc::new(SteppingClock::starting_at(0)),
        sink: None,
    }
}
