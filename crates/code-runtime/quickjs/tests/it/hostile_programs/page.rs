//! The list of programs in `docs/security.md`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use dsh_code_runtime::Isolation;

use super::fixture::{End, Fixture};

#[test]
fn the_page_lists_every_program() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/security.md");
    let page = std::fs::read_to_string(page).unwrap();
    let all = Fixture::all();
    let everywhere = all.iter().filter(|fixture| fixture.ends.len() == 2).count();
    let list = format!(
        "```text\n{} programs, {everywhere} of them in both places, {} in workers alone\n{}```\n",
        all.len(),
        all.len() - everywhere,
        list(&all)
    );
    assert!(page.contains(&list), "the list of docs/security.md should be:\n{list}");
}

/// The programs below their classes and the ways in which they end.
fn list(all: &[Fixture]) -> String {
    let mut text = String::new();
    let headings: BTreeSet<_> = all.iter().map(heading).collect();
    for under in headings {
        // Writing to a `String` can't fail.
        let _ = writeln!(text, "\n{under}");
        for fixture in all.iter().filter(|fixture| heading(fixture) == under) {
            let _ = writeln!(text, "  {:<46} {}", format!("{}.ts", fixture.name), fixture.what);
        }
    }
    text
}

fn heading(fixture: &Fixture) -> String {
    let end = |place: Isolation| {
        fixture.ends.get(place.name()).map(|end| match end {
            End::Failed(kind) => kind.name(),
            End::Value(_) => "has its value",
        })
    };
    let ends = match (end(Isolation::Thread), end(Isolation::Process)) {
        (Some(thread), Some(process)) if thread != process => {
            format!(": {thread} on a thread, {process} in a worker")
        }
        (Some(end), _) => format!(": {end}"),
        (None, process) => format!(", in workers alone: {}", process.unwrap_or("nowhere")),
    };
    let wrong = if fixture.fixme { ", which is wrong" } else { "" };
    format!("{}{ends}{wrong}", fixture.class())
}
