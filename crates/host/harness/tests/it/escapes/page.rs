//! The list of attempts in `docs/security.md`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use dsh_harness::SandboxMode;

use super::attempts::{Attempt, EVERY, End, With, attempts, by_rules};
use super::race::ROUNDS;

#[test]
fn the_page_lists_every_attempt() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/security.md");
    let page = std::fs::read_to_string(page).unwrap();
    let attempts: Vec<_> = attempts().into_iter().chain(by_rules()).collect();
    let calls = |attempt: &Attempt, which: fn(&End) -> bool| {
        let ends = attempt.ends.iter().filter(|(_, end)| which(end));
        ends.map(|(tools, _)| tools.len()).sum::<usize>()
    };
    let refused: usize =
        attempts.iter().map(|attempt| calls(attempt, |end| matches!(end, End::Code(_) | End::Refused))).sum();
    assert!(refused >= 40, "{refused} calls are refused");
    let all: usize = attempts.iter().map(|attempt| calls(attempt, |_| true)).sum();
    let list = format!(
        "```text\n{} attempts, {all} calls, {refused} of them refused; and a race of {ROUNDS} calls\n{}```\n",
        attempts.len(),
        list(&attempts)
    );
    assert!(page.contains(&list), "the list of docs/security.md should be:\n{list}");
}

/// The attempts below the ways in which they end.
fn list(attempts: &[Attempt]) -> String {
    let (mut text, mut listed) = (String::new(), BTreeSet::new());
    for end in attempts.iter().map(heading) {
        if !listed.insert(end.clone()) {
            continue;
        }
        // Writing to a `String` can't fail.
        let _ = writeln!(text, "\n{end}");
        for attempt in attempts.iter().filter(|attempt| heading(attempt) == end) {
            let with = match attempt.with {
                With::Path(path) => format!("{path:?}"),
                With::Arguments(arguments) => arguments.to_owned(),
            };
            let _ = writeln!(text, "  {:<50} {with}", attempt.what);
        }
    }
    text
}

fn heading(attempt: &Attempt) -> String {
    let ends = attempt.ends.iter().map(|(tools, end)| {
        let tools = if *tools == EVERY { "every tool".to_owned() } else { tools.join(", ") };
        let end = match end {
            End::Code(code) => code,
            End::Refused => "refused in words",
            End::Nothing => "nothing found",
            End::Inside => "stays inside",
        };
        format!("{tools}: {end}")
    });
    let ends = ends.collect::<Vec<_>>().join("; ");
    match attempt.mode {
        SandboxMode::WorkspaceWrite => ends,
        SandboxMode::ReadOnly | SandboxMode::DangerFullAccess => format!("{ends} (under {})", attempt.mode),
    }
}
