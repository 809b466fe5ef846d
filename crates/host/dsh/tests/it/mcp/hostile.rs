//! What no client should send, and how it ends in the midst of work.

use dsh_json::{Json, object};
use rustix::process::{Pid, Signal, kill_process};

use super::raw::Raw;
use crate::world::{World, assert_closed, verdict};

/// `ID CODE` of an error, or `ID ok` or `ID TOOL-CODE` of a result.
fn told(answer: &Json) -> String {
    let id = answer.get("id").map_or_else(|| "none".to_owned(), Json::to_text);
    if let Some(error) = answer.get("error") {
        return format!("{id} {}", error.get("code").unwrap());
    }
    let result = answer.get("result").unwrap();
    match result.get("_meta").and_then(|meta| meta.get("dsh/error")) {
        Some(error) => format!("{id} {}", error.get("code").unwrap().as_str().unwrap()),
        None => format!("{id} ok"),
    }
}

/// The codes of the results in the log.
fn codes(world: &World) -> Vec<String> {
    let lines = world.text("one.jsonl");
    let events = lines.lines().skip(1).map(|line| Json::parse(line).unwrap());
    let results = events.filter(|event| event.get("type").unwrap().as_str() == Some("tool/result"));
    let code = |event: Json| {
        let error = event.get("data").unwrap().get("error").cloned();
        error.map_or_else(|| "ok".to_owned(), |error| error.get("code").unwrap().as_str().unwrap().to_owned())
    };
    results.map(code).collect()
}

