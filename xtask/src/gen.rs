//! `cargo xtask gen [--check]`: pages that are written from the repository itself.
//!
//! A page is one row of [`PAGES`] and one function. `--check` writes nothing and fails where a page would change.

mod crates;
mod fixtures;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::files;
use crate::metadata::Metadata;
use crate::report::{self, Finding, Verdict};

/// One generated page. `render` answers `None` where the repository has nothing to fill it with.
struct Page {
    path: &'static str,
    render: fn(&Repository<'_>) -> Result<Option<String>>,
}

const PAGES: &[Page] = &[
    Page { path: "crates/README.md", render: crates::table },
    Page { path: "docs/generated/crate-graph.md", render: crates::graph },
    Page { path: "fixtures/README.md", render: fixtures::table },
];

/// What the pages are written from.
struct Repository<'a> {
    root: &'a Path,
    metadata: Metadata,
}

/// Writes the pages, or compares them.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<Verdict> {
    let check = match arguments {
        [] => false,
        [flag] if flag == "--check" => true,
        _ => bail!("gen takes --check or nothing"),
    };
    let repository = Repository { root, metadata: Metadata::members_only(root)? };
    let mut findings = Vec::new();
    for page in PAGES {
        let text = match (page.render)(&repository) {
            Ok(Some(text)) => text,
            Ok(None) => continue,
            Err(error) => {
                findings.push(Finding::new(page.path, "cannot be written", format!("{error:#}")));
                continue;
            }
        };
        let present = files::read_if_present(root, page.path)?.unwrap_or_default();
        if present == text {
            continue;
        }
        if check {
            findings.push(stale(page.path, &present, &text));
        } else {
            write(&root.join(page.path), &text)?;
            println!("wrote {}", page.path);
        }
    }
    Ok(report::conclude("gen", &format!("{} pages", PAGES.len()), findings))
}

fn stale(path: &str, present: &str, wanted: &str) -> Finding {
    let (mut present_lines, mut wanted_lines) = (present.lines(), wanted.lines());
    let mut number = 0;
    loop {
        number += 1;
        let (is, would_be) = (present_lines.next(), wanted_lines.next());
        if is != would_be || is.is_none() {
            let shown = |line: Option<&str>| line.map_or("the end".to_owned(), |line| format!("`{line}`"));
            let problem = format!("is stale: has {}, would have {}", shown(is), shown(would_be));
            return Finding::new(path, problem, "run `cargo xtask gen` and read the diff").at(number);
        }
    }
}

fn write(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
    }
    fs::write(path, text).with_context(|| format!("writing {}", path.display()))
}

/// The line that opens every page.
fn heading(title: &str, source: &str) -> String {
    format!(
        "# {title}\n\n<!-- Written by `cargo xtask gen` from {source}: change those, not this page. -->\n"
    )
}
