//! Bad input of every kind: one message, one exit code, nothing left behind.

use std::process::Command;

use dsh_json::{Json, array, object};

use crate::world::{Ran, World, call, verdict};

/// One refusal: the exit code, and words of the one message.
#[track_caller]
fn check(ran: &Ran, code: i32, words: &[&str]) {
    assert_eq!(ran.code, code, "{ran:?}");
    let error = ran.error();
    for word in words {
        assert!(error.contains(word), "no {word:?} in {error:?}");
    }
    assert_eq!(ran.out, "", "{ran:?}");
    assert!(!ran.err.contains("panicked") && !ran.err.contains("backtrace"), "{ran:?}");
}

fn hello() -> World {
    let world = World::new();
    world.script("s.json", array![object! { "text": "Hello." }]);
    world
}

#[test]
fn the_command_line_is_checked() {
    let world = hello();
    let rows: [(&[&str], &[&str]); 8] = [
        (&["rnu"], &["rnu"]),
        (&["run", "--nope"], &["--nope"]),
        (&["call"], &["TOOL"]),
        (&["verify"], &["FILE"]),
        (&["run", "--mode", "sideways", "go"], &["sideways", "--mode"]),
        (&["run", "--model", "gpt", "go"], &["gpt", "script:FILE"]),
        (&["run", "--seed", "x", "go"], &["--seed"]),
        (&["tools", "--log", "=="], &["--log"]),
    ];
    for (arguments, words) in rows {
        let ran = world.dsh(arguments);
        assert_eq!(ran.code, 2, "{ran:?}");
        let labels = ran.err.lines().filter(|line| line.starts_with("error: ")).count();
        assert_eq!(labels, 1, "{ran:?}");
        for word in words {
            assert!(ran.err.contains(word), "no {word:?} in {ran:?}");
        }
    }
}

#[test]
fn what_is_not_there_is_named() {
    let world = hello();
    check(&world.dsh(["run", "--model", "script:none.json", "go"]), 2, &["none.json", "script"]);
    check(&world.dsh(["tools", "--root", "none"]), 2, &["root none", "No such file"]);
    check(&world.dsh(["tools", "--root", "s.json"]), 2, &["root s.json", "Not a directory"]);
    check(&world.dsh(["tools", "--config", "none.toml"]), 2, &["none.toml"]);
    for command in ["verify", "replay", "repair"] {
        check(&world.dsh([command, "none.jsonl"]), 2, &["none.jsonl", "No such file"]);
    }
    assert!(world.fresh_logs().is_empty());
}

#[test]
fn a_mode_that_is_not_there_is_named() {
    let world = hello();
    check(&world.dsh(["run", "--model", "script:s.json", "--mode", "far", "go"]), 2, &["far"]);
    for mode in ["native", "code", "both"] {
        world.dsh(["run", "--model", "script:s.json", "--mode", mode, "go"]).done();
    }
}

#[test]
fn a_prompt_is_needed() {
    let world = hello();
    check(&world.dsh(["run", "--model", "script:s.json"]), 2, &["no prompt"]);
    check(&world.dsh(["run", "--model", "script:s.json", " \n"]), 2, &["no prompt"]);
    assert!(world.fresh_logs().is_empty());
}

