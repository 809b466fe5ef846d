//! `cargo xtask test [ARGS]`: sets up what tests need, runs them, and counts.
//!
//! Without arguments: every test of the workspace, then the doctests. With arguments: what they select, passed on to
//! cargo-nextest, or to `cargo test` where nextest is not installed. The last line printed is `N passed, N failed`.

mod counts;

use std::env;
use std::fs;
use std::io::{self, BufRead, BufReader, IsTerminal, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use anyhow::{Context, Result, anyhow};

use crate::command;
use crate::report::Verdict;
use counts::{Counts, Tally};

/// Runs the tests; passed when none failed and every run came to its end.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<Verdict> {
    let setting = Setting::prepare(root)?;
    let mut total = Counts::default();
    for (name, command) in runs(root, arguments)? {
        let (succeeded, counts) = counted(setting.apply(command))?;
        if !succeeded && counts.failed == 0 {
            println!("{name}: did not come to its end, which counts as one failure");
            total.failed += 1;
        }
        total = total.plus(counts);
    }
    println!("{} passed, {} failed", total.passed, total.failed);
    Ok(Verdict::of(total.failed == 0))
}

/// What tests find around them.
struct Setting {
    ci: bool,
    state: std::path::PathBuf,
}

impl Setting {
    /// A state folder of their own, so that no test writes below the user's home by default.
    fn prepare(root: &Path) -> Result<Self> {
        let state = root.join("target").join("test-state");
        fs::create_dir_all(&state).with_context(|| format!("creating {}", state.display()))?;
        Ok(Self { ci: env::var_os("CI").is_some(), state })
    }

    fn apply(&self, mut command: Command) -> Command {
        command.env("XDG_STATE_HOME", &self.state);
        if self.ci {
            // Snapshots that differ fail, and nothing is written.
            command.env("INSTA_UPDATE", "no");
        }
        if io::stderr().is_terminal() && env::var_os("NO_COLOR").is_none() {
            command.env("CARGO_TERM_COLOR", "always");
        }
        command
    }
}

/// The commands, each with the name that a failure of the whole run is told under.
fn runs(root: &Path, arguments: &[String]) -> Result<Vec<(&'static str, Command)>> {
    let with_nextest = command::has_cargo_command(root, "nextest")?;
    let mut words: Vec<&str> = if with_nextest { vec!["nextest", "run"] } else { vec!["test"] };
    words.push("--no-fail-fast");
    if !arguments.is_empty() {
        // The program alone is what cargo takes by default.
        if !selects_packages(arguments) {
            words.push("--workspace");
        }
        words.extend(arguments.iter().map(String::as_str));
        return Ok(vec![("tests", command::cargo(root, words))]);
    }
    words.push("--workspace");
    if with_nextest {
        // A workspace without a single test is not a failure.
        words.push("--no-tests=pass");
    } else {
        words.extend(["--lib", "--bins", "--tests", "--examples"]);
    }
    Ok(vec![
        ("tests", command::cargo(root, words)),
        ("doctests", command::cargo(root, ["test", "--workspace", "--doc", "--no-fail-fast"])),
    ])
}

fn selects_packages(arguments: &[String]) -> bool {
    arguments
        .iter()
        .take_while(|argument| *argument != "--")
        .any(|argument| argument.starts_with("-p") || argument.starts_with("--package"))
}

/// Runs the command with its output passed through, and reads the counts from its summaries.
fn counted(mut command: Command) -> Result<(bool, Counts)> {
    command::announce(&command);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("starting cargo")?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (from_stdout, from_stderr) = thread::scope(|scope| {
        let errors = scope.spawn(|| watched(stderr, &mut io::stderr()));
        let outputs = watched(stdout, &mut io::stdout());
        (outputs, errors.join().map_err(|_| anyhow!("reading stderr panicked")))
    });
    let status = child.wait().context("waiting for cargo")?;
    Ok((status.success(), from_stdout?.counts().plus(from_stderr??.counts())))
}

fn watched(from: Option<impl Read>, to: &mut impl Write) -> Result<Tally> {
    let mut tally = Tally::default();
    let Some(from) = from else { return Ok(tally) };
    let mut lines = BufReader::new(from);
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line).context("reading what the tests print")? > 0 {
        to.write_all(&line).and_then(|()| to.flush()).context("passing on what the tests print")?;
        tally.read(&String::from_utf8_lossy(&line));
        line.clear();
    }
    Ok(tally)
}
