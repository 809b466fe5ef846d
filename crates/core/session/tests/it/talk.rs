//! A small conversation, built event by event.

use std::sync::Arc;

use dsh_json::Json;
use dsh_lifecycle::SteppingClock;
use dsh_llm::{Content, ContentBlock, ErrorFacts, Message, Role, ShapeError, Source, text};
use dsh_session::{
    AssistantMessage, CodedError, Event, Header, Pair, Payload, Session, SessionSpec, Sink, StepEnd,
    StepStart, ToolCall, ToolResult, TurnEnd, TurnEndReason, TurnStart, UserMessage, Vocabulary,
};
use serde::{Deserialize, Serialize};

/// A question to a person, and its answer: a pair of another crate.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asked {
    pub(crate) id: String,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Decided {
    pub(crate) id: String,
    pub(crate) outcome: String,
}

/// An event of a plugin that may be absent.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Note {
    pub(crate) text: String,
}

/// Writes what it does not read.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Crooked {
    #[serde(rename(serialize = "written"))]
    pub(crate) read: u32,
}

impl Payload for Asked {
    const TYPE: &'static str = "test/asked";
    const EXACT: bool = true;
}

impl Payload for Decided {
    const TYPE: &'static str = "test/decided";
    const EXACT: bool = true;
}

impl Payload for Note {
    const TYPE: &'static str = "test/note";
    const IGNORABLE: bool = true;

    fn check(&self) -> Result<(), ShapeError> {
        if self.text.is_empty() { Err(ShapeError::new("must not be empty").within("text")) } else { Ok(()) }
    }
}

impl Payload for Crooked {
    const TYPE: &'static str = "test/crooked";
}

pub(crate) fn vocabulary() -> Arc<Vocabulary> {
    let pair = Pair::<Asked, Decided> {
        opened: |asked| asked.id.as_str().into(),
        closed: |decided| decided.id.as_str().into(),
        close: |asked| Decided { id: asked.id.clone(), outcome: "cancelled".to_owned() },
    };
    let plain = Vocabulary::core().with::<Note>().and_then(Vocabulary::with::<Crooked>);
    Arc::new(plain.and_then(|plain| plain.with_pair(pair)).unwrap())
}

pub(crate) fn header() -> Header {
    Header::new("s1", 0).unwrap()
}

pub(crate) fn spec(sink: Option<Arc<dyn Sink>>) -> SessionSpec {
    SessionSpec {
        header: header(),
        vocabulary: vocabulary(),
        clock: Arc::new(SteppingClock::starting_at(100)),
        sink,
    }
}

pub(crate) fn session() -> Session {
    Session::create(spec(None))
}

pub(crate) fn user(id: &str, words: &str) -> UserMessage {
    let content = text(words);
    UserMessage(Message { id: id.into(), role: Role::User, content, source: Source::User })
}

pub(crate) fn model() -> Source {
    Source::Model { provider: "p".into(), model: "m".into(), replay_state: None }
}

/// An answer of some words and some calls.
pub(crate) fn answer(turn: u32, step: u32, words: &str, calls: &[&str]) -> AssistantMessage {
    let words = (!words.is_empty()).then(|| ContentBlock::Text { text: words.into() });
    let calls = calls.iter().map(|id| ContentBlock::ToolCall {
        id: (*id).into(),
        name: "read".into(),
        arguments: "{}".into(),
        provider_call_id: None,
    });
    let content: Content = words.into_iter().chain(calls).collect();
    let id = format!("a{turn}.{step}").into();
    let message = Message { id, role: Role::Assistant, content, source: model() };
    AssistantMessage { turn, step, message, usage: None }
}

pub(crate) fn call(turn: u32, step: u32, id: &str) -> ToolCall {
    ToolCall { turn, step, call_id: id.into(), name: "read".into(), arguments: "{}".into() }
}

pub(crate) fn result(turn: u32, step: u32, id: &str, words: &str) -> ToolResult {
    let block = ContentBlock::ToolResult { tool_call_id: id.into(), content: text(words), is_error: false };
    let message = Message {
        id: format!("r-{id}").into(),
        role: Role::User,
        content: Arc::new([block]),
        source: Source::Tool { call_id: id.into() },
    };
    ToolResult { turn, step, message, error: None, meta: None }
}

