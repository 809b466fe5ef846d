//! The pages about the crates: the table and the graph.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use anyhow::Result;

use super::{Repository, heading};
use crate::files;
use crate::metadata::Package;

/// `crates/README.md`: what each crate is for, by group.
pub(super) fn table(repository: &Repository<'_>) -> Result<Option<String>> {
    let mut groups: BTreeMap<String, Vec<(String, &Package)>> = BTreeMap::new();
    for package in repository.metadata.members().values() {
        let folder = files::shown(repository.metadata.folder_of(package));
        if let Some((group, _)) = folder.strip_prefix("crates/").and_then(|inner| inner.split_once('/')) {
            groups.entry(group.to_owned()).or_default().push((folder, package));
        }
    }
    let mut page = heading("Crates", "the manifests");
    page.push_str("\nA layer says who may use whom; `cargo xtask layers` holds it.\n");
    for (group, mut rows) in groups {
        rows.sort_by(|a, b| a.0.cmp(&b.0));
        writeln!(page, "\n## {group}\n\n| crate | layer | what it is |\n|---|---|---|")?;
        for (folder, package) in rows {
            let link = folder.trim_start_matches("crates/");
            let (layer, about) =
                (package.layer().unwrap_or("–"), package.description.as_deref().unwrap_or("–"));
            writeln!(page, "| [`{}`]({link}) | {layer} | {about} |", package.name)?;
        }
    }
    Ok(Some(page))
}

/// `docs/generated/crate-graph.md`: who uses whom, layer by layer.
pub(super) fn graph(repository: &Repository<'_>) -> Result<Option<String>> {
    let mut drawn = repository.metadata.members();
    drawn.retain(|_, package| package.layer().is_some_and(|layer| LAYERS.contains(&layer)));
    let uses: BTreeMap<&str, BTreeSet<&str>> = drawn
        .iter()
        .map(|(name, package)| (*name, package.house_dependencies().map(|used| used.name.as_str()).collect()))
        .collect();
    let mut page = heading("Who uses whom", "the manifests");
    page.push_str(
        "\nNormal and build dependencies. An arrow that follows from two others is left out, and so are the \
         development crates, which may use everything.\n\n```mermaid\nflowchart TD\n",
    );
    for layer in LAYERS {
        let names: Vec<&str> = drawn
            .values()
            .filter(|package| package.layer() == Some(layer))
            .map(|package| package.name.as_str())
            .collect();
        if !names.is_empty() {
            writeln!(page, "  subgraph {layer}\n    {}\n  end", names.join("\n    "))?;
        }
    }
    for (name, targets) in &uses {
        for target in targets.iter().filter(|target| uses.contains_key(*target)) {
            if !follows(&uses, targets, target) {
                writeln!(page, "  {name} --> {target}")?;
            }
        }
    }
    page.push_str("```\n");
    Ok(Some(page))
}

/// The layers that are drawn, from the top down.
const LAYERS: &[&str] = &["composition", "provider", "consumer", "mechanism", "definition"];

/// Whether `target` is reached through another of `targets`.
fn follows(uses: &BTreeMap<&str, BTreeSet<&str>>, targets: &BTreeSet<&str>, target: &str) -> bool {
    let mut queue: Vec<&str> = targets.iter().copied().filter(|other| *other != target).collect();
    let mut seen = BTreeSet::new();
    while let Some(name) = queue.pop() {
        if name == target {
            return true;
        }
        if seen.insert(name) {
            queue.extend(uses.get(name).into_iter().flatten());
        }
    }
    false
}
