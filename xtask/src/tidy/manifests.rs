//! The manifests of the crates: what each states, and what only the root may state.

use toml::{Table, Value};

use crate::report::Finding;
use crate::tree::{Crate, Tree};

pub(super) fn findings(tree: &Tree) -> Vec<Finding> {
    let sizes = tree.crates.iter().filter_map(|member| size(tree, member));
    tree.crates.iter().flat_map(of_crate).chain(sizes).collect()
}

/// A crate that says how long all of its sources may be, and is longer.
fn size(tree: &Tree, member: &Crate) -> Option<Finding> {
    let metadata = member.manifest.get("package")?.get("metadata")?;
    let most = metadata.get("max-source-lines")?.as_integer()?;
    let sources = tree.sources().filter_map(|(file, _)| {
        let inside = file.path.strip_prefix(&member.folder)?.strip_prefix('/')?;
        inside.starts_with("src/").then(|| file.text.lines().count())
    });
    let lines = sources.sum::<usize>();
    (i64::try_from(lines).unwrap_or(i64::MAX) > most).then(|| {
        let place = format!("{}/Cargo.toml", member.folder);
        let problem = format!("has {lines} lines of source, {most} at most (`max-source-lines`)");
        Finding::new(&place, problem, "a policy is small: give what is not of it a room of its own")
    })
}

fn of_crate(member: &Crate) -> Vec<Finding> {
    let place = format!("{}/Cargo.toml", member.folder);
    let missing = |what: &str, remedy: &str| Finding::new(&place, format!("has no {what}"), remedy);
    let package = member.manifest.get("package");
    let text_at = |path: [&str; 2]| {
        package.and_then(|package| {
            path.iter().filter(|key| !key.is_empty()).try_fold(package, |at, key| at.get(key))
        })
    };
    let mut findings = Vec::new();
    if text_at(["description", ""]).and_then(Value::as_str).is_none_or(|text| text.trim().is_empty()) {
        findings.push(missing("description", "say in one line what the crate is: crates/README.md shows it"));
    }
    if text_at(["metadata", "layer"]).and_then(Value::as_str).is_none() {
        findings.push(missing("layer", "write `layer = \"…\"` under [package.metadata]"));
    }
    let lints = member.manifest.get("lints").and_then(|lints| lints.get("workspace"));
    if lints.and_then(Value::as_bool) != Some(true) {
        findings.push(missing("lints", "write `workspace = true` under [lints]"));
    }
    if text_at(["version", ""]).is_some_and(Value::is_str) {
        findings.push(Finding::new(&place, "states its own version", "write `version.workspace = true`"));
    }
    for dependency in foreign_entries(&member.manifest) {
        findings.push(Finding::new(
            &place,
            format!("states where `{dependency}` comes from"),
            "versions and paths stand in the root manifest: write `workspace = true` here",
        ));
    }
    findings
}

/// The dependencies that are not inherited from the workspace.
fn foreign_entries(manifest: &Table) -> Vec<String> {
    let targets = manifest.get("target").and_then(Value::as_table).into_iter().flat_map(Table::values);
    let tables = std::iter::once(manifest).chain(targets.filter_map(Value::as_table));
    tables
        .flat_map(|table| {
            ["dependencies", "dev-dependencies", "build-dependencies"]
                .into_iter()
                .filter_map(|kind| table.get(kind)?.as_table())
        })
        .flatten()
        .filter(|(_, entry)| entry.get("workspace").and_then(Value::as_bool) != Some(true))
        .map(|(name, _)| name.clone())
        .collect()
}
