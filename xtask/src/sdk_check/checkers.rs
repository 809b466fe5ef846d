//! The compilers and type checkers: how they are installed and asked, and what they say.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::{Language, Program, Said};
use crate::command;

const TYPESCRIPT: &str = "typescript@5.9.3";
const MYPY: &str = "mypy==1.18.2";

/// The compilers and type checkers.
pub(super) struct Checkers {
    tsc: PathBuf,
    python: PathBuf,
}

impl Checkers {
    /// Those below `folder`, installed if they are not there.
    pub(super) fn installed(folder: &Path) -> Result<Self> {
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

    pub(super) fn judge(&self, at: &Path, programs: &[Program]) -> Result<Said> {
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
pub(super) fn collect(text: &str, said: &mut Said) -> Result<()> {
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