#[test]
fn whatever_comes_is_answered_and_the_next_call_works() {
    let world = World::new();
    world.file("ws/a.txt", "alpha\n");
    let mut raw = Raw::start(&world);
    let mut check = |line: &[u8], expected: &str| {
        raw.send(line);
        let shown = String::from_utf8_lossy(&line[..line.len().min(100)]);
        assert_eq!(told(&raw.answer()), expected, "{shown}");
    };
    check(br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#, "1 -32600");
    check(br#"{"jsonrpc":"2.0","id":2,"method":"initialize","params":{}}"#, "2 -32602");
    check(br#"{"jsonrpc":"2.0","id":3,"method":"ping"}"#, "3 ok");
    check(br#"{"jsonrpc":"2.0","id":4,"method":"server/discover"}"#, "4 -32601");
    let initialize = br#"{"jsonrpc":"2.0","id":"first","method":"initialize","params":{"protocolVersion":"2199-01-01","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}"#;
    check(initialize, "\"first\" ok");
    check(br#"{"jsonrpc":"2.0","id":10,"method":"nope","params":{"a":1}}"#, "10 -32601");
    check(b"garbage", "none -32700");
    check(b"[]", "none -32600");
    check(b"{\"jsonrpc\":\"2.0\",\"id\":11,\"method\":\"ping\xff\"}", "11 -32700");
    check(br#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, "none -32600");
    check(br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, "none -32600");
    check(br#"{"jsonrpc":"2.0","id":12,"method":"tools/call","params":{"arguments":{}}}"#, "12 -32602");
    let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let list = format!(r#"{{"jsonrpc":"2.0","id":13,"method":"tools/list","params":{}}}"#, deep(100_000));
    check(list.as_bytes(), "13 -32600");
    let read = |id: u64, arguments: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"tools/call","params":{{"name":"read","arguments":{arguments}}},"id":{id}}}"#
        )
    };
    check(read(14, &deep(100_000)).as_bytes(), "14 JSON_TOO_DEEP");
    check(read(15, "7").as_bytes(), "15 INVALID_ARGS");
    check(read(16, "null").as_bytes(), "16 INVALID_ARGS");
    check(read(17, r#"{"file_path":"a.txt","limit":123456789012345678901234567890}"#).as_bytes(), {
        "17 JSON_NUMBER"
    });
    check(read(18, &format!("\"{}\"", "x".repeat(17 << 20))).as_bytes(), "18 -32600");
    let early = format!(r#"{{"jsonrpc":"2.0","id":19,"x":"{}"}}"#, "x".repeat(17 << 20));
    check(early.as_bytes(), "19 -32600");
    check(read(20, r#"{"file_path":"a.txt"}"#).as_bytes(), "20 ok");
    let ran = raw.end();
    assert_eq!((ran.code, &*ran.out), (0, ""), "{ran:?}");
    assert_closed(&world, &world.path("one.jsonl"));
}

#[test]
fn cancelling_stops_one_call_and_twice_is_nothing() {
    let world = World::new();
    let mut raw = Raw::begun(&world);
    raw.call_waiting(1);
    raw.call(2, "glob", object! { "pattern": "*" });
    // The id of a call that has no answer yet.
    raw.call(1, "glob", object! { "pattern": "*" });
    assert_eq!(told(&raw.answer()), "1 -32600");
    for id in [1, 1, 77] {
        raw.cancel(id);
    }
    // A call that was cancelled has no answer (the client does not wait for one).
    assert_eq!(told(&raw.answer()), "2 ok");
    raw.cancel(2);
    raw.call(3, "glob", object! { "pattern": "*" });
    assert_eq!(told(&raw.answer()), "3 ok");
    assert_eq!(raw.end().code, 0);
    assert_eq!(codes(&world), ["ABORTED", "ok", "ok"]);
    assert_closed(&world, &world.path("one.jsonl"));
    // The second call came while the first ran.
    assert_eq!(verdict(&world, &world.path("one.jsonl")).get("turns"), Some(&2.into()));
}

#[test]
fn the_end_of_the_input_stops_what_runs() {
    let world = World::new();
    let mut raw = Raw::begun(&world);
    raw.call_waiting(1);
    raw.call(2, "write", object! { "file_path": "never.txt", "content": "" });
    raw.ask(3, "ping", object! {});
    assert_eq!(told(&raw.answer()), "3 ok");
    let ran = raw.end();
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(codes(&world), ["ABORTED", "ABORTED_BEFORE_DISPATCH"]);
    assert!(!world.path("ws/never.txt").exists());
    assert_closed(&world, &world.path("one.jsonl"));
}

#[test]
fn a_signal_stops_what_runs_and_is_no_failure() {
    for signal in [Signal::TERM, Signal::INT] {
        let world = World::new();
        let mut raw = Raw::begun(&world);
        raw.call_waiting(1);
        kill_process(Pid::from_child(&raw.child), signal).unwrap();
        let ran = raw.ends();
        assert_eq!(ran.code, 0, "{ran:?}");
        assert_eq!(codes(&world), ["ABORTED"]);
        assert_closed(&world, &world.path("one.jsonl"));
    }
}

#[test]
fn a_client_that_never_speaks_leaves_a_sound_log() {
    let world = World::new();
    let ran = Raw::start(&world).end();
    assert_eq!((ran.code, &*ran.out, &*ran.err), (0, "", "log: one.jsonl\n"));
    assert_closed(&world, &world.path("one.jsonl"));
}

#[test]
fn without_a_session_its_log_is_a_fresh_one() {
    let world = World::new();
    world.file("in", "");
    let input = std::fs::File::open(world.path("in")).unwrap();
    let ran = crate::world::Ran::of(world.command(["mcp"]).stdin(input).output().unwrap()).done();
    let logs = world.fresh_logs();
    assert_eq!(logs.len(), 1);
    assert_eq!(ran.err, format!("log: {}\n", logs[0].display()));
}

#[test]
fn the_bounds_are_those_of_the_configuration() {
    let world = World::new();
    world.file("ws/dsh.toml", "[mcp-server]\nmaxMessageBytes = 400\n");
    let mut raw = Raw::begun(&world);
    raw.ask(1, "ping", object! { "_meta": object! { "x": "x".repeat(500) } });
    let answer = raw.answer();
    assert_eq!(told(&answer), "1 -32600");
    let words = answer.get("error").unwrap().get("message").unwrap().as_str().unwrap().to_owned();
    assert!(words.contains("maxMessageBytes") && words.contains("400"), "{words}");
    raw.ask(2, "ping", object! {});
    assert_eq!(told(&raw.answer()), "2 ok");
    assert_eq!(raw.end().code, 0);
}
