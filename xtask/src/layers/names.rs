//! The rules on what a source may name.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::{Layer, PURE};
use crate::files;
use crate::metadata::Package;
use crate::report::Finding;
use crate::source::{Named, Source, names_in};

/// What is banned, as the start of a path, and what to do instead.
const BANNED: &[(&str, &str)] = &[
    ("std::fs", "go through the file system's definition, or move this to a provider"),
    ("tokio::fs", "go through the file system's definition, or move this to a provider"),
    ("std::process", "start programs in a provider"),
    ("tokio::process", "start programs in a provider"),
    ("std::net", "talk to the network in a provider"),
    ("tokio::net", "talk to the network in a provider"),
    ("std::env", "take it as an argument: the harness reads the environment once"),
    ("std::time::SystemTime::now", "take a clock as an argument"),
    (
        "std::time::Instant::now",
        "take a clock as an argument, or measure with tokio's, which tests can pause",
    ),
    // Where the file's imports do not tell whose it is.
    ("SystemTime::now", "take a clock as an argument"),
    ("Instant::now", "take a clock as an argument, or import tokio's by name"),
];

/// Compile-time constants, not the environment.
const ALLOWED: &str = "std::env::consts";

/// Definitions and consumers do no I/O of their own, and pure crates none at all.
pub(super) fn are_bound(package: &Package, layer: Layer) -> bool {
    matches!(layer, Layer::Definition | Layer::Consumer) || PURE.contains(&package.name.as_str())
}

/// What the sources of one crate name and may not. Tests are not looked at.
pub(super) fn findings(root: &Path, folder: &Path, name: &str, layer: Layer) -> Result<Vec<Finding>> {
    let mut sources = Vec::new();
    let mut for_tests = BTreeSet::new();
    for path in files::below(root, &files::shown(&folder.join("src")))? {
        if path.extension().is_some_and(|extension| extension == "rs") {
            let (code, modules) = Source::new(&files::read(root, &path)?).without_tests();
            for_tests.extend(modules.iter().map(|module| module_path(&path, module)));
            sources.push((path, code));
        }
    }
    let mut findings = Vec::new();
    for (path, code) in sources {
        if for_tests.iter().any(|module| path.with_extension("").starts_with(module)) {
            continue;
        }
        for named in names_in(&code) {
            if let Some((ban, remedy)) = broken_ban(&named) {
                findings.push(
                    Finding::new(files::shown(&path), format!("the {layer} {name} names `{ban}`"), remedy)
                        .at(named.line),
                );
            }
        }
    }
    Ok(findings)
}

fn broken_ban(named: &Named) -> Option<(&'static str, &'static str)> {
    let path: Vec<&str> = named.path.iter().map(String::as_str).collect();
    if starts_with(&path, ALLOWED) {
        return None;
    }
    let hidden = |ban: &str| {
        let bare = path.strip_suffix(&["*"]).unwrap_or_default();
        !bare.is_empty() && ban.split("::").collect::<Vec<_>>().starts_with(bare)
    };
    BANNED.iter().copied().find(|(ban, _)| starts_with(&path, ban) || hidden(ban))
}

fn starts_with(path: &[&str], prefix: &str) -> bool {
    path.starts_with(&prefix.split("::").collect::<Vec<_>>())
}

/// Where the module that `parent` declares lies, without an extension.
fn module_path(parent: &Path, module: &str) -> PathBuf {
    let stem = parent.file_stem().unwrap_or_default();
    let beside = parent.parent().unwrap_or(parent);
    if stem == "lib" || stem == "main" { beside.join(module) } else { beside.join(stem).join(module) }
}
