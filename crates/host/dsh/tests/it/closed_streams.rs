//! Whoever reads may stop at any time; the log is completed all the same.

use std::fs::File;
use std::process::{Child, Command, Stdio};

use dsh_json::{array, object};

use crate::world::{Ran, World, assert_closed, call};

fn world() -> World {
    let world = World::new();
    let calls = array![call("c1", "glob", object! { "pattern": "*" })];
    let text = "words ".repeat(50_000);
    world
        .script("s.json", array![object! { "text": &*text, "toolCalls": calls }, object! { "text": &*text }]);
    world
}

/// Runs with a stdout whose reader is gone.
fn unread(mut command: Command) -> Ran {
    let mut child: Child = command.spawn().unwrap();
    drop(child.stdout.take());
    Ran::of(child.wait_with_output().unwrap())
}

#[test]
fn a_closed_stdout_ends_quietly() {
    let world = world();
    for (session, mode) in [("one.jsonl", "--json"), ("two.jsonl", "-v")] {
        let run = ["run", "--model", "script:s.json", "--session", session, mode, "go"];
        let ran = unread(world.command(run)).done();
        assert!(ran.err.ends_with(&format!("log: {session}\n")), "{ran:?}");
        assert_closed(&world, &world.path(session));
        unread(world.command(["replay", session])).done();
        unread(world.command(["replay", "--json", session])).done();
        unread(world.command(["verify", session])).done();
    }
    for command in
        [&["tools"][..], &["tools", "--json"], &["plugins"], &["call", "glob", r#"{"pattern":"*"}"#]]
    {
        unread(world.command(command)).done();
    }
}

#[test]
fn a_full_stdout_is_told() {
    let world = world();
    for command in [
        &["tools"][..],
        &["run", "--json", "--model", "script:s.json", "--session", "one.jsonl", "go"],
        &["run", "--model", "script:s.json", "--session", "one.jsonl", "go"],
    ] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let ran = Ran::of(world.command(command).stdout(Stdio::from(full)).output().unwrap());
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.error().contains("standard output"), "{ran:?}");
    }
    assert_closed(&world, &world.path("one.jsonl"));
}

#[test]
fn a_closed_stderr_changes_nothing() {
    let world = world();
    let mut command = world.command(["run", "--model", "script:s.json", "--session", "one.jsonl", "go"]);
    let mut child = command.spawn().unwrap();
    drop(child.stderr.take());
    let ran = Ran::of(child.wait_with_output().unwrap());
    assert_eq!((ran.code, ran.out.len()), (0, 300_001));
    assert_closed(&world, &world.path("one.jsonl"));
}
