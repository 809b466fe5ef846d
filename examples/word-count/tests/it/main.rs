//! The program, on a workspace of its own.
#![expect(clippy::unwrap_used, reason = "a test that can't set up its scene fails")]

mod outside;

use std::process::Command;

#[test]
fn words_are_counted() {
    check("", "a rose is a rose", Ok("Words: 5\n2 × a\n2 × rose\n1 × is\n"));
}

#[test]
fn the_configuration_decides_what_counts_and_what_is_listed() {
    check("[word-count]\nminLength = 2\nmaxWords = 1", "a rose is a rose", Ok("Words: 3\n2 × rose\n"));
}

#[test]
fn a_configuration_that_nobody_understands_is_refused_with_its_place() {
    check(
        "[word-count]\nminLengths = 2",
        "a rose",
        Err("dsh.toml:2:1: word-count.minLengths: unknown field"),
    );
    check("[word-count]\nmaxWords = 0", "a rose", Err("dsh.toml:2:12: word-count.maxWords: invalid value"));
}

/// Runs the program in a directory with this `dsh.toml`. `Err` is a part of what it says when it fails.
fn check(config: &str, text: &str, expected: Result<&str, &str>) {
    let workspace = tempfile::tempdir().unwrap();
    std::fs::write(workspace.path().join("dsh.toml"), config).unwrap();
    let mut program = Command::new(env!("CARGO_BIN_EXE_word-count"));
    let output = program.arg(text).current_dir(workspace.path()).output().unwrap();
    let (stdout, stderr) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    match expected {
        Ok(expected) => assert_eq!((stdout.as_str(), stderr.as_str()), (expected, "")),
        Err(expected) => assert!(!output.status.success() && stderr.contains(expected), "{stderr}"),
    }
}
