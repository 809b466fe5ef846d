//! A crate from outside: the steps of the cookbook, performed from top to bottom.

use std::path::Path;
use std::process::Command;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

#[test]
fn the_steps_of_add_a_tool_lead_where_the_page_says() {
    let page = std::fs::read_to_string(format!("{ROOT}/docs/cookbook/add-a-tool.md")).unwrap();
    let outside = tempfile::tempdir().unwrap();
    // The same versions as here, which are on this machine already.
    std::fs::copy(format!("{ROOT}/Cargo.lock"), outside.path().join("Cargo.lock")).unwrap();
    let mut commands = 0;
    for Block { file, language, text } in blocks(&page) {
        match (file, language) {
            (Some(file), _) => write(&outside.path().join(file), &text.replace("../dsh", ROOT)),
            (None, "sh") => {
                let said = cargo(outside.path(), text.trim_end());
                let passed = said.lines().filter(|line| line.ends_with(" ... ok")).count();
                let tests = page.lines().filter(|line| line.starts_with("#[") && line.contains("test"));
                assert_eq!(passed, tests.count(), "{said}");
                commands += 1;
            }
            (None, "console") => {
                let (command, shown) = text.split_once('\n').unwrap();
                assert_eq!(cargo(outside.path(), command.strip_prefix("$ ").unwrap()), shown);
                commands += 1;
            }
            (None, _) => panic!("the line before a block names its file, as in `src/lib.rs`:\n{text}"),
        }
    }
    assert_eq!(commands, 2);
    // It has another path in each run; what it depends on stays built.
    cargo(outside.path(), "cargo clean --quiet --package tool-wait");
}

/// What stands between two fences.
struct Block<'a> {
    /// What the line before it names.
    file: Option<&'a str>,
    language: &'a str,
    text: &'a str,
}

fn blocks(page: &str) -> Vec<Block<'_>> {
    let parts: Vec<_> = page.split("```").collect();
    let (pairs, _) = parts.as_chunks();
    pairs
        .iter()
        .map(|[prose, block]| {
            let line = prose.trim_end().lines().last().unwrap_or_default();
            let (language, text) = block.split_once('\n').unwrap();
            Block { file: line.strip_prefix('`').and_then(|line| line.strip_suffix("`:")), language, text }
        })
        .collect()
}

fn write(file: &Path, text: &str) {
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, text).unwrap();
}

/// What the command prints.
fn cargo(folder: &Path, command: &str) -> String {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(command.strip_prefix("cargo ").unwrap().split(' ')).current_dir(folder);
    // Shared with the crate from outside that `dsh-tools-core` builds.
    cargo.env("CARGO_TARGET_DIR", concat!(env!("CARGO_TARGET_TMPDIR"), "/outside"));
    cargo.env("CARGO_INCREMENTAL", "0").env("CARGO_PROFILE_DEV_DEBUG", "false");
    let output = cargo.env("CARGO_NET_OFFLINE", "true").env("CARGO_TERM_COLOR", "never").output().unwrap();
    let (stdout, stderr) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command}: {stdout}{stderr}");
    stdout
}
