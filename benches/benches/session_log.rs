//! What does an event of the log cost, and a history of ten thousand?
//!
//! Goals: 4 µs for an append to the file, its write included; 5 ms to derive ten thousand events' messages, and no more
//! for one more event however long the log is.

use std::error::Error;
use std::sync::Arc;

use criterion::{BatchSize, Criterion};
use dsh_benches::criterion;
use dsh_lifecycle::SteppingClock;
use dsh_llm::{Chunk, ContentBlock, Message, Role, Source, text};
use dsh_session::{
    AppendError, AssistantChunk, AssistantMessage, Event, Header, Session, SessionSpec, Sink, StepEnd,
    StepStart, ToolCall, ToolResult, TurnEnd, TurnEndReason, TurnStart, UserMessage, Vocabulary,
};
use dsh_session_jsonl::LogFile;

const EVENTS: usize = 10_000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut criterion = criterion().configure_from_args();
    let directory = tempfile::tempdir()?;
    let log = LogFile::create(directory.path().join("log.jsonl"), &Header::new("bench", 0)?)?;
    append(&mut criterion, "in memory", &session(None)?);
    append(&mut criterion, "to a file", &session(Some(Arc::new(log)))?);
    for events in [1_000, EVENTS] {
        next_message(&mut criterion, events)?;
    }
    derive(&mut criterion)?;
    criterion.final_summary();
    Ok(())
}

/// The most frequent event: a piece of the model's answer.
fn append(criterion: &mut Criterion, name: &str, session: &Session) {
    let chunk = Chunk::TextDelta { index: 0, text: "some words of an answer, ".into() };
    let piece = AssistantChunk { turn: 1, step: 1, chunk };
    assert!(session.append(&piece).is_ok());
    criterion.bench_function(&format!("session_log/append, {name}"), |bencher| {
        bencher.iter(|| session.append(&piece));
    });
}

/// One more message after so many.
fn next_message(criterion: &mut Criterion, events: usize) -> Result<(), Box<dyn Error>> {
    let session = session(None)?;
    (0..events).try_for_each(|number| session.append(&message(number)).map(drop))?;
    let next = message(events);
    criterion.bench_function(&format!("session_log/one more message after {events}"), |bencher| {
        bencher.iter_batched(|| (), |()| session.append(&next), BatchSize::NumIterations(1_000));
    });
    Ok(())
}

/// From stored events to the model's history: loading checks each, and derives; the list is then at hand.
fn derive(criterion: &mut Criterion) -> Result<(), Box<dyn Error>> {
    let turns = session(None)?;
    (1..).take_while(|_| turns.len() < EVENTS as u64).try_for_each(|number| turn(&turns, number))?;
    let messages = session(None)?;
    (0..EVENTS).try_for_each(|number| messages.append(&message(number)).map(drop))?;
    for (name, stored) in [("turns", &turns), ("nothing but messages", &messages)] {
        let events: Vec<Event> = stored.events().iter().map(|event| Event::clone(event)).collect();
        criterion.bench_function(&format!("session_log/derive 10000 events, {name}"), |bencher| {
            let fresh = || (session_spec(None).ok(), events.clone());
            bencher.iter_batched(
                fresh,
                |(spec, events)| {
                    let session = spec.and_then(|spec| Session::resume(spec, events).ok());
                    session.map(|session| (session.messages(), session))
                },
                BatchSize::LargeInput,
            );
        });
    }
    criterion
        .bench_function("session_log/list 10000 messages", |bencher| bencher.iter(|| messages.messages()));
    Ok(())
}

/// A turn of twenty events: a prompt, an answer in ten pieces, two calls and their results.
fn turn(session: &Session, turn: u32) -> Result<(), AppendError> {
    let step = 1;
    session.append(&TurnStart { turn })?;
    session.append(&StepStart { turn, step })?;
    session.append(&message(turn as usize))?;
    let piece = Chunk::TextDelta { index: 0, text: "some words of an answer, ".into() };
    let piece = AssistantChunk { turn, step, chunk: piece };
    let pieces: Vec<u64> =
        (0..10).map(|_| session.append(&piece).map(|event| event.seq)).collect::<Result<_, _>>()?;
    let calls = ["a", "b"].map(|name| Arc::<str>::from(format!("{name}{turn}")));
    let block = |id: &Arc<str>| ContentBlock::ToolCall {
        id: Arc::clone(id),
        name: "read".into(),
        arguments: "{\"file_path\":\"src/plan.rs\"}".into(),
        provider_call_id: None,
    };
    let source = Source::Model { provider: "p".into(), model: "m".into(), replay_state: None };
    let content = text("I look.").iter().cloned().chain(calls.iter().map(block)).collect();
    let message = Message { id: "a".into(), role: Role::Assistant, content, source };
    session.append_from(&AssistantMessage { turn, step, message, usage: None }, &pieces)?;
    for call_id in calls {
        let (name, arguments) = ("read".into(), "{}".into());
        let call = ToolCall { turn, step, call_id: Arc::clone(&call_id), name, arguments };
        let started = session.append(&call)?.seq;
        let content = text("     1\tfn main() {}");
        let block = ContentBlock::ToolResult { tool_call_id: Arc::clone(&call_id), content, is_error: false };
        let source = Source::Tool { call_id };
        let message = Message { id: "r".into(), role: Role::User, content: Arc::new([block]), source };
        session.append_from(&ToolResult { turn, step, message, error: None, meta: None }, &[started])?;
    }
    session.append(&StepEnd { turn, step })?;
    session.append(&TurnEnd { turn, reason: TurnEndReason::Completed }).map(drop)
}

fn message(number: usize) -> UserMessage {
    let id = format!("m{number}").into();
    let content = text("What is left to do in the garden before it rains?");
    UserMessage(Message { id, role: Role::User, content, source: Source::User })
}

fn session(sink: Option<Arc<dyn Sink>>) -> Result<Session, Box<dyn Error>> {
    Ok(Session::create(session_spec(sink)?))
}

fn session_spec(sink: Option<Arc<dyn Sink>>) -> Result<SessionSpec, Box<dyn Error>> {
    Ok(SessionSpec {
        header: Header::new("bench", 0)?,
        vocabulary: Arc::new(Vocabulary::core()),
        clock: Arc::new(SteppingClock::starting_at(0)),
        sink,
    })
}
