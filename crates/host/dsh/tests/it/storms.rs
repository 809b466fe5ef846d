//! Ctrl-C in a step of a thousand calls: every call has one result, and the next request can be made (spec 02 §A.8).

use std::collections::BTreeSet;
use std::sync::Arc;

use dsh_harness::{Environment, Harness};
use dsh_json::{Json, array, object};
use dsh_lifecycle::SteppingClock;
use dsh_llm::{ContentBlock, Message, Source};
use dsh_session::{Session, SessionSpec};
use dsh_session_jsonl::{Contents, read};
use rustix::process::Signal;

use crate::rounds::{all, all_pass, spread};
use crate::running::Running;
use crate::world::{World, assert_closed, call, verdict};

/// How often a step of how many calls is interrupted.
fn extent() -> (usize, usize) {
    if all() { (50, 1_000) } else { (10, 100) }
}

/// One step of so many calls, every other exclusive.
fn storm(calls: usize) -> World {
    let world = World::new();
    world.file("ws/a.txt", "alpha\n");
    let one = |number: usize| {
        let id = format!("c{number}");
        if number.is_multiple_of(2) {
            call(&id, "read", object! { "file_path": "a.txt" })
        } else {
            call(&id, "write", object! { "file_path": format!("out/{number}.txt"), "content": "x" })
        }
    };
    let calls: Vec<Json> = (0..calls).map(one).collect();
    world.script("s.json", array![object! { "toolCalls": calls }, object! { "text": "Done." }]);
    world.script("again.json", array![object! { "text": "Again." }]);
    world
}

/// What the model reads of a stored session.
fn messages(world: &World) -> Vec<Arc<Message>> {
    let Contents { header, events, .. } = read(world.path("one.jsonl")).unwrap();
    let harness = Harness::builder(Environment::of_process_at(world.path("ws"))).build().unwrap();
    let spec = SessionSpec {
        header: header.unwrap(),
        vocabulary: Arc::new(harness.host().vocabulary()),
        clock: Arc::new(SteppingClock::starting_at(0)),
        sink: None,
    };
    Session::resume(spec, events).unwrap().messages()
}

/// What every provider asks for: right after an answer with calls one result for each of them, and no other result.
#[track_caller]
fn assert_protocol(messages: &[Arc<Message>]) -> usize {
    let (mut waiting, mut calls) = (BTreeSet::<Arc<str>>::new(), 0);
    for message in messages {
        if let Source::Tool { call_id } = &message.source {
            assert!(waiting.remove(call_id), "a result that nobody waits for: {call_id}");
            continue;
        }
        assert!(waiting.is_empty(), "calls without a result: {waiting:?}");
        for block in message.tool_calls() {
            let ContentBlock::ToolCall { id, .. } = block else { continue };
            assert!(waiting.insert(Arc::clone(id)), "two calls of one id: {id}");
            calls += 1;
        }
    }
    assert!(waiting.is_empty(), "calls without a result: {waiting:?}");
    calls
}

/// How many cards of results a replay has.
fn result_cards(world: &World) -> usize {
    let cards = world.dsh(["replay", "--json", "one.jsonl"]).done().lines();
    cards.iter().filter(|card| card.get("type").and_then(Json::as_str) == Some("result")).count()
}

/// One round; whether the turn was aborted, and did not end before.
fn interrupted_after(lines: usize, all_calls: usize) -> bool {
    let world = storm(all_calls);
    let mut running = Running::start(&world, "s.json");
    running.until_line(lines);
    running.signal(Signal::INT);
    let ran = running.end();
    let aborted = ran.code == 130;
    assert!(aborted || ran.code == 0, "{} {}", ran.code, ran.err);

    let log = world.path("one.jsonl");
    assert_closed(&world, &log);
    let calls = assert_protocol(&messages(&world));
    // Cut short before it was whole, the answer is not in the history, nor are its calls.
    assert!(calls == 0 || calls == all_calls, "{calls} calls");
    assert_eq!(result_cards(&world), calls);
    let turns = || verdict(&world, &log).get("turns").and_then(Json::as_u64);
    let before = turns();

    world.dsh(["run", "--model", "script:again.json", "--session", "one.jsonl", "go on"]).done();
    assert_closed(&world, &log);
    assert!(turns() > before);
    assert_eq!(assert_protocol(&messages(&world)), calls);
    aborted
}

#[test]
fn a_thousand_calls_interrupted_anywhere_leave_a_request_that_can_be_made() {
    let (count, calls) = extent();
    let whole = Running::start(&storm(calls), "s.json").end().done();
    let lines = whole.lines();
    let first_call = lines.iter().position(|line| line.get("type") == Some(&"tool/call".into())).unwrap();
    // Most rounds are for the calls; a fifth stops the answer while it is streamed.
    let streamed = count / 5;
    let after = |round: usize| {
        if round < streamed {
            spread(round, streamed, 1, first_call)
        } else {
            spread(round - streamed, count - streamed, first_call + 1, lines.len())
        }
    };
    let early = std::sync::atomic::AtomicUsize::new(0);
    all_pass(count, |round| {
        if interrupted_after(after(round), calls) {
            early.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
    });
    let early = early.into_inner();
    assert!(early * 2 > count, "only {early} of {count} were interrupted before their end");
}
