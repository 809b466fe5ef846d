//! The rules on dependencies.

use std::path::Path;

use anyhow::Result;

use super::{Layer, PURE};
use crate::files;
use crate::metadata::{Dependency, Metadata, Package};
use crate::report::Finding;

/// The definitions that have a fixed order: each may use those before it. All others come after these.
const DEFINITION_ORDER: &[&str] = &[
    "dsh-json",
    "dsh-lifecycle",
    "dsh-json-schema",
    "dsh-scope",
    "dsh-llm",
    "dsh-session",
    "dsh-agent",
    "dsh-tools-core",
    "dsh-system-prompt",
];

/// The one composition that others are built on.
const HARNESS: &str = "dsh-harness";

/// What a pure crate is never linked with.
const RUNTIMES: &[&str] = &["tokio", "mio", "async-std", "smol"];

/// The parts of tokio that reach outside the process.
const TOKIO_IO: &[&str] = &["fs", "net", "process", "signal", "io-std", "full"];

/// What one crate's dependencies break.
pub(super) fn findings(
    root: &Path,
    metadata: &Metadata,
    package: &Package,
    layer: Layer,
) -> Result<Vec<Finding>> {
    let path = metadata.folder_of(package).join("Cargo.toml");
    let text = files::read(root, &path)?;
    let found = |dependency: &str, problem: String, remedy: &str| {
        Finding::new(files::shown(&path), problem, remedy).at(line_of(&text, dependency))
    };
    let members = metadata.members();
    let mut findings = Vec::new();

    for dependency in package.house_dependencies() {
        let Some(target) = members.get(dependency.name.as_str()) else { continue };
        // A target without a layer has its own finding.
        let Some(below) = Layer::of(target) else { continue };
        if !may_use(layer, below, &dependency.name) {
            findings.push(found(
                &dependency.name,
                format!("the {layer} {} uses the {below} {}", package.name, dependency.name),
                remedy(layer),
            ));
        } else if layer == Layer::Definition
            && rank(&package.name) <= rank(&dependency.name)
            && is_ranked(package)
        {
            findings.push(found(
                &dependency.name,
                format!("{} uses {}, which comes after it in the order of definitions", package.name, dependency.name),
                "move what both need to the earlier one, or change the order in xtask and in the design together",
            ));
        }
    }

    if matches!(layer, Layer::Definition | Layer::Consumer) {
        for dependency in package.dependencies.iter().filter(|dependency| reaches_outside(dependency)) {
            let features: Vec<&str> = outward_features(dependency).collect();
            findings.push(found(
                "tokio",
                format!("the {layer} {} asks for tokio's {}", package.name, features.join(", ")),
                "keep to synchronisation and timers; I/O belongs to a provider",
            ));
        }
    }

    if PURE.contains(&package.name.as_str()) {
        for runtime in RUNTIMES {
            if let Some(way) = metadata.way_to(package, runtime) {
                findings.push(found(
                    way.get(1).copied().unwrap_or_default(),
                    format!("the pure crate {} is linked with {runtime} ({})", package.name, way.join(" → ")),
                    "cut one of these dependencies, or switch off the feature that brings it",
                ));
            }
        }
    }
    Ok(findings)
}

fn may_use(layer: Layer, below: Layer, name: &str) -> bool {
    match layer {
        Layer::Definition => below == Layer::Definition,
        Layer::Mechanism | Layer::Provider | Layer::Consumer => {
            matches!(below, Layer::Definition | Layer::Mechanism)
        }
        Layer::Composition => match below {
            Layer::Definition | Layer::Mechanism | Layer::Provider | Layer::Consumer => true,
            Layer::Composition => name == HARNESS,
            Layer::Development => false,
        },
        Layer::Development => true,
    }
}

fn remedy(layer: Layer) -> &'static str {
    match layer {
        Layer::Definition => {
            "a definition uses definitions only: turn the need into a trait that others implement"
        }
        Layer::Mechanism => "a mechanism uses definitions and mechanisms only: take the rest as an argument",
        Layer::Provider | Layer::Consumer => {
            "providers and consumers use definitions and mechanisms only: what two of them share is one of those"
        }
        Layer::Composition => {
            "compositions build on dsh-harness and on what lies below it, never on test support"
        }
        Layer::Development => "development crates may use everything",
    }
}

fn rank(name: &str) -> usize {
    DEFINITION_ORDER.iter().position(|ranked| *ranked == name).unwrap_or(DEFINITION_ORDER.len())
}

fn is_ranked(package: &Package) -> bool {
    DEFINITION_ORDER.contains(&package.name.as_str())
}

fn reaches_outside(dependency: &Dependency) -> bool {
    dependency.name == "tokio" && !dependency.for_tests() && outward_features(dependency).next().is_some()
}

fn outward_features(dependency: &Dependency) -> impl Iterator<Item = &str> {
    dependency.features.iter().map(String::as_str).filter(|feature| TOKIO_IO.contains(feature))
}

/// The line of a manifest that names the dependency first; 0 when it is spelt in a way of its own.
fn line_of(manifest: &str, dependency: &str) -> usize {
    manifest
        .lines()
        .position(|line| {
            line.trim_start_matches("[dependencies.")
                .trim_start_matches("[build-dependencies.")
                .strip_prefix(dependency)
                .is_some_and(|rest| rest.starts_with(['.', ' ', '=', ']']))
        })
        .map_or(0, |at| at + 1)
}
