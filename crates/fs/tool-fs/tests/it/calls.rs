//! Calls as a model makes them.

use std::num::NonZeroU64;

use dsh_lifecycle::Cause;
use dsh_sandbox_policy::SandboxMode;
use dsh_tool_fs::FsToolsConfig;
use dsh_tools_core::{CallInput, Json, object};

use crate::world::World;

fn file(path: &str) -> Json {
    object! { "file_path": path }
}

fn content(path: &str, content: &str) -> Json {
    object! { "file_path": path, "content": content }
}

#[tokio::test]
async fn what_goes_wrong_says_what_to_do_next() {
    let world = World::new();
    world.put("a", "one\ntwo\n");
    world.put("d/b", "");
    world.put("bin", b"\0");
    let dir = world.dir();
    std::os::unix::fs::symlink("/etc/passwd", dir.join("out")).unwrap();
    let rows = [
        ("read", file("none")),
        ("read", file("d")),
        ("read", file("a/b")),
        ("read", file("bin")),
        ("read", file("out")),
        ("read", file("../other")),
        ("read", file(" ")),
        ("read", object! { "file_path": "a", "offset": 3 }),
        ("read", object! { "file_path": "a", "offset": 0 }),
        ("read", object! { "file_path": "a", "limit": 2001 }),
        ("read", object! { "file_path": "a", "limit": Json::try_from(1.5).unwrap() }),
        ("read", object! { "file_path": "a", "column": -1 }),
        ("write", content("", "x")),
        ("write", content("d", "x")),
        ("write", content("a/b", "x")),
        ("write", content("out", "x")),
        ("write", content("/etc/dsh-no-such", "x")),
        ("write", object! { "file_path": "a", "content": "x", "sandbox_permissions": "danger-full-access" }),
    ];
    let mut said = Vec::new();
    for (tool, arguments) in rows {
        let text = world.text(tool, arguments.clone()).await;
        said.push(format!("{tool} {arguments}\n  {text}"));
    }
    insta::assert_snapshot!(said.join("\n"));
    assert_eq!(std::fs::read_to_string(dir.join("a")).unwrap(), "one\ntwo\n");
}

#[tokio::test]
async fn a_read_only_session_reads_and_does_not_write() {
    let world = World::with(SandboxMode::ReadOnly, FsToolsConfig::default());
    world.put("a", "x");
    assert!(!world.call("read", file("a")).await.is_error());
    let denied = world.call("write", content("a", "y")).await;
    assert_eq!(denied.error().and_then(|error| error.code()), Some("FS_SANDBOX_DENIED"));
    assert_eq!(std::fs::read_to_string(world.dir().join("a")).unwrap(), "x");
}

/// Reads a file to its end, always going on as the last result says. Returns the text and the number of calls.
async fn read_all(world: &World, path: &str) -> (String, usize) {
    let (mut text, mut calls, mut offset, mut column) = (String::new(), 0, 1, 1);
    loop {
        calls += 1;
        let result =
            world.call("read", object! { "file_path": path, "offset": offset, "column": column }).await;
        let value = result.value().unwrap_or_else(|| panic!("{result:?}"));
        let lines = value.get("lines").and_then(Json::as_array).unwrap();
        assert!(!lines.is_empty() && calls < 10_000);
        let line = lines[0].get("text").and_then(Json::as_str).unwrap();
        if let Some((shown, mark)) = line.split_once("… [line cut") {
            text.push_str(shown);
            assert!(mark.contains(&format!("offset {offset}, limit 1")), "{mark}");
            column = mark.rsplit_once("column ").unwrap().1.trim_end_matches(']').parse().unwrap();
            continue;
        }
        // Only the first line is of use when it was gone on with; the rest follows from its own offset.
        let take = if column > 1 { 1 } else { lines.len() };
        for line in &lines[..take] {
            let line = line.get("text").and_then(Json::as_str).unwrap();
            if line.contains("… [line cut") {
                break;
            }
            text.push_str(line);
            text.push('\n');
            offset += 1;
        }
        column = 1;
        if value.get("totalLines").and_then(Json::as_u64).unwrap() < offset {
            return (text, calls);
        }
    }
}

#[tokio::test]
async fn following_the_advice_reads_everything_and_ends() {
    let small = |number| NonZeroU64::new(number).unwrap();
    let config = FsToolsConfig {
        read_max_line_length: small(700),
        read_max_bytes: small(900),
        ..FsToolsConfig::default()
    };
    let world = World::with(SandboxMode::ReadOnly, config);
    let long = "x路😀".repeat(1000);
    let text = format!("short\n{long}\n\n{long}\n{}end\n", "a line of some length\n".repeat(100));
    world.put("a", &text);
    let (read, calls) = read_all(&world, "a").await;
    assert!(read == text && calls < 60, "{calls}");
}

#[tokio::test]
async fn one_line_of_five_megabytes_is_shown_in_part_with_a_way_on() {
    let world = World::new();
    world.put("a.json", format!("[{}]", "1234567,".repeat(625_000)));
    let text = world.text("read", file("a.json")).await;
    assert!(text.len() < 2500 && text.contains("offset 1, limit 1, column 2001]"), "{text}");
    let rest = world.text("read", object! { "file_path": "a.json", "limit": 1, "column": 4_999_999 }).await;
    assert!(rest.contains("\n1: 67,]\n"), "{rest}");
}

#[tokio::test]
async fn names_with_breaks_and_of_other_scripts_are_names() {
    let world = World::new();
    for name in ["line\nbreak", "路径/文件.txt", "sp ace ", "-dash", "quote\"'"] {
        assert!(!world.call("write", content(name, "x\n")).await.is_error(), "{name}");
        let text = world.text("read", file(name)).await;
        assert_eq!(text.lines().count(), 7, "{text}");
        let result = world.call("read", file(name)).await;
        assert_eq!(result.value().and_then(|value| value.get("totalLines")).and_then(Json::as_u64), Some(1));
    }
}

#[tokio::test]
async fn a_cancelled_call_touches_nothing() {
    let world = World::new();
    let call = CallInput::new("c", "write", content("new/a", "x"));
    call.cancel.cancel(Cause::User);
    let result = world.tools.execute(call).await;
    assert_eq!(result.error().and_then(|error| error.code()), Some("ABORTED_BEFORE_DISPATCH"));
    assert_eq!(std::fs::read_dir(world.dir()).unwrap().count(), 0);
}
