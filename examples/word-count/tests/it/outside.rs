//! Crates from outside: the steps of each page of the cookbook, performed from top to bottom.

use std::fs::File;
use std::path::Path;
use std::process::Command;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
/// Shared by the pages, and with the crate from outside that `dsh-tools-core` builds.
const TARGET: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/outside");

#[test]
fn the_steps_of_add_a_tool_lead_where_the_page_says() {
    perform("add-a-tool", 2);
}

#[test]
fn the_steps_of_write_a_policy_lead_where_the_page_says() {
    perform("write-a-policy", 2);
}

/// Writes the files of a page and runs its commands; there are as many as `commands` says.
#[expect(clippy::panic, reason = "a page that is written wrong fails its test")]
fn perform(page: &str, commands: usize) {
    // One page after the other, whatever process it is in: their programs have the same name in the target directory.
    let turn = File::create(format!("{TARGET}.lock")).unwrap();
    turn.lock().unwrap();
    let page = std::fs::read_to_string(format!("{ROOT}/docs/cookbook/{page}.md")).unwrap();
    let outside = tempfile::tempdir().unwrap();
    // The same versions as here, which are on this machine already.
    std::fs::copy(format!("{ROOT}/Cargo.lock"), outside.path().join("Cargo.lock")).unwrap();
    let mut performed = 0;
    for Block { file, language, text } in blocks(&page) {
        match (file, language) {
            (Some(file), _) => write(&outside.path().join(file), &text.replace("../dsh", ROOT)),
            (None, "sh") => {
                let said = cargo(outside.path(), text.trim_end());
                let passed = said.lines().filter(|line| line.ends_with(" ... ok")).count();
                let tests = page.lines().filter(|line| line.starts_with("#[") && line.contains("test"));
                assert_eq!(passed, tests.count(), "{said}");
                performed += 1;
            }
            (None, "console") => {
                let (command, shown) = text.split_once('\n').unwrap();
                assert_eq!(cargo(outside.path(), command.strip_prefix("$ ").unwrap()), shown);
                performed += 1;
            }
            (None, _) => panic!("the line before a block names its file, as in `src/lib.rs`:\n{text}"),
        }
    }
    assert_eq!(performed, commands);
    // It has another path in each run; what it depends on stays built.
    let name = page.lines().find_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"')).unwrap();
    cargo(outside.path(), &format!("cargo clean --quiet --package {name}"));
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
    cargo.env("CARGO_TARGET_DIR", TARGET);
    cargo.env("CARGO_INCREMENTAL", "0").env("CARGO_PROFILE_DEV_DEBUG", "false");
    let output = cargo.env("CARGO_NET_OFFLINE", "true").env("CARGO_TERM_COLOR", "never").output().unwrap();
    let (stdout, stderr) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command}: {stdout}{stderr}");
    stdout
}
