//! `call`.

use std::io::Write as _;
use std::process::Stdio;

use dsh_json::{Json, array, object};

use crate::world::{Ran, World, assert_closed};

#[test]
fn a_call_prints_its_content() {
    let world = World::new();
    world.file("ws/a.txt", "alpha\n");
    let ran = world.dsh(["call", "read", r#"{"file_path":"a.txt"}"#]).done();
    let path = world.path("ws/a.txt");
    let expected = format!(
        "<path>{}</path>\n<type>file</type>\n<content>\n1: alpha\n\n(End of the file, 1 line in all.)\n</content>\n",
        path.display()
    );
    assert_eq!(ran.out, expected);
    assert_eq!(ran.err, "● Read a.txt\n✓ Read a.txt  1 line\n  1  alpha\n");
    assert!(world.fresh_logs().is_empty(), "its log stays in memory");
}

#[test]
fn a_call_gives_programs_its_value() {
    let world = World::new();
    let ran = world.dsh(["--json", "call", "write", r#"{"file_path":"a.txt","content":"x"}"#]).done();
    let answer = ran.json();
    let keys: Vec<_> = answer.as_object().unwrap().keys().map(|key| &**key).collect();
    assert_eq!(keys, ["isError", "content", "value", "meta"]);
    let path = world.path("ws/a.txt").display().to_string();
    let value = object! { "path": path, "operation": "create", "before": Json::Null, "after": "x" };
    assert_eq!(answer.get("value"), Some(&value));
    assert_eq!(ran.err, "");
    assert_eq!(world.text("ws/a.txt"), "x");
}

#[test]
fn a_failed_call_is_coded() {
    let world = World::new();
    let check = |tool: &str, arguments: &str, exit: i32, code: &str| {
        let ran = world.dsh(["call", tool, arguments]);
        assert_eq!(ran.code, exit, "{ran:?}");
        assert!(ran.error().ends_with(&format!("({code})")), "{ran:?}");
        assert_eq!(
            ran.out.trim_end(),
            format!("Error: {}", ran.error().strip_suffix(&format!(" ({code})")).unwrap())
        );

        let ran = world.dsh(["call", "--json", tool, arguments]);
        assert_eq!(ran.code, exit, "{ran:?}");
        let answer = ran.json();
        assert_eq!(answer.get("isError"), Some(&true.into()));
        assert_eq!(answer.get("value"), None);
        let error = answer.get("error").unwrap();
        assert_eq!(error.get("code").unwrap().as_str(), Some(code));
        assert!(error.get("name").unwrap().as_str().unwrap().ends_with("Error"));
        assert!(ran.error().starts_with(error.get("message").unwrap().as_str().unwrap()));
    };
    check("raed", "{}", 1, "UNKNOWN_TOOL");
    check("read", "{", 1, "INVALID_ARGS");
    check("read", r#"{"file_path": 1}"#, 1, "INVALID_ARGS");
    check("read", r#"{"file_path": "none"}"#, 1, "FS_NOT_FOUND");
    check("read", r#"{"file_path": "/etc/passwd"}"#, 3, "FS_SANDBOX_DENIED");
    check("write", r#"{"file_path": "../a", "content": ""}"#, 3, "FS_SANDBOX_DENIED");
}

#[test]
fn arguments_come_from_stdin_too() {
    let world = World::new();
    world.file("ws/a.txt", "alpha\n");
    let mut child = world.command(["call", "--json", "glob", "-"]).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(br#"{"pattern": "*.txt"}"#).unwrap();
    let ran = Ran::of(child.wait_with_output().unwrap()).done();
    assert_eq!(ran.json().get("isError"), Some(&false.into()));
}

#[test]
fn a_call_in_a_session_is_a_turn_that_says_who_made_it() {
    let world = World::new();
    world.file("ws/a.txt", "alpha\n");
    for _ in 0..2 {
        world.dsh(["call", "--session", "one.jsonl", "--seed", "1", "glob", r#"{"pattern": "*"}"#]).done();
    }
    assert_closed(&world, &world.path("one.jsonl"));
    let replayed = world.dsh(["replay", "one.jsonl"]).done().out;
    let said = "◦ This call was made with `dsh call`, not by a model.\n";
    assert_eq!(replayed.matches(said).count(), 2, "{replayed}");
    let cards = world.dsh(["replay", "--json", "one.jsonl"]).done().lines();
    let kinds: Vec<_> = cards.iter().map(|card| card.get("type").unwrap().clone()).collect();
    assert_eq!(Json::from(kinds), array!["said", "call", "result", "said", "call", "result"]);
}
