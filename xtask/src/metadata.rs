//! The part of `cargo metadata` that the tasks read.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::command;

/// The workspace as cargo resolves it.
#[derive(Deserialize)]
pub(crate) struct Metadata {
    packages: Vec<Package>,
    workspace_members: BTreeSet<String>,
    resolve: Option<Resolve>,
    workspace_root: PathBuf,
}

#[derive(Deserialize)]
pub(crate) struct Package {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    manifest_path: PathBuf,
    metadata: Option<serde_json::Value>,
    pub(crate) dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) kind: Option<String>,
    pub(crate) features: Vec<String>,
    path: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Edge>,
}

#[derive(Deserialize)]
struct Edge {
    pkg: String,
    dep_kinds: Vec<EdgeKind>,
}

#[derive(Deserialize)]
struct EdgeKind {
    kind: Option<String>,
}

impl Metadata {
    /// Asks cargo, with the whole dependency graph.
    pub(crate) fn resolved(root: &Path) -> Result<Self> {
        Self::ask(root, &["metadata", "--format-version", "1"])
    }

    /// Asks cargo for the members alone, which needs neither a lock file nor a registry.
    pub(crate) fn members_only(root: &Path) -> Result<Self> {
        Self::ask(root, &["metadata", "--format-version", "1", "--no-deps"])
    }

    fn ask(root: &Path, arguments: &[&str]) -> Result<Self> {
        let text = command::text_of(command::cargo(root, arguments))?;
        serde_json::from_str(&text).context("reading what cargo metadata printed")
    }

    /// The crates of this workspace, by name.
    pub(crate) fn members(&self) -> BTreeMap<&str, &Package> {
        self.packages
            .iter()
            .filter(|package| self.workspace_members.contains(&package.id))
            .map(|package| (package.name.as_str(), package))
            .collect()
    }

    /// The folder of a member, relative to the workspace.
    pub(crate) fn folder_of<'a>(&self, member: &'a Package) -> &'a Path {
        let folder = member.manifest_path.parent().unwrap_or(&member.manifest_path);
        folder.strip_prefix(&self.workspace_root).unwrap_or(folder)
    }

    /// How `from` comes to be linked with a package called `target`: the names on the way, both ends included.
    /// Development dependencies are not followed.
    pub(crate) fn way_to<'a>(&'a self, from: &'a Package, target: &'a str) -> Option<Vec<&'a str>> {
        let names: BTreeMap<&str, &str> =
            self.packages.iter().map(|package| (package.id.as_str(), package.name.as_str())).collect();
        let nodes: BTreeMap<&str, &Node> = self
            .resolve
            .iter()
            .flat_map(|resolve| &resolve.nodes)
            .map(|node| (node.id.as_str(), node))
            .collect();
        let mut came_from: BTreeMap<&str, &str> = BTreeMap::new();
        let mut queue = std::collections::VecDeque::from([from.id.as_str()]);
        while let Some(id) = queue.pop_front() {
            if names.get(id) == Some(&target) {
                let mut way = vec![target];
                let mut at = id;
                while let Some(before) = came_from.get(at) {
                    way.push(names.get(before).copied().unwrap_or(before));
                    at = before;
                }
                way.reverse();
                return Some(way);
            }
            for edge in nodes.get(id).into_iter().flat_map(|node| &node.deps) {
                let linked = edge.dep_kinds.iter().any(|kind| kind.kind.as_deref() != Some("dev"));
                let next = edge.pkg.as_str();
                if linked && next != from.id && !came_from.contains_key(next) {
                    came_from.insert(next, id);
                    queue.push_back(next);
                }
            }
        }
        None
    }
}

impl Package {
    /// What the manifest states under `[package.metadata] layer`.
    pub(crate) fn layer(&self) -> Option<&str> {
        self.metadata.as_ref()?.get("layer")?.as_str()
    }

    /// The dependencies that lie in this repository and are not for tests alone.
    pub(crate) fn house_dependencies(&self) -> impl Iterator<Item = &Dependency> {
        self.dependencies.iter().filter(|dependency| dependency.path.is_some() && !dependency.for_tests())
    }
}

impl Dependency {
    /// Whether only tests, examples and benches see it.
    pub(crate) fn for_tests(&self) -> bool {
        self.kind.as_deref() == Some("dev")
    }
}
