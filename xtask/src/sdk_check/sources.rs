//! The programs that are judged, and where they come from.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::{FIXTURES, Language, Program};
use crate::{command, files};

/// What is looked at in `fixtures/tool-sdk/NAME.json`.
#[derive(Deserialize)]
struct Set {
    /// By language.
    #[serde(default)]
    refused: BTreeMap<Language, String>,
}

/// What an example prints, once for each.
#[derive(Deserialize)]
struct Rendered {
    language: Language,
    declarations: String,
    #[serde(default)]
    calls: String,
}

/// The programs of the fixtures, from the declarations as they were accepted.
pub(super) fn accepted(root: &Path) -> Result<Vec<Program>> {
    let paths = files::below(root, FIXTURES)?;
    let sets = paths.iter().filter(|path| path.extension() == Some(OsStr::new("json")));
    let mut programs = Vec::new();
    for path in sets {
        let set: Set = serde_json::from_str(&files::read(root, path)?)
            .with_context(|| format!("reading {}", files::shown(path)))?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        for language in Language::ALL {
            let snapshot = files::read(root, &path.with_extension(format!("{}.snap", language.name())))?;
            let calls = path.with_extension(format!("calls.{}", language.extension()));
            let calls = files::read_if_present(root, &files::shown(&calls))?.unwrap_or_default();
            let text = language.program(body(&snapshot), &calls);
            let refused = set.refused.get(&language).cloned();
            programs.push(Program { name: name.clone(), language, text, refused, typed: true });
        }
    }
    if programs.is_empty() {
        bail!("{FIXTURES} has no sets of tools");
    }
    Ok(programs)
}

/// Declarations of random tools.
pub(super) fn random(root: &Path) -> Result<Vec<Program>> {
    let printed = printed(root, "dsh-tool-sdk", "random_sdks")?;
    let program = |(number, rendered): (usize, Rendered)| Program {
        typed: false,
        ..rendered.program(format!("random_{number}"))
    };
    Ok(read(&printed)?.into_iter().enumerate().map(program).collect())
}

/// Declarations and calls of a thousand tools of one harness.
pub(super) fn thousand(root: &Path) -> Result<Vec<Program>> {
    let twice =
        [printed(root, "dsh-harness", "sdk_sections")?, printed(root, "dsh-harness", "sdk_sections")?];
    let [printed, again] = twice;
    if printed != again {
        bail!("a harness with a thousand tools declares them differently in the next process");
    }
    Ok(read(&printed)?.into_iter().map(|rendered| rendered.program("thousand".to_owned())).collect())
}

/// What the program prints for the tools that it has, with calls of them.
pub(super) fn harness(root: &Path, folder: &Path) -> Result<Vec<Program>> {
    let printed = |language: Language| {
        let mut sdk = command::cargo(root, ["run", "--quiet", "--package", "dsh", "--", "sdk", "--language"]);
        sdk.arg(language.name()).arg("--root").arg(folder);
        command::announce(&sdk);
        command::text_of(sdk)
    };
    let program = |language: Language| {
        let section = printed(language)?;
        if section != printed(language)? {
            bail!("`dsh sdk --language {}` prints something else the second time", language.name());
        }
        let declarations = block(&section, language).context("`dsh sdk` prints no block of declarations")?;
        let calls = match language {
            Language::TypeScript => include_str!("harness.calls.ts"),
            Language::Python => include_str!("harness.calls.py"),
        };
        let text = language.program(declarations, calls);
        Ok(Program { name: "harness".to_owned(), language, text, refused: None, typed: true })
    };
    Language::ALL.into_iter().map(program).collect()
}

fn printed(root: &Path, package: &str, example: &str) -> Result<String> {
    let example = command::cargo(root, ["run", "--quiet", "--package", package, "--example", example]);
    command::announce(&example);
    command::text_of(example)
}

fn read(printed: &str) -> Result<Vec<Rendered>> {
    serde_json::from_str(printed).context("reading what an example printed")
}

impl Rendered {
    fn program(self, name: String) -> Program {
        let text = self.language.program(&self.declarations, &self.calls);
        Program { name, language: self.language, text, refused: None, typed: true }
    }
}

/// What a section has between its fences, of which the last one ends it.
pub(super) fn block(section: &str, language: Language) -> Option<&str> {
    let fence = match language {
        Language::TypeScript => "\n```ts\n",
        Language::Python => "\n```python\n",
    };
    let (_, block) = section.split_once(fence)?;
    block.trim_end().strip_suffix("\n```")
}

/// A snapshot without what its tool wrote above it.
pub(super) fn body(snapshot: &str) -> &str {
    let behind_header = snapshot.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n"));
    behind_header.map_or(snapshot, |(_, body)| body)
}
