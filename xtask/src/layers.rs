//! `cargo xtask layers`: who may use whom.
//!
//! Each manifest states its layer; normal and build dependencies point downwards only, tests may use anything. What a
//! layer may not do by itself (read a file, look at the clock) it may not name in its sources either.

mod edges;
mod names;

use std::fmt;
use std::path::Path;

use anyhow::{Result, bail};

use crate::metadata::{Metadata, Package};
use crate::report::{self, Finding, Verdict};

/// Checks the workspace at `root`.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<Verdict> {
    if !arguments.is_empty() {
        bail!("layers takes no arguments");
    }
    let metadata = Metadata::resolved(root)?;
    let members = metadata.members();
    let mut findings = Vec::new();
    for package in members.values() {
        let manifest = crate::files::shown(&metadata.folder_of(package).join("Cargo.toml"));
        let Some(layer) = Layer::of(package) else {
            findings.push(Finding::new(
                manifest,
                format!("{} states no known layer", package.name),
                format!("write `layer = \"…\"` under [package.metadata], one of {}", Layer::names()),
            ));
            continue;
        };
        findings.extend(edges::findings(root, &metadata, package, layer)?);
        if names::are_bound(package, layer) {
            findings.extend(names::findings(root, metadata.folder_of(package), &package.name, layer)?);
        }
    }
    Ok(report::conclude("layers", &format!("{} crates", members.len()), findings))
}

/// The crates that do no I/O at all, directly or through anything they are linked with.
const PURE: &[&str] = &["dsh-json", "dsh-json-schema", "dsh-tool-sdk"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layer {
    Definition,
    Mechanism,
    Provider,
    Consumer,
    Composition,
    Development,
}

impl Layer {
    const ALL: [Self; 6] = [
        Self::Definition,
        Self::Mechanism,
        Self::Provider,
        Self::Consumer,
        Self::Composition,
        Self::Development,
    ];

    fn of(package: &Package) -> Option<Self> {
        let stated = package.layer()?;
        Self::ALL.into_iter().find(|layer| layer.name() == stated)
    }

    fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }

    fn name(self) -> &'static str {
        match self {
            Self::Definition => "definition",
            Self::Mechanism => "mechanism",
            Self::Provider => "provider",
            Self::Consumer => "consumer",
            Self::Composition => "composition",
            Self::Development => "development",
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
