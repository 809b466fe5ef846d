//! `cargo xtask check`: every gate, in order, each announced before it runs.
//!
//! A gate that fails does not keep the later ones from running; the last lines name what failed and what was skipped.
//! A tool that cannot be installed everywhere may be missing and is then reported as skipped; the toolchain's own
//! parts may not.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};

use crate::command;
use crate::report::Verdict;
use crate::{conformance, r#gen, layers, parity, test, tidy};

/// Runs all gates; passed when each that could run has passed.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<Verdict> {
    if !arguments.is_empty() {
        bail!("check takes no arguments");
    }
    let (mut passed, mut failed, mut skipped) = (0_usize, Vec::new(), Vec::new());
    for gate in gates() {
        match gate.outcome(root) {
            Outcome::Passed => passed += 1,
            Outcome::Failed => failed.push(gate.name),
            Outcome::Skipped => skipped.push(gate.name),
        }
    }
    println!();
    if !skipped.is_empty() {
        println!("skipped: {}", skipped.join(", "));
    }
    if !failed.is_empty() {
        println!("failed: {}", failed.join(", "));
    }
    println!("check: {passed} gates passed, {} failed, {} skipped", failed.len(), skipped.len());
    Ok(Verdict::of(failed.is_empty()))
}

struct Gate {
    name: &'static str,
    needs: Needs,
    work: Work,
}

enum Needs {
    Nothing,
    /// A part of the pinned toolchain: its absence is a failure.
    Component {
        subcommand: &'static str,
        install: &'static str,
    },
    /// A tool of its own: its absence is reported.
    Tool {
        subcommand: &'static str,
        install: &'static str,
    },
}

enum Work {
    Task(fn(&Path, &[String]) -> Result<Verdict>, &'static [&'static str]),
    Cargo(&'static [&'static str]),
    /// Documentation has its own flags, so that setting them rebuilds no code.
    Doc(&'static [&'static str]),
}

enum Outcome {
    Passed,
    Failed,
    Skipped,
}

fn gates() -> Vec<Gate> {
    let gate = |name, work| Gate { name, needs: Needs::Nothing, work };
    vec![
        Gate {
            name: "fmt",
            needs: Needs::Component { subcommand: "fmt", install: "rustup component add rustfmt" },
            work: Work::Cargo(&["fmt", "--all", "--", "--check"]),
        },
        gate("tidy", Work::Task(tidy::run, &[])),
        gate("layers", Work::Task(layers::run, &[])),
        gate("parity", Work::Task(parity::run, &[])),
        gate("gen", Work::Task(r#gen::run, &["--check"])),
        Gate {
            name: "clippy",
            needs: Needs::Component { subcommand: "clippy", install: "rustup component add clippy" },
            // After the `--`, so that the flags of the build stay as they are and nothing is built twice.
            work: Work::Cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]),
        },
        gate("test", Work::Task(test::run, &[])),
        gate("conformance", Work::Task(conformance::run, &[])),
        gate("doc", Work::Doc(&["doc", "--workspace", "--no-deps"])),
        gate(
            "bench",
            // Compiles each benchmark and runs it once, unoptimised: that it works, not how fast.
            Work::Cargo(&["bench", "--package", "dsh-benches", "--profile", "dev", "--", "--test"]),
        ),
        Gate {
            name: "deny",
            needs: Needs::Tool { subcommand: "deny", install: "cargo install cargo-deny --locked" },
            // Advisories need the network, and change without us: they are asked for by hand.
            work: Work::Cargo(&["deny", "--offline", "check", "bans", "licenses", "sources"]),
        },
    ]
}

impl Gate {
    fn outcome(&self, root: &Path) -> Outcome {
        println!("\n== {}", self.name);
        match self.run(root) {
            Ok(outcome) => outcome,
            Err(error) => {
                println!("{}: could not run: {error:#}", self.name);
                Outcome::Failed
            }
        }
    }

    fn run(&self, root: &Path) -> Result<Outcome> {
        match self.needs {
            Needs::Component { subcommand, install } if !command::has_cargo_command(root, subcommand)? => {
                println!("failed: cargo {subcommand} is not installed ({install})");
                return Ok(Outcome::Failed);
            }
            Needs::Tool { subcommand, install } if !command::has_cargo_command(root, subcommand)? => {
                println!("skipped: cargo {subcommand} is not installed ({install})");
                return Ok(Outcome::Skipped);
            }
            Needs::Nothing | Needs::Component { .. } | Needs::Tool { .. } => {}
        }
        let verdict = match &self.work {
            Work::Task(task, arguments) => {
                println!("$ cargo xtask {} {}", self.name, arguments.join(" "));
                let arguments: Vec<String> = arguments.iter().map(|&argument| argument.to_owned()).collect();
                task(root, &arguments)?
            }
            Work::Cargo(arguments) => command::run(command::cargo(root, *arguments))?,
            Work::Doc(arguments) => command::run(documented(root, arguments))?,
        };
        Ok(if verdict.passed() { Outcome::Passed } else { Outcome::Failed })
    }
}

fn documented(root: &Path, arguments: &[&str]) -> Command {
    let mut command = command::cargo(root, arguments);
    command.env("RUSTDOCFLAGS", "-D warnings -D missing_docs");
    command
}
