//! `cargo xtask tidy`: the rules of form that no compiler checks.
//!
//! Reads files and nothing else, so that it works on a tree that does not compile.

mod docs;
mod manifests;
mod modules;
mod picture;
mod rust;
mod text;

use std::path::Path;

use anyhow::{Result, bail};

use crate::report::{self, Verdict};
use crate::tree::Tree;

/// Checks the repository at `root`.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<Verdict> {
    if !arguments.is_empty() {
        bail!("tidy takes no arguments");
    }
    let tree = Tree::load(root)?;
    let rules = [
        text::findings,
        manifests::findings,
        rust::findings,
        modules::findings,
        docs::findings,
        picture::findings,
    ];
    let findings = rules.iter().flat_map(|rule| rule(&tree)).collect();
    Ok(report::conclude("tidy", &format!("{} files", tree.files.len()), findings))
}
