//! `cargo xtask parity`: every checklist item of the specification has a truthful answer.
//!
//! `docs/parity.toml` has one row for each numbered item of a checklist in `docs/spec`: the tests that show it, or where
//! it is decided that we do otherwise, or why it is absent. What is not built yet may stand so, as long as the part that
//! it waits for is not there.

mod answers;
mod checklist;
mod test_names;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Result, bail};

use crate::report::{self, Finding, Verdict};
use crate::tree::Tree;
use answers::{Answer, Row};
use checklist::Item;

const ANSWERS: &str = "docs/parity.toml";
const SPEC: &str = "docs/spec/";
const PLAN: &str = "docs/design.md";

/// Parts of crates that exist which an answer may wait for. A part that is built leaves this list, and its rows are
/// answered. A crate that does not exist may be waited for by the name of its folder.
const UNBUILT_PARTS: &[&str] = &[
    "hooks",
    "read_image",
    "tests", // what is built does it, and no test shows it
];

/// Where a deviation may be decided.
const DECISIONS: &[&str] = &["design §", "docs/decisions/", "spec "];

/// Checks the answers of the repository at `root`, and counts them.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<Verdict> {
    if !arguments.is_empty() {
        bail!("parity takes no arguments");
    }
    let tree = Tree::load(root)?;
    let items = items(&tree);
    let rows = match tree.file(ANSWERS) {
        Some(file) => answers::read(&file.text)?,
        None => Vec::new(),
    };
    let tests = test_names::all(&tree);
    let mut findings: Vec<Finding> = rows.iter().flat_map(|row| about_row(&tree, &tests, row)).collect();
    findings.extend(missing_and_unknown(&items, &rows));
    print!("{}", counted(&items, &rows));
    Ok(report::conclude("parity", &format!("{} items", items.len()), findings))
}

/// Every item of every checklist, by its key.
fn items(tree: &Tree) -> BTreeMap<String, Item> {
    let mut items = BTreeMap::new();
    for page in tree.prose() {
        let Some(number) = page.path.strip_prefix(SPEC).and_then(|name| name.get(..2)) else { continue };
        for item in checklist::items(&page.text) {
            items.insert(format!("{number}.{}.{}", item.section, item.number), item);
        }
    }
    items
}

fn about_row(tree: &Tree, tests: &BTreeSet<String>, row: &Row) -> Vec<Finding> {
    let at = |problem: String, remedy: &str| Finding::new(ANSWERS, problem, remedy).at(row.line);
    let key = &row.key;
    let mut findings = Vec::new();
    for word in &row.unknown {
        findings.push(at(format!("{key} has `{word}`"), "a row has item, note and one answer"));
    }
    match &row.answer {
        Answer::None | Answer::Several => {
            findings.push(at(
                format!("{key} does not have exactly one answer"),
                "give one of test, changed and absent",
            ));
        }
        Answer::Tested(names) => {
            for name in names.iter().filter(|name| !tests.contains(*name)) {
                let problem = format!("{key} names the test `{name}`, which does not exist");
                findings.push(at(problem, "name it as package::module::path::function"));
            }
            if names.is_empty() {
                findings.push(at(format!("{key} names no test"), "name one, or give another answer"));
            }
        }
        Answer::Changed(reason) => {
            if !DECISIONS.iter().any(|place| reason.contains(place)) {
                findings.push(at(
                    format!("{key} does otherwise and does not say where that is decided"),
                    "cite the decision: `design §4.5: …`",
                ));
            }
        }
        Answer::Absent(reason) => {
            if reason.trim().is_empty() {
                findings.push(at(format!("{key} is absent without a reason"), "say why it can't arise"));
            }
        }
        Answer::Unbuilt(part) => {
            if tree.crate_called(part).is_some() {
                let problem = format!("{key} waits for `{part}`, which is built");
                findings.push(at(problem, "name the test that shows it, or the part that is missing"));
            } else if !is_planned(tree, part) {
                let problem = format!("{key} waits for `{part}`, which nobody plans");
                findings
                    .push(at(problem, "name a crate of docs/design.md, or a part in xtask/src/parity.rs"));
            }
        }
    }
    findings
}

/// Whether the part is listed above, or is a folder that the house plan names.
fn is_planned(tree: &Tree, part: &str) -> bool {
    UNBUILT_PARTS.contains(&part)
        || tree
            .file(PLAN)
            .is_some_and(|plan| plan.text.split_whitespace().any(|word| word.strip_suffix('/') == Some(part)))
}

fn missing_and_unknown(items: &BTreeMap<String, Item>, rows: &[Row]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for row in rows {
        let at = |problem: String, remedy: &str| Finding::new(ANSWERS, problem, remedy).at(row.line);
        match items.get(&row.key) {
            None => findings.push(at(
                format!("{} is no item of a checklist in {SPEC}", row.key),
                "drop the row, or mend its key",
            )),
            Some(item) if !item.begins_with(&row.item) => findings.push(at(
                format!("{} is about something else now: \"{}\"", row.key, item.text),
                "read the item, answer it, and copy how it begins",
            )),
            Some(_) => {}
        }
    }
    let answered: BTreeSet<&str> = rows.iter().map(|row| row.key.as_str()).collect();
    for (key, item) in items.iter().filter(|(key, _)| !answered.contains(key.as_str())) {
        let problem = format!("has no row for {key}: \"{}\"", item.text);
        findings.push(Finding::new(ANSWERS, problem, "add it with an answer"));
    }
    findings
}

/// One line for each page of the specification, and one for all.
fn counted(items: &BTreeMap<String, Item>, rows: &[Row]) -> String {
    let mut pages: BTreeMap<&str, [usize; 4]> = BTreeMap::new();
    for row in rows.iter().filter(|row| items.contains_key(&row.key)) {
        let column = match row.answer {
            Answer::Tested(_) => 0,
            Answer::Changed(_) => 1,
            Answer::Absent(_) => 2,
            Answer::Unbuilt(_) => 3,
            Answer::None | Answer::Several => continue,
        };
        for page in [row.key.split('.').next().unwrap_or_default(), "all"] {
            if let Some(count) = pages.entry(page).or_default().get_mut(column) {
                *count += 1;
            }
        }
    }
    if pages.is_empty() {
        return String::new();
    }
    let line = |page: &str, words: [String; 4]| {
        let [tested, changed, absent, unbuilt] = words;
        format!("{page:<4} {tested:>7} {changed:>8} {absent:>7} {unbuilt:>10}\n")
    };
    let heading = line("spec", ["tested", "changed", "absent", "not built"].map(str::to_owned));
    let lines = pages.iter().map(|(page, counts)| line(page, counts.map(|count| count.to_string())));
    std::iter::once(heading).chain(lines).collect()
}
