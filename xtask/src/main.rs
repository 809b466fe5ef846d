//! The project's own tasks, one file each; `cargo xtask` lists them.
//!
//! The tasks know the repository only from outside, through its files and `cargo metadata`: this package depends on no
//! crate of the workspace, so that they start at once and work while the rest does not compile.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a task talks to the terminal it was started from, and reads its environment"
)]

mod check;
mod command;
mod conformance;
mod e2e;
mod files;
mod fuzz;
mod r#gen;
mod hooks;
mod layers;
mod mcp_schemas;
mod metadata;
mod parity;
mod report;
mod sdk_check;
mod source;
mod test;
mod tidy;
mod tree;

use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::report::Verdict;

/// One task: what is typed, what it is for, and the function that does it.
struct Task {
    name: &'static str,
    arguments: &'static str,
    about: &'static str,
    run: fn(root: &Path, arguments: &[String]) -> Result<Verdict>,
}

const TASKS: &[Task] = &[
    Task { name: "check", arguments: "", about: "every gate, in order", run: check::run },
    Task {
        name: "test",
        arguments: "[ARGS]",
        about: "all tests and doctests, counted; with ARGS, what they select (nextest's or cargo test's)",
        run: test::run,
    },
    Task { name: "layers", arguments: "", about: "who may use whom", run: layers::run },
    Task { name: "tidy", arguments: "", about: "the rules of form that no compiler checks", run: tidy::run },
    Task {
        name: "parity",
        arguments: "",
        about: "every checklist item of the specification is answered",
        run: parity::run,
    },
    Task {
        name: "conformance",
        arguments: "[--kind K]… [DIR]",
        about: "runs recorded vectors, those of fixtures/vectors unless told otherwise",
        run: conformance::run,
    },
    Task {
        name: "sdk-check",
        arguments: "",
        about: "compilers and type checkers of both languages judge the declarations; installs them below target/",
        run: sdk_check::run,
    },
    Task {
        name: "mcp-schemas",
        arguments: "record [NAME]…",
        about: "records the tool lists of published MCP servers; installs them below target/",
        run: mcp_schemas::run,
    },
    Task {
        name: "e2e",
        arguments: "[kill|interrupt]…",
        about: "stops the program at many places of a run, and looks at what is left of its session",
        run: e2e::run,
    },
    Task {
        name: "fuzz",
        arguments: "[--seconds N] [TARGET]…",
        about: "looks for bytes that break a promise, a minute for each target unless told otherwise",
        run: fuzz::run,
    },
    Task {
        name: "gen",
        arguments: "[--check]",
        about: "writes the generated pages; --check only compares",
        run: r#gen::run,
    },
    Task { name: "hooks", arguments: "install", about: "points git at .githooks", run: hooks::run },
];

fn main() -> ExitCode {
    match dispatch() {
        Ok(Verdict::Passed) => ExitCode::SUCCESS,
        Ok(Verdict::Failed) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn dispatch() -> Result<Verdict> {
    let words: Vec<String> = env::args().skip(1).collect();
    let Some((name, arguments)) = words.split_first() else {
        print!("{}", usage());
        return Ok(Verdict::Passed);
    };
    if matches!(name.as_str(), "help" | "--help" | "-h") {
        print!("{}", usage());
        return Ok(Verdict::Passed);
    }
    let Some(task) = TASKS.iter().find(|task| task.name == name) else {
        bail!("no task is called {name:?}\n{}", usage());
    };
    (task.run)(&workspace_root()?, arguments)
}

/// The nearest folder, from the current one upward, whose manifest opens a workspace.
fn workspace_root() -> Result<PathBuf> {
    let here = env::current_dir().context("reading the current directory")?;
    here.ancestors()
        .find(|folder| {
            std::fs::read_to_string(folder.join("Cargo.toml"))
                .is_ok_and(|text| text.lines().any(|line| line.trim() == "[workspace]"))
        })
        .map(Path::to_path_buf)
        .with_context(|| {
            format!("no workspace at or above {}: run this inside the repository", here.display())
        })
}

fn usage() -> String {
    let tasks = TASKS.iter().map(|task| {
        let call = format!("{} {}", task.name, task.arguments);
        format!("  {call:<16}  {}\n", task.about)
    });
    std::iter::once("usage: cargo xtask TASK\n".to_owned()).chain(tasks).collect()
}
