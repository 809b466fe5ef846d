//! The one picture of a call's path, wherever it is drawn.
//!
//! It stands in a fenced block under a comment that contains `pipeline-picture`.

use crate::report::Finding;
use crate::tree::Tree;

const MARK: &str = "pipeline-picture";

/// Where the picture must stand, once the file exists.
const MAP: &str = "ARCHITECTURE.md";
const PLACES: &[&str] = &[MAP, "crates/core/tools-core/src/lib.rs", "crates/host/harness/src/plugins.rs"];

pub(super) fn findings(tree: &Tree) -> Vec<Finding> {
    // The picture is the map's; without a map there is nothing to agree with.
    let Some(map) = tree.file(MAP) else { return Vec::new() };
    let wanted = picture(&map.text);
    let mut findings = Vec::new();
    for file in PLACES.iter().filter_map(|path| tree.file(path)) {
        match (picture(&file.text), &wanted) {
            (None, _) => findings.push(Finding::new(
                &file.path,
                "does not draw the pipeline",
                format!("put the picture into a fenced block under a comment that says `{MARK}`"),
            )),
            (Some(drawn), Some(wanted)) if drawn.lines != wanted.lines => findings.push(
                Finding::new(
                    &file.path,
                    format!("draws the pipeline differently from {MAP}"),
                    "change the picture everywhere or nowhere",
                )
                .at(drawn.first_line),
            ),
            (Some(_), _) => {}
        }
    }
    findings
}

struct Picture {
    first_line: usize,
    lines: Vec<String>,
}

fn picture(text: &str) -> Option<Picture> {
    let mut lines = (1..).zip(text.lines().map(uncommented));
    lines.find(|(_, line)| line.contains(MARK))?;
    let (fence, _) = lines.find(|(_, line)| line.trim_start().starts_with("```"))?;
    let drawn =
        lines.map(|(_, line)| line.trim_end().to_owned()).take_while(|line| !line.trim().starts_with("```"));
    Some(Picture { first_line: fence + 1, lines: drawn.collect() })
}

/// The line without the comment sign of Rust.
fn uncommented(line: &str) -> &str {
    let bare = line.trim_start();
    for sign in ["//!", "///", "//"] {
        if let Some(rest) = bare.strip_prefix(sign) {
            return rest.strip_prefix(' ').unwrap_or(rest);
        }
    }
    line
}
