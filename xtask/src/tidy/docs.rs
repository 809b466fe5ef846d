//! Prose: that what it names exists, and that it stays short.

use std::collections::BTreeSet;

use crate::report::Finding;
use crate::tree::{File, Tree};

/// Pages, or folders of pages, with the words that each may have. Fenced blocks do not count.
const LIMITS: &[(&str, usize)] = &[
    ("ARCHITECTURE.md", 1_500),
    ("docs/glossary.md", 1_000),
    ("docs/security.md", 1_500),
    ("docs/style.md", 1_500),
    ("docs/testing.md", 800),
    ("docs/cookbook/", 300),
    ("docs/decisions/", 300),
];

pub(super) fn findings(tree: &Tree) -> Vec<Finding> {
    let mut findings: Vec<Finding> =
        tree.prose().flat_map(|page| length(page).into_iter().chain(links(tree, page))).collect();
    if let Some(map) = tree.file("ARCHITECTURE.md") {
        findings.extend(map_names(tree, map));
    }
    if let Some(glossary) = tree.file("docs/glossary.md") {
        findings.extend(glossary_names(tree, glossary));
    }
    findings
}

fn length(page: &File) -> Option<Finding> {
    let (_, limit) = LIMITS
        .iter()
        .find(|(path, _)| page.path == *path || (path.ends_with('/') && page.path.starts_with(path)))?;
    let words = unfenced(&page.text)
        .flat_map(|(_, line)| line.split_whitespace())
        .filter(|word| word.contains(char::is_alphanumeric))
        .count();
    (words > *limit).then(|| {
        Finding::new(
            &page.path,
            format!("has {words} words, {limit} at most"),
            "cut what code or a test says already",
        )
    })
}

/// Links to places in the repository must lead somewhere.
fn links(tree: &Tree, page: &File) -> Vec<Finding> {
    let folder = page.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut findings = Vec::new();
    for (number, line) in unfenced(&page.text) {
        for target in
            line.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target)
        {
            let path = target.split('#').next().unwrap_or_default();
            if path.is_empty() || target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            if !tree.exists(format!("{folder}/{path}").trim_start_matches('/')) {
                let problem = format!("links to `{target}`, which does not exist");
                findings.push(Finding::new(&page.path, problem, "mend the link or drop it").at(number));
            }
        }
    }
    findings
}

/// Crates and paths that the map names in backticks must exist. A path may start at the root or at a crate.
fn map_names(tree: &Tree, map: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut in_crate_table = false;
    let mut before = "";
    for (number, line) in unfenced(&map.text) {
        let mut absent = |problem: String| {
            findings.push(Finding::new(&map.path, problem, "name what is there now").at(number));
        };
        // A table about crates has them in its first column.
        if line.starts_with("|--") || line.starts_with("| --") {
            in_crate_table =
                before.split('|').nth(1).is_some_and(|cell| cell.to_lowercase().contains("crate"));
        } else if !line.starts_with('|') {
            in_crate_table = false;
        } else if in_crate_table {
            for name in spans(line.split('|').nth(1).unwrap_or_default()) {
                if tree.crate_called(name).is_none() && !name.contains('/') {
                    absent(format!("names the crate `{name}`, which does not exist"));
                }
            }
        }
        for name in spans(line) {
            if is_path(name) && !path_exists(tree, name) {
                absent(format!("names the path `{name}`, which does not exist"));
            } else if name.starts_with("dsh-") && is_kebab(name) && tree.crate_called(name).is_none() {
                absent(format!("names the crate `{name}`, which does not exist"));
            }
        }
        before = line;
    }
    findings
}

/// The Rust names in the third column must occur in the sources.
fn glossary_names(tree: &Tree, glossary: &File) -> Vec<Finding> {
    let words: BTreeSet<&str> = tree.sources().flat_map(|(_, source)| words_of(&source.code)).collect();
    let mut findings = Vec::new();
    for (number, line) in unfenced(&glossary.text).filter(|(_, line)| line.starts_with('|')) {
        for name in spans(line.split('|').nth(3).unwrap_or_default()) {
            let known = tree.crate_called(name).is_some()
                || path_exists(tree, name)
                || words_of(name).all(|word| words.contains(word));
            if !known {
                findings.push(
                    Finding::new(
                        &glossary.path,
                        format!("gives the Rust name `{name}`, which no source has"),
                        "give the name as it is spelt in the sources",
                    )
                    .at(number),
                );
            }
        }
    }
    findings
}

/// The lines outside fenced blocks, numbered from 1.
fn unfenced(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        fenced ^= is_fence;
        !fenced && !is_fence
    })
}

/// What stands between backticks.
fn spans(line: &str) -> impl Iterator<Item = &str> {
    let closed = line.matches('`').count() / 2;
    line.split('`').skip(1).step_by(2).take(closed)
}

fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

fn is_path(name: &str) -> bool {
    name.contains('/')
        && !name.starts_with('/')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-'))
}

fn path_exists(tree: &Tree, name: &str) -> bool {
    tree.exists(name)
        || name.split_once('/').is_some_and(|(first, rest)| {
            tree.crate_called(first).is_some_and(|member| tree.exists(&format!("{}/{rest}", member.folder)))
        })
}

fn is_kebab(name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}
