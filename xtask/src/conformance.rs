//! `cargo xtask conformance [--kind K]… [DIR]`: runs vector files against what is built (spec 12 §4).
//!
//! The runner is a program of its own, because the tasks depend on no crate of the workspace.

use std::env;
use std::path::Path;

use anyhow::{Context, Result};

use crate::command;
use crate::report::Verdict;

/// Builds and runs the runner; passed when every vector has. The last line printed is `N passed, N failed`.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<Verdict> {
    let here = env::current_dir().context("reading the current directory")?;
    let mut runner = command::cargo(root, ["run", "--quiet", "--package", "dsh-conformance", "--"]);
    runner.args(seen_from(&here, arguments));
    command::run(runner)
}

/// The arguments with a folder that stands as seen from the caller's, because the runner is run in the root.
fn seen_from(here: &Path, arguments: &[String]) -> Vec<String> {
    let mut names_a_kind = false;
    let whole = |argument: &String| {
        let is_folder = !names_a_kind && !argument.starts_with('-');
        names_a_kind = argument == "--kind";
        if is_folder { here.join(argument).to_string_lossy().into_owned() } else { argument.clone() }
    };
    arguments.iter().map(whole).collect()
}

#[cfg(test)]
mod tests {
    use super::seen_from;
    use std::path::Path;

    #[test]
    fn only_the_folder_is_seen_from_the_caller() {
        let rows = [
            ("", ""),
            ("vectors", "/w/x/vectors"),
            ("/v", "/v"),
            ("--kind spill --kind=validate ../v", "--kind spill --kind=validate /w/x/../v"),
            ("v --kind spill", "/w/x/v --kind spill"),
        ];
        for (given, expected) in rows {
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(seen_from(Path::new("/w/x"), &words(given)), words(expected), "{given}");
        }
    }
}
