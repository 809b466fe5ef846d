//! `run`, and what it leaves behind.

use std::io::Write as _;
use std::process::Stdio;

use dsh_json::{Json, array, object};

use crate::world::{Ran, World, assert_closed, call, verdict};

/// Two reads side by side, a write, malformed arguments, a tool that is not there.
fn five_calls(world: &World) {
    world.file("ws/a.txt", "alpha\nbeta\n");
    world.file("ws/b.txt", "gamma\u{1b}[2J\n");
    let calls = array![
        call("c1", "read", object! { "file_path": "a.txt" }),
        call("c2", "read", object! { "file_path": "b.txt" }),
        call("c3", "write", object! { "file_path": "out/c.txt", "content": "one\ntwo\n" }),
        call("c4", "read", r#"{"file_path": "#.into()),
        call("c5", "raed", object! { "file_path": "a.txt" }),
    ];
    let steps = array![
        object! { "text": "I read both, and write.", "toolCalls": calls },
        object! { "text": "It is done." },
    ];
    world.script("s.json", steps);
}

const RUN: [&str; 7] = ["run", "--model", "script:s.json", "--seed", "1", "--session", "one.jsonl"];

#[test]
fn every_call_has_one_result_in_model_order() {
    let world = World::new();
    five_calls(&world);
    let ran = world.dsh(RUN.into_iter().chain(["--json", "go"])).done();

    let events = ran.lines();
    let seqs: Vec<_> = events.iter().map(|event| event.get("seq").unwrap().as_u64().unwrap()).collect();
    assert_eq!(seqs, (0..events.len() as u64).collect::<Vec<_>>());
    assert!(events.iter().all(|event| event.get("crc").is_none()));
    let results: Vec<(&str, Option<&str>)> = events
        .iter()
        .filter(|event| event.get("type").unwrap().as_str() == Some("tool/result"))
        .map(|event| {
            let data = event.get("data").unwrap();
            let source = data.get("message").unwrap().get("source").unwrap();
            let code = data.get("error").and_then(|error| error.get("code")).and_then(Json::as_str);
            (source.get("callId").unwrap().as_str().unwrap(), code)
        })
        .collect();
    let expected = [
        ("c1", None),
        ("c2", None),
        ("c3", None),
        ("c4", Some("INVALID_ARGS")),
        ("c5", Some("UNKNOWN_TOOL")),
    ];
    assert_eq!(results, expected);
    assert_eq!(world.text("ws/out/c.txt"), "one\ntwo\n");
    assert_eq!(ran.err, "log: one.jsonl\n");

    let verdict = verdict(&world, &world.path("one.jsonl"));
    let expected =
        object! { "ok": true, "events": events.len(), "turns": 1, "tail": "clean", "problems": array![] };
    assert_eq!(verdict, expected);
}

#[test]
fn a_replay_draws_what_the_run_drew() {
    let world = World::new();
    five_calls(&world);
    let ran = world.dsh(RUN.into_iter().chain(["go"])).done();
    assert_eq!(ran.out, "It is done.\n");
    let cards = ran.err.strip_suffix("log: one.jsonl\n").unwrap();
    insta::assert_snapshot!("cards_of_five_calls", cards);

    std::fs::remove_dir_all(world.path("ws")).unwrap();
    std::fs::create_dir(world.path("ws")).unwrap();
    let replayed = world.dsh(["replay", "one.jsonl"]).done();
    assert_eq!(replayed, Ran { code: 0, out: format!("{cards}It is done.\n"), err: String::new() });
    assert!(!world.path("ws/out").exists(), "a replay ran a tool");
}

#[test]
fn cards_are_also_for_programs() {
    let world = World::new();
    five_calls(&world);
    world.dsh(RUN.into_iter().chain(["go"])).done();
    let cards = world.dsh(["replay", "--json", "one.jsonl"]).done().lines();
    let brief: Vec<String> = cards
        .iter()
        .map(|card| {
            let words =
                ["type", "callId", "text"].map(|key| card.get(key).and_then(Json::as_str).unwrap_or("-"));
            words.join(" ")
        })
        .collect();
    insta::assert_snapshot!(brief.join("\n"), @"
    prompt - go
    said - I read both, and write.
    call c1 -
    call c2 -
    result c1 -
    result c2 -
    call c3 -
    result c3 -
    call c4 -
    result c4 -
    call c5 -
    result c5 -
    answer - It is done.
    ");
    let write = cards.iter().find(|card| card.get("name") == Some(&"write".into())).unwrap();
    insta::assert_snapshot!(write.to_text(), @r#"{"type":"call","turn":1,"step":1,"callId":"c3","name":"write","view":{"card":"diff","title":"Write out/c.txt","diffs":[{"path":"out/c.txt","oldText":null,"newText":"one\ntwo\n"}],"locations":[{"path":"out/c.txt"}]}}"#);
}

#[test]
fn equal_seeds_write_equal_logs() {
    let world = World::new();
    world.file("ws/a.txt", "alpha\n");
    let calls = array![call("c1", "read", object! { "file_path": "a.txt" })];
    world.script("s.json", array![object! { "toolCalls": calls }, object! { "text": "Done." }]);
    let run = |session| {
        world.dsh(["run", "--seed", "7", "--model", "script:s.json", "--session", session, "go"]).done();
        world.text(session)
    };
    assert_eq!(run("one.jsonl"), run("two.jsonl"));
}

#[test]
fn without_a_session_each_run_has_a_new_log() {
    let world = World::new();
    world.script("s.json", array![object! { "text": "Hello." }]);
    for count in 1..=2 {
        // The same seed gives the same session id.
        let ran = world.dsh(["run", "--seed", "7", "--model", "script:s.json", "go"]).done();
        let logs = world.fresh_logs();
        assert_eq!(logs.len(), count);
        assert!(logs.iter().any(|log| ran.err.ends_with(&format!("log: {}\n", log.display()))), "{ran:?}");
        for log in &logs {
            assert_closed(&world, log);
        }
    }
}

#[test]
fn a_session_is_continued() {
    let world = World::new();
    world.script("s.json", array![object! { "text": "Hello." }]);
    for turns in 1..=2_u64 {
        world.dsh(["run", "--model", "script:s.json", "--session", "one.jsonl", "go"]).done();
        assert_eq!(verdict(&world, &world.path("one.jsonl")).get("turns"), Some(&turns.into()));
    }
    assert_eq!(world.dsh(["replay", "one.jsonl"]).done().out, "› go\nHello.\n› go\nHello.\n");
}

#[test]
fn the_prompt_comes_from_stdin_when_none_is_given() {
    let world = World::new();
    world.script("s.json", array![object! { "text": "Hello." }]);
    let mut command = world.command(["run", "--model", "script:s.json", "--session", "one.jsonl"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"one\ntwo\n\n").unwrap();
    let ran = Ran::of(child.wait_with_output().unwrap()).done();
    assert_eq!(ran.err, "› one\n  two\nlog: one.jsonl\n");
}

#[test]
fn the_demonstration_says_what_it_is() {
    let world = World::new();
    world.file("ws/README.md", "# A thing\n");
    let ran = world.dsh(["run", "look around"]).done();
    assert!(ran.err.starts_with("note: this is the demonstration"), "{}", ran.err);
    assert!(ran.err.contains("--model") && ran.err.contains("dsh.toml"), "{}", ran.err);
    assert!(ran.out.contains("README.md"), "{}", ran.out);
}

#[test]
fn a_turn_that_fails_says_why() {
    let world = World::new();
    let check = |step: Json, words: &str| {
        world.script("s.json", array![step]);
        let ran = world.dsh(["run", "--model", "script:s.json", "go"]);
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.error().contains(words), "{ran:?}");
    };
    check(object! { "text": "Half", "finish": "error" }, "SCRIPTED_ERROR");
    check(object! { "text": "Half", "finish": "max-tokens" }, "ceiling");

    world.file("ws/dsh.toml", "[agent-loop]\nmaxStepsPerTurn = 1\n");
    let calls = array![call("c1", "glob", object! { "pattern": "*" })];
    check(object! { "toolCalls": calls }, "maxStepsPerTurn");
    for log in world.fresh_logs() {
        assert_closed(&world, &log);
    }
}

#[test]
fn a_seeded_session_that_is_continued_repeats_no_id() {
    let world = World::new();
    world.script("s.json", array![object! { "text": "Hello." }]);
    for prompt in ["one", "two"] {
        let run = ["--seed", "7", "--session", "s.jsonl", "run", "--model", "script:s.json", prompt];
        world.dsh(run).done();
    }
    let log = world.text("s.jsonl");
    let said = ["\"user/message\"", "\"assistant/message\""];
    let lines = log.lines().filter(|line| said.iter().any(|kind| line.contains(kind)));
    let id = |line: &str| line.split_once("\"id\":\"").unwrap().1.split('"').next().unwrap().to_owned();
    let mut ids: Vec<_> = lines.map(id).collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert!(count >= 4 && ids.len() == count, "{ids:?}");
}
