//! Rust files one by one: size, opening comment, words that are not used here, and `unsafe`.

use crate::report::Finding;
use crate::source::Source;
use crate::tree::{File, Tree};

const MAX_LINES: usize = 600;
const MAX_LIB_LINES: usize = 80;

/// What code never says, and what it says instead.
const FORBIDDEN: &[(&str, &str)] = &[
    ("#[ignore", "mend the test or delete it"),
    ("#[should_panic", "assert the error that is returned"),
    ("#[allow(", "write `#[expect(lint, reason = \"…\")]`"),
    ("#![allow(", "write `#![expect(lint, reason = \"…\")]`"),
    ("todo!(", "finish it, or leave the whole thing out"),
    ("unimplemented!(", "finish it, or leave the whole thing out"),
];

/// The crates that may be unsafe, each with what for.
const UNSAFE_CRATES: &[(&str, &str)] = &[
    ("dsh-quickjs", "counts the memory that it gives the engine"),
    ("dsh-worker", "closes descriptors that it did not open; its tests ask the kernel for what it refuses"),
];

pub(super) fn findings(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, source) in tree.sources() {
        findings.extend(size(file));
        findings.extend(opening(tree, file));
        findings.extend(words(file, source));
        findings.extend(ownerless(file, source));
        findings.extend(unsafety(tree, file, source));
    }
    findings
}

fn size(file: &File) -> Option<Finding> {
    let lines = file.text.lines().count();
    let (limit, remedy) = if file.path.ends_with("src/lib.rs") {
        (MAX_LIB_LINES, "lib.rs holds the crate's comment, its modules and its exports: move the rest")
    } else {
        (MAX_LINES, "split it by thought, not by size; tests go to a file beside it")
    };
    (lines > limit).then(|| Finding::new(&file.path, format!("has {lines} lines, {limit} at most"), remedy))
}

fn opening(tree: &Tree, file: &File) -> Option<Finding> {
    let (_, inside) = tree.crate_of(&file.path)?;
    let is_test = inside.ends_with("/tests.rs") || inside.contains("/tests/");
    let wanted = inside.starts_with("src/") && !is_test;
    (wanted && !file.text.starts_with("//!")).then(|| {
        Finding::new(
            &file.path,
            "does not open with `//!`",
            "say first what the file is for, and what it is not",
        )
        .at(1)
    })
}

fn words(file: &File, source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, line) in (1..).zip(source.code.lines()) {
        for (word, remedy) in FORBIDDEN {
            if line.match_indices(word).any(|(at, _)| !ends_in_word(line.get(..at).unwrap_or_default())) {
                findings.push(Finding::new(&file.path, format!("says `{word}`"), *remedy).at(number));
            }
        }
    }
    findings
}

fn ownerless(file: &File, source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, line) in (1..).zip(source.comments.lines()) {
        for (at, word) in line.match_indices("TODO") {
            let (before, after) = (line.get(..at), line.get(at + word.len()..));
            let is_word = !ends_in_word(before.unwrap_or_default());
            if is_word
                && !after.is_some_and(|after| after.starts_with(char::is_alphanumeric) || has_owner(after))
            {
                findings.push(
                    Finding::new(&file.path, "a TODO has no owner", "do it, or write `TODO(name): …`")
                        .at(number),
                );
            }
        }
    }
    findings
}

fn has_owner(after: &str) -> bool {
    after
        .strip_prefix('(')
        .and_then(|rest| rest.split_once(')'))
        .is_some_and(|(owner, _)| !owner.trim().is_empty())
}

fn unsafety(tree: &Tree, file: &File, source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    let owner = tree.crate_of(&file.path).map_or("", |(member, _)| member.name.as_str());
    for (number, line) in (1..).zip(source.code.lines()) {
        let Some(after) = after_unsafe(line) else { continue };
        let found = |problem: String, remedy: &str| Finding::new(&file.path, problem, remedy).at(number);
        if !UNSAFE_CRATES.iter().any(|(name, _)| *name == owner) {
            findings.push(found(
                format!("`unsafe` in {owner}, which is not on the list"),
                "find a safe crate for it, or put this one on the list in xtask with a reason",
            ));
        }
        let asserts = !after.starts_with("fn") && !after.starts_with("extern");
        if asserts && !is_justified(&source.comments, number) {
            findings.push(found(
                "`unsafe` without a `SAFETY:` comment".to_owned(),
                "say above it why the contract holds",
            ));
        }
    }
    findings
}

/// What follows the keyword `unsafe` in a line of code, if it is there.
fn after_unsafe(line: &str) -> Option<&str> {
    line.match_indices("unsafe").find_map(|(at, word)| {
        let after = line.get(at + word.len()..).unwrap_or_default();
        let is_keyword = !ends_in_word(line.get(..at).unwrap_or_default())
            && !after.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        is_keyword.then(|| after.trim_start())
    })
}

/// Whether the line itself or the comment right above it says `SAFETY:`.
fn is_justified(comments: &str, number: usize) -> bool {
    let lines: Vec<&str> = comments.lines().take(number).collect();
    let mut above = lines.iter().rev();
    above.next().is_some_and(|line| line.contains("SAFETY:"))
        || above.take_while(|line| !line.trim().is_empty()).any(|line| line.contains("SAFETY:"))
}

fn ends_in_word(text: &str) -> bool {
    text.ends_with(|c: char| c.is_alphanumeric() || c == '_')
}
