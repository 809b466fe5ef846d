//! `cargo xtask e2e [kill|interrupt]…`: stops the program at many places of a run, and looks at what is left.
//!
//! The stories are tests of the program, which run a slice of their rounds among the others; the task asks for all of
//! them. The last line of each is `N of N`.

use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, Result, bail};

use crate::command;
use crate::report::Verdict;

/// A story: what is typed, and the test that tells it.
const STORIES: [(&str, &str); 2] = [
    ("kill", "kills::a_run_killed_after_any_line_keeps_every_event_that_it_printed"),
    ("interrupt", "storms::a_thousand_calls_interrupted_anywhere_leave_a_request_that_can_be_made"),
];

/// Runs the stories that are named, or all; passed when every round has.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<Verdict> {
    if let Some(unknown) = arguments.iter().find(|name| STORIES.iter().all(|(story, _)| story != name)) {
        bail!("no story is called {unknown:?}; there are `kill` and `interrupt`");
    }
    let mut passed = true;
    for (story, test) in STORIES {
        if arguments.is_empty() || arguments.iter().any(|name| name == story) {
            passed &= told(root, story, test)?;
        }
    }
    Ok(Verdict::of(passed))
}

/// Runs all rounds of one story, and prints how many passed.
fn told(root: &Path, story: &str, test: &str) -> Result<bool> {
    let words = ["test", "--quiet", "--package", "dsh", "--test", "it", "--", "--exact", "--nocapture", test];
    let mut command = command::cargo(root, words);
    command.env("DSH_E2E", "all").stdout(Stdio::piped());
    command::announce(&command);
    let child = command.spawn().context("starting cargo")?;
    let output = child.wait_with_output().context("waiting for cargo")?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let Some(counted) = printed.lines().rev().find(|line| is_count(line)) else {
        bail!("{story}: no round was run; see above, or look for the test `{test}`");
    };
    println!("{counted}");
    Ok(output.status.success())
}

/// Whether a line is `N of N`.
fn is_count(line: &str) -> bool {
    let number = |text: &str| text.parse::<u32>().is_ok();
    line.split_once(" of ").is_some_and(|(passed, all)| number(passed) && number(all))
}
