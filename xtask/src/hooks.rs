//! `cargo xtask hooks install`: points git at the hooks of this repository.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};

use crate::command;
use crate::report::Verdict;

const FOLDER: &str = ".githooks";

/// Sets `core.hooksPath` of the repository at `root`; nothing outside it changes.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<Verdict> {
    if arguments != ["install"] {
        bail!("say `cargo xtask hooks install`");
    }
    if !root.join(FOLDER).is_dir() {
        bail!("{FOLDER} is missing: restore it with `git checkout -- {FOLDER}`");
    }
    let mut git = Command::new("git");
    git.current_dir(root).args(["config", "core.hooksPath", FOLDER]);
    let verdict = command::run(git)?;
    if verdict.passed() {
        println!(
            "hooks: installed; `git config --unset core.hooksPath` takes them away, `--no-verify` skips them once"
        );
    }
    Ok(verdict)
}
