//! `cargo xtask sdk-check`: what compiles and type-checks the declarations that models are given (spec 05 §9, 27).
//!
//! ```text
//! fixtures/tool-sdk   NAME.LANGUAGE.snap + NAME.calls.EXT ──┐
//!                                                           ├─▶ target/tmp/sdk-check ─▶ tsc, ast.parse, mypy ─▶ findings
//! random tools        cargo run --example random_sdks ──────┘
//! ```
//!
//! A program with calls marks each call that has to be refused (`@ts-expect-error`, `type: ignore`), and the checkers
//! report a mark that is not needed. The checkers are installed below `target/`, so this is no part of `check`.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::report::{self, Finding, Verdict};
use crate::{command, files};

const TYPESCRIPT: &str = "typescript@5.9.3";
const MYPY: &str = "mypy==1.18.2";

const FIXTURES: &str = "fixtures/tool-sdk";
const FOLDER: &str = "target/tmp/sdk-check";

/// Installs what is missing, and judges every program.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<Verdict> {
    if !arguments.is_empty() {
        bail!("sdk-check takes no arguments");
    }
    let folder = root.join(FOLDER);
    let checkers = Checkers::installed(&folder)?;
    let mut programs = accepted(root)?;
    programs.extend(random(root)?);
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

/// What is looked at in `fixtures/tool-sdk/NAME.json`.
#[derive(Deserialize)]
struct Set {
    /// By language.
    #[serde(default)]
    refused: BTreeMap<Language, String>,
}

/// What `random_sdks` prints, once for each.
#[derive(Deserialize)]
struct Rendered {
    language: Language,
    declarations: String,
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

/// The programs of the fixtures, from the declarations as they were accepted.
fn accepted(root: &Path) -> Result<Vec<Program>> {
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
fn random(root: &Path) -> Result<Vec<Program>> {
    let example =
        command::cargo(root, ["run", "--quiet", "--package", "dsh-tool-sdk", "--example", "random_sdks"]);
    command::announce(&example);
    let rendered: Vec<Rendered> =
        serde_json::from_str(&command::text_of(example)?).context("reading what random_sdks printed")?;
    let program = |(number, Rendered { language, declarations }): (usize, Rendered)| Program {
        name: format!("random_{number}"),
        language,
        text: language.program(&declarations, ""),
        refused: None,
        typed: false,
    };
    Ok(rendered.into_iter().enumerate().map(program).collect())
}

/// A snapshot without what its tool wrote above it.
fn body(snapshot: &str) -> &str {
    let behind_header = snapshot.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n"));
    behind_header.map_or(snapshot, |(_, body)| body)
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

/// The compilers and type checkers.
struct Checkers {
    tsc: PathBuf,
    python: PathBuf,
}

impl Checkers {
    /// Those below `folder`, installed if they are not there.
    fn installed(folder: &Path) -> Result<Self> {
        fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
        let checkers = Self {
            tsc: folder.join("node_modules/typescript/bin/tsc"),
            python: folder.join("venv/bin/python"),
        };
        if !checkers.tsc.is_file() {
            let mut install = Command::new("npm");
            install.current_dir(folder).args([
                "install",
                "--no-audit",
                "--no-fund",
                "--prefix",
                ".",
                TYPESCRIPT,
            ]);
            command::succeed(install, "sdk-check needs `npm` and its registry")?;
        }
        let mut mypy = Command::new(&checkers.python);
        mypy.args(["-m", "mypy", "--version"]);
        if !command::works(mypy)? {
            let mut create = Command::new("python3");
            create.current_dir(folder).args(["-m", "venv", "venv"]);
            command::succeed(create, "sdk-check needs `python3`, 3.11 or later, with `venv`")?;
            let mut install = Command::new(&checkers.python);
            install.args(["-m", "pip", "install", "--quiet", MYPY]);
            command::succeed(install, "sdk-check needs PyPI, or an index that pip is told of")?;
        }
        Ok(checkers)
    }

    fn judge(&self, at: &Path, programs: &[Program]) -> Result<Said> {
        let of = |language| programs.iter().filter(move |program| program.language == language);
        let mut tsc = Command::new("node");
        tsc.arg(&self.tsc).args(["--noEmit", "--strict", "--pretty", "false"]);
        tsc.args(["--target", "es2022", "--lib", "es2023", "--module", "es2022"]);
        tsc.args(of(Language::TypeScript).map(Program::file));
        let mut parse = Command::new(&self.python);
        parse.args(["-c", PARSE]).args(of(Language::Python).map(Program::file));
        let mut mypy = Command::new(&self.python);
        mypy.args(["-m", "mypy", "--strict", "--python-version", "3.11", "--cache-dir", "../mypy_cache"]);
        mypy.args(["--no-error-summary", "--no-color-output", "--hide-error-context"]);
        mypy.args(of(Language::Python).filter(|program| program.typed).map(Program::file));
        let mut said = Said::new();
        for mut checker in [tsc, parse, mypy] {
            collect(&complaints_of(checker.current_dir(at))?, &mut said)?;
        }
        Ok(said)
    }
}

/// Prints a line for each file that is no Python.
const PARSE: &str = "
import ast, sys
for name in sys.argv[1:]:
    try:
        ast.parse(open(name, encoding='utf-8', newline='').read())
    except (SyntaxError, ValueError, RecursionError) as error:
        print(f'{name}: error: {error!r}')
";

/// What a checker prints; it fails when it has printed something.
fn complaints_of(checker: &mut Command) -> Result<String> {
    let program = checker.get_program().to_string_lossy().into_owned();
    let output = checker.output().with_context(|| format!("starting {program}"))?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() && said.trim().is_empty() {
        bail!("{program} failed:\n{}", String::from_utf8_lossy(&output.stderr).trim_end());
    }
    Ok(said)
}

/// Sorts complaints by file: `FILE(2,3): error …` as tsc writes, or `FILE:2: error: …` as mypy does. Other lines add to
/// the one above.
fn collect(text: &str, said: &mut Said) -> Result<()> {
    let mut last = None;
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        if let Some(end) = line.find(['(', ':']).filter(|_| line.starts_with("sdk_")) {
            let (file, complaint) = line.split_at(end);
            if !complaint.contains(": note: ") {
                let complaints = said.entry(file.to_owned()).or_default();
                complaints.push(complaint.trim_start_matches(':').to_owned());
            }
            last = Some(file.to_owned());
        } else if let Some(complaint) =
            last.as_ref().and_then(|file| said.get_mut(file)).and_then(|all| all.last_mut())
        {
            complaint.push_str(line);
        } else {
            bail!("a checker failed: {line}");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Language, Program, Said, body, collect, findings};

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
}