pub(crate) fn coded(result: ToolResult, code: &str) -> ToolResult {
    ToolResult { error: Some(CodedError { name: "Error".into(), code: code.into() }), ..result }
}

pub(crate) fn start(turn: u32) -> TurnStart {
    TurnStart { turn }
}

pub(crate) fn end(turn: u32) -> TurnEnd {
    TurnEnd { turn, reason: TurnEndReason::Completed }
}

pub(crate) fn step(turn: u32, step: u32) -> StepStart {
    StepStart { turn, step }
}

pub(crate) fn step_end(turn: u32, step: u32) -> StepEnd {
    StepEnd { turn, step }
}

pub(crate) fn asked(id: &str) -> Asked {
    Asked { id: id.to_owned() }
}

pub(crate) fn decided(id: &str) -> Decided {
    Decided { id: id.to_owned(), outcome: "allowed".to_owned() }
}

pub(crate) fn failed() -> TurnEndReason {
    TurnEndReason::Error { error: ErrorFacts::new("UNKNOWN", "broke") }
}

/// A whole turn with two calls, of which the second is answered first and logged second.
pub(crate) fn whole_turn(session: &Session) {
    let turn = session.next_turn();
    let id = |call: &str| format!("{call}-{turn}");
    let (first, second) = (id("c1"), id("c2"));
    put(session, &start(turn));
    put(session, &step(turn, 1));
    put(session, &user(&format!("u{turn}"), "go"));
    put(session, &answer(turn, 1, "I look", &[&first, &second]));
    let one = put(session, &call(turn, 1, &first));
    let two = put(session, &call(turn, 1, &second));
    put(session, &asked(&first));
    put(session, &decided(&first));
    session.append_from(&result(turn, 1, &first, "one"), &[one]).unwrap();
    session.append_from(&result(turn, 1, &second, "two"), &[two]).unwrap();
    put(session, &step_end(turn, 1));
    put(session, &step(turn, 2));
    put(session, &answer(turn, 2, "done", &[]));
    put(session, &step_end(turn, 2));
    put(session, &end(turn));
}

/// Appends, and tells the seq.
pub(crate) fn put<P: Payload>(session: &Session, payload: &P) -> u64 {
    session.append(payload).unwrap().seq
}

pub(crate) fn owned(session: &Session) -> Vec<Event> {
    session.events().iter().map(|event| Event::clone(event)).collect()
}

/// The events' types, and what tells them apart, one a line.
pub(crate) fn outline<'a>(events: impl IntoIterator<Item = &'a Event>) -> Vec<String> {
    events.into_iter().map(line).collect()
}

fn line(event: &Event) -> String {
    let data = &event.data;
    let text = |path: &[&str]| {
        let value = path.iter().try_fold(data, |value, key| value.get(key));
        value.map(|value| value.as_str().map_or_else(|| value.to_text(), str::to_owned))
    };
    let facts = [
        text(&["step"]),
        text(&["callId"]),
        text(&["message", "source", "callId"]),
        text(&["error", "code"]),
        text(&["reason", "kind"]),
        text(&["id"]),
        event.source_event_seqs.as_ref().map(|seqs| format!("from {seqs:?}")),
    ];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    format!("{} {}", event.kind, facts.join(" ")).trim_end().to_owned()
}

/// What the session says to the model, in words.
pub(crate) fn history(session: &Session) -> Vec<String> {
    session.messages().iter().map(|message| words(&message.content)).collect()
}

fn words(content: &[ContentBlock]) -> String {
    let block = |block: &ContentBlock| match block {
        ContentBlock::ToolResult { content, tool_call_id, .. } => {
            format!("{tool_call_id}={}", words(content))
        }
        ContentBlock::ToolCall { id, .. } => format!("{id}()"),
        ContentBlock::Text { .. }
        | ContentBlock::Reasoning { .. }
        | ContentBlock::Image { .. }
        | ContentBlock::Other(_) => block.as_text().unwrap_or("?").to_owned(),
    };
    content.iter().map(block).collect::<Vec<_>>().join(" ")
}

pub(crate) fn json(text: &str) -> Json {
    Json::parse(text).unwrap()
}