#[test]
fn a_bad_script_is_named_with_its_place() {
    let world = hello();
    world.file("s.json", r#"{ "steps": [ { "txt": "Hello." } ] }"#);
    check(&world.dsh(["run", "--model", "script:s.json", "go"]), 2, &["s.json", "$.steps[0].txt"]);
    world.file("s.json", r#"{ "steps": [ "#);
    check(&world.dsh(["run", "--model", "script:s.json", "go"]), 2, &["s.json", "line 1"]);
}

#[test]
fn a_bad_configuration_is_named_with_its_place() {
    let world = hello();
    let rows = [
        ("mood = 1\n", ":1:1: mood: unknown key"),
        ("\n[agent-loop]\nmaxStepsPerTurn = 0\n", ":3:19: agent-loop.maxStepsPerTurn"),
        ("[agent-loop]\nmaxSteps = 1\n", ":2:1: agent-loop.maxSteps"),
        ("[agent-loop\n", ":1:"),
        ("mode = \"sideways\"\n", ":1:8: mode"),
    ];
    for (text, words) in rows {
        world.file("bad.toml", text);
        check(&world.dsh(["tools", "--config", "bad.toml"]), 2, &[&format!("bad.toml{words}")]);
    }
}

#[test]
fn a_session_that_can_not_be_used_is_named() {
    let world = hello();
    let run = |session: &str| world.dsh(["run", "--model", "script:s.json", "--session", session, "go"]);
    check(&run("s.json"), 4, &["s.json is not a session log", "--session"]);
    check(&run("s.json/one.jsonl"), 4, &["s.json"]);
    check(&run("/dev/full"), 4, &["/dev/full is not a session log"]);
    check(&run("ws"), 4, &["ws"]);
    assert!(world.text("s.json").contains("Hello."));

    let ran = world.dsh(["verify", "--json", "s.json"]);
    assert_eq!((ran.code, ran.json().get("ok")), (4, Some(&false.into())), "{ran:?}");
    assert!(ran.error().contains("s.json"));
    check(&world.dsh(["replay", "s.json"]), 4, &["s.json is not a session log"]);
    check(&world.dsh(["repair", "s.json"]), 4, &["s.json is not a session log"]);
}

#[test]
#[cfg(target_os = "linux")]
fn a_pipe_is_no_log_and_nobody_waits_for_it() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let world = hello();
    mknodat(CWD, world.path("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    check(&world.dsh(["replay", "pipe"]), 4, &["pipe is not a session log"]);
    check(&world.dsh(["repair", "pipe"]), 4, &["pipe is not a session log"]);
    assert_eq!(verdict(&world, &world.path("pipe")).get("ok"), Some(&false.into()));
    let run = ["run", "--model", "script:s.json", "--session", "pipe", "go"];
    check(&world.dsh(run), 4, &["pipe is not a session log"]);
}

#[test]
fn a_session_in_use_is_not_touched() {
    let world = hello();
    let header = dsh_session::Header::new("held", 0).unwrap();
    let held = dsh_session_jsonl::LogFile::create(world.path("one.jsonl"), &header).unwrap();
    let before = world.text("one.jsonl");
    let ran = world.dsh(["run", "--model", "script:s.json", "--session", "one.jsonl", "go"]);
    check(&ran, 4, &["one.jsonl is in use", "--session"]);
    check(&world.dsh(["repair", "one.jsonl"]), 4, &["one.jsonl is in use"]);
    assert_eq!(world.text("one.jsonl"), before);
    drop(held);
    world.dsh(["run", "--model", "script:s.json", "--session", "one.jsonl", "go"]).done();
}

/// The same limit on a file of the workspace is the failure of one call, and leaves nothing behind.
#[test]
fn a_file_that_can_not_grow_fails_its_call() {
    let world = hello();
    let arguments = object! { "file_path": "big.txt", "content": "x".repeat(5_000) }.to_text();
    let mut command = Command::new("/bin/sh");
    world.prepare(&mut command);
    command.args(["-c", "ulimit -f 2; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_dsh")]);
    command.args(["--root", "ws", "call", "write", &arguments]);
    let ran = Ran::of(command.output().unwrap());
    assert!(ran.code == 1 && ran.error().contains("FS_IO_ERROR"), "{ran:?}");
    let left: Vec<_> =
        std::fs::read_dir(world.path("ws")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(
        !left.iter().any(|name| name == "big.txt" || name.to_string_lossy().starts_with(".dsh-")),
        "{left:?}"
    );
}

/// A limit on the size of files does to a write what a full disk does: it fails with a piece of the line written.
#[test]
fn a_log_that_can_not_grow_stops_the_turn_and_stays_sound() {
    let world = hello();
    let calls = array![call("c1", "write", object! { "file_path": "a.txt", "content": "x" })];
    world.script("long.json", array![object! { "text": "words ".repeat(200), "toolCalls": calls }]);
    for (session, json) in [("one.jsonl", false), ("two.jsonl", true)] {
        let mut command = Command::new("/bin/sh");
        world.prepare(&mut command);
        command.args(["-c", "ulimit -f 2; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_dsh")]);
        command.args(["--root", "ws", "run", "--model", "script:long.json", "--session", session, "go"]);
        if json {
            command.arg("--json");
        }
        let ran = Ran::of(command.output().unwrap());
        assert_eq!(ran.code, 4, "{ran:?}");
        assert!(ran.error().contains(session) && ran.error().contains("File too large"), "{ran:?}");
        assert!(!world.path("ws/a.txt").exists(), "it went on without a log");

        let found = verdict(&world, &world.path(session));
        assert_eq!(found.get("ok"), Some(&true.into()), "{found}");
        world.dsh(["run", "--model", "script:s.json", "--session", session, "go"]).done();
        assert_eq!(verdict(&world, &world.path(session)).get("openTurn"), None::<&Json>);
    }
}
