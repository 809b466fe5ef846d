//! `cargo xtask sdk-check`: what compiles and type-checks the declarations that models are given (spec 05 §9, 27).
//!
//! ```text
//! fixtures/tool-sdk   NAME.LANGUAGE.snap + NAME.calls.EXT ──┐
//! random tools        cargo run --example random_sdks ──────┤
//! a thousand tools    cargo run --example sdk_sections ─────┼─▶ target/tmp/sdk-check ─▶ tsc, ast.parse, mypy ─▶ findings
//! the program's own   dsh sdk + harness.calls.EXT ──────────┘
//! ```
//!
//! A program with calls marks each call that has to be refused (`@ts-expect-error`, `type: ignore`), and the checkers
//! report a mark that is not needed. What a harness prints is printed twice, by two processes, and has to be the same.
//! The checkers are installed below `target/`, so this is no part of `check`.

mod checkers;
mod sources;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use self::checkers::Checkers;
use crate::report::{self, Finding, Verdict};

const FIXTURES: &str = "fixtures/tool-sdk";
const FOLDER: &str = "target/tmp/sdk-check";

/// Installs what is missing, and judges every program.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<Verdict> {
    if !arguments.is_empty() {
        bail!("sdk-check takes no arguments");
    }
    let folder = root.join(FOLDER);
    let checkers = Checkers::installed(&folder)?;
    let mut programs = sources::accepted(root)?;
    programs.extend(sources::random(root)?);
    programs.extend(sources::thousand(root)?);
    programs.extend(sources::harness(root, &folder)?);
    let at = folder.join("programs");
    if at.exists() {
        fs::remove_dir_all(&at).context("removing the programs of the last run")?;
    }
    fs::create_dir_all(&at).with_context(|| format!("creating {}", at.display()))?;
    for program in &programs {
        fs::write(at.join(program.file()), &program.text).with_context(|| program.file())?;
    }
    let said = checkers.judge(&at, &programs)?;
    Ok(report::conclude("sdk-check", &format!("{} programs", programs.len()), findings(&programs, &said)))
}

/// Declarations in one language, with calls behind them where there are some.
struct Program {
    name: String,
    language: Language,
    text: String,
    /// What the checker is known to say against it.
    refused: Option<String>,
    /// Whether types are checked, too. Random names hide types, which only a type checker minds.
    typed: bool,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "lowercase")]
enum Language {
    TypeScript,
    Python,
}

/// Complaints, by the file that they are about.
type Said = BTreeMap<String, Vec<String>>;

impl Program {
    /// Its file, whose stem is a module name in Python.
    fn file(&self) -> String {
        format!("sdk_{}.{}", self.name.replace('-', "_"), self.language.extension())
    }
}

impl Language {
    const ALL: [Self; 2] = [Self::TypeScript, Self::Python];

    fn name(self) -> &'static str {
        match self {
            Self::TypeScript => "typescript",
            Self::Python => "python",
        }
    }

    fn extension(self) -> &'static str {
        match self {
            Self::TypeScript => "ts",
            Self::Python => "py",
        }
    }

    /// What makes declarations and calls a program that stands alone.
    fn program(self, declarations: &str, calls: &str) -> String {
        match self {
            Self::TypeScript => format!("{declarations}\n\n{calls}\nexport {{}};\n"),
            Self::Python => format!("{declarations}\n\n\n{calls}"),
        }
    }
}

/// Programs that were refused, and those that had to be and were not.
fn findings(programs: &[Program], said: &Said) -> Vec<Finding> {
    let mut findings = Vec::new();
    for program in programs {
        let file = program.file();
        let complaints = said.get(&file).map(Vec::as_slice).unwrap_or_default();
        for complaint in complaints {
            if !program.refused.as_ref().is_some_and(|known| complaint.contains(known.as_str())) {
                findings.push(Finding::new(
                    format!("{FOLDER}/programs/{file}"),
                    complaint.as_str(),
                    "mend the renderer, or the calls",
                ));
            }
        }
        if let (Some(known), []) = (&program.refused, complaints) {
            findings.push(Finding::new(
                format!("{FIXTURES}/{}.json", program.name),
                format!("is accepted, though it says {known:?} is said against it"),
                "take `refused` out",
            ));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::checkers::collect;
    use super::sources::{block, body};
    use super::{Language, Program, Said, findings};

    fn program(name: &str, refused: Option<&str>) -> Program {
        let refused = refused.map(str::to_owned);
        Program {
            name: name.to_owned(),
            language: Language::Python,
            text: String::new(),
            refused,
            typed: true,
        }
    }

    #[test]
    fn what_is_known_to_be_refused_has_to_be() {
        let programs = [program("a-b", None), program("c", Some("of type")), program("d", Some("of type"))];
        let mut said = Said::new();
        let text =
            "sdk_a_b.py:2: error: wrong\nsdk_a_b.py:2: note: more\nsdk_c.py:1: error: no value of type X\n";
        collect(text, &mut said).unwrap();
        let found: Vec<String> = findings(&programs, &said).iter().map(ToString::to_string).collect();
        let expected = [
            "target/tmp/sdk-check/programs/sdk_a_b.py: 2: error: wrong: mend the renderer, or the calls",
            "fixtures/tool-sdk/d.json: is accepted, though it says \"of type\" is said against it: take `refused` out",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn complaints_stand_with_their_file_and_a_failure_with_none() {
        let mut said = Said::new();
        collect("sdk_a.ts(2,3): error TS1: x\n  because\n\nsdk_b.ts(1,1): error TS2: y\n", &mut said)
            .unwrap();
        let shown: Vec<String> = said.iter().map(|(file, said)| format!("{file} {said:?}")).collect();
        assert_eq!(
            shown,
            [r#"sdk_a.ts ["(2,3): error TS1: x  because"]"#, r#"sdk_b.ts ["(1,1): error TS2: y"]"#]
        );
        assert!(collect("error TS6044: no such option\n", &mut said).is_err());
    }

    #[test]
    fn a_snapshot_is_what_stands_below_its_header() {
        assert_eq!(body("---\nsource: x\n---\ntype A\n"), "type A\n");
        assert_eq!(body("type A\n"), "type A\n");
    }

    #[test]
    fn declarations_are_what_stands_between_the_fences() {
        let section = "## Writing\n\nThe tools:\n\n```ts\ntype A\n// ``` within\ntype B\n```\n";
        assert_eq!(block(section, Language::TypeScript), Some("type A\n// ``` within\ntype B"));
        assert_eq!(block(section, Language::Python), None);
        assert_eq!(block("```ts\ntype A", Language::TypeScript), None);
    }
}
