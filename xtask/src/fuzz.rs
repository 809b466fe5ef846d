//! `cargo xtask fuzz [--seconds N] [TARGET]…`: looks for bytes that break a promise, one target after the other.
//!
//! ```text
//! dsh-fuzz-seeds ──▶ target/fuzz/seeds/TARGET ──┐
//! cargo fuzz build ▶ target/fuzz/build          ├──▶ target/fuzz/finds/TARGET, target/fuzz/logs/TARGET.log
//!                    target/fuzz/corpus/TARGET ◀┘    grows from run to run
//! ```
//!
//! The programs are the package in `fuzz/`, the promises are `dsh-fuzz-targets`. Both are built with the pinned compiler;
//! the programs with flags of their own, below a folder of their own, so that nothing else is built again. No sanitizer is
//! asked for: those need an unstable compiler, and hardly anything here is unsafe. Debug assertions and overflow checks are on.

mod log;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::command;
use crate::report::Verdict;
use log::Told;

/// The package of the programs.
const PACKAGE: &str = "fuzz";
/// What belongs to it and can be thrown away.
const FOLDER: &str = "target/fuzz";
const INSTALL: &str = "fuzz needs cargo-fuzz: run `cargo install cargo-fuzz --locked`";
/// How long each target is fuzzed, unless told otherwise.
const SECONDS: u32 = 60;
/// The bounds on one input, and on a program: more is a find.
const BOUNDS: [&str; 3] = ["-timeout=10", "-rss_limit_mb=2048", "-max_len=32768"];

/// Fuzzes the targets that are named, or all; passed when no promise was broken.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<Verdict> {
    let manifest = Manifest::of(root)?;
    let asked = Asked::of(arguments, &manifest.names())?;
    if !command::has_cargo_command(root, "fuzz")? {
        bail!(INSTALL);
    }
    let programs = Programs::built(root, &asked)?;
    let mut broken = Vec::new();
    for target in &asked.targets {
        let told = programs.fuzz(target, asked.seconds, manifest.dictionary(target))?;
        println!("{target}: {told}");
        if let Some(find) = &told.find {
            println!("  again: {} {find}", programs.shown(target));
            broken.push(target.as_str());
        } else if !told.ended {
            println!("  it did not come to its end: see {}", programs.log(target).display());
            broken.push(target.as_str());
        }
    }
    match broken.as_slice() {
        [] => println!("fuzz: {} targets, no find", asked.targets.len()),
        broken => println!("fuzz: {} targets, finds in {}", asked.targets.len(), broken.join(", ")),
    }
    Ok(Verdict::of(broken.is_empty()))
}

/// What is typed.
#[derive(Debug, PartialEq, Eq)]
struct Asked {
    seconds: u32,
    targets: Vec<String>,
}

impl Asked {
    fn of(arguments: &[String], known: &[&str]) -> Result<Self> {
        let mut asked = Self { seconds: SECONDS, targets: Vec::new() };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            if argument == "--seconds" {
                let seconds = rest.next().and_then(|seconds| seconds.parse().ok());
                asked.seconds =
                    seconds.filter(|seconds| *seconds > 0).context("--seconds takes a number from 1")?;
            } else if known.contains(&argument.as_str()) {
                asked.targets.push(argument.clone());
            } else {
                bail!("no target is called {argument:?}; there are {}", known.join(", "));
            }
        }
        if asked.targets.is_empty() {
            asked.targets = known.iter().map(|&name| name.to_owned()).collect();
        }
        Ok(asked)
    }
}

/// What the manifest of the programs says.
#[derive(Deserialize)]
struct Manifest {
    package: Package,
    #[serde(rename = "bin")]
    programs: Vec<Program>,
}

#[derive(Deserialize)]
struct Package {
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Metadata {
    /// For a target, the words that inputs are put together from.
    dictionaries: std::collections::BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Program {
    name: String,
}

impl Manifest {
    fn of(root: &Path) -> Result<Self> {
        let path = Path::new(PACKAGE).join("Cargo.toml");
        toml::from_str(&crate::files::read(root, &path)?).context("reading fuzz/Cargo.toml")
    }

    fn names(&self) -> Vec<&str> {
        self.programs.iter().map(|program| program.name.as_str()).collect()
    }

    fn dictionary(&self, target: &str) -> Option<String> {
        let name = self.package.metadata.dictionaries.get(target)?;
        Some(format!("{PACKAGE}/dictionaries/{name}.dict"))
    }
}

/// The programs, built.
struct Programs<'a> {
    root: &'a Path,
    /// Where they are, seen from the root.
    folder: PathBuf,
}

impl<'a> Programs<'a> {
    /// Writes the seeds and builds what is asked for.
    fn built(root: &'a Path, asked: &Asked) -> Result<Self> {
        let host = host(root)?;
        let seeds = format!("{FOLDER}/seeds");
        let words = ["run", "--quiet", "--package", "dsh-fuzz-targets", "--bin", "dsh-fuzz-seeds", "--"];
        let mut write = command::cargo(root, words);
        write.arg(&seeds);
        command::succeed(write, "the seeds could not be written")?;
        same_versions(root)?;
        let build_folder = format!("{FOLDER}/build");
        let mut build = command::cargo(root, ["fuzz", "build", "--fuzz-dir", PACKAGE, "--sanitizer", "none"]);
        build.args(["--codegen-units", "16", "--target", &host, "--target-dir", &build_folder]);
        if let [target] = asked.targets.as_slice() {
            build.arg(target);
        }
        command::succeed(build, "the programs in fuzz/ could not be built")?;
        Ok(Self { root, folder: Path::new(&build_folder).join(host).join("release") })
    }

    /// Fuzzes one target, what its program prints in its log.
    fn fuzz(&self, target: &str, seconds: u32, dictionary: Option<String>) -> Result<Told> {
        let [corpus, seeds, finds] =
            ["corpus", "seeds", "finds"].map(|kind| format!("{FOLDER}/{kind}/{target}"));
        for folder in [&corpus, &finds] {
            fs::create_dir_all(self.root.join(folder)).with_context(|| format!("creating {folder}"))?;
        }
        let mut program = Command::new(self.shown(target));
        program.current_dir(self.root).args(BOUNDS);
        program.args([format!("-max_total_time={seconds}"), format!("-artifact_prefix={finds}/")]);
        program.args(dictionary.map(|path| format!("-dict={path}")));
        program.args(["-print_final_stats=1", &corpus, &seeds]);
        command::announce(&program);
        let log = self.log(target);
        fs::create_dir_all(log.parent().unwrap_or(self.root)).context("creating the folder of the logs")?;
        let file = File::create(&log).with_context(|| format!("creating {}", log.display()))?;
        program.stdin(Stdio::null()).stdout(file.try_clone().context("sharing the log")?).stderr(file);
        let status = program.status().with_context(|| format!("starting {}", self.shown(target)))?;
        let text = fs::read(&log).with_context(|| format!("reading {}", log.display()))?;
        Ok(Told::of(&String::from_utf8_lossy(&text), status.success()))
    }

    /// The program of a target, as it can be typed in the root.
    fn shown(&self, target: &str) -> String {
        self.folder.join(target).to_string_lossy().into_owned()
    }

    fn log(&self, target: &str) -> PathBuf {
        self.root.join(FOLDER).join("logs").join(format!("{target}.log"))
    }
}

/// What this machine is called among targets of the compiler.
fn host(root: &Path) -> Result<String> {
    let mut rustc = Command::new("rustc");
    rustc.current_dir(root).arg("-vV");
    let text = command::text_of(rustc)?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("`rustc -vV` names no host")
}

/// The programs have a lock file of their own, which follows the workspace's: what is fuzzed is what is shipped.
fn same_versions(root: &Path) -> Result<()> {
    let (ours, theirs) = (root.join("Cargo.lock"), root.join(PACKAGE).join("Cargo.lock"));
    let changed = |path: &Path| fs::metadata(path).and_then(|about| about.modified()).ok();
    if changed(&theirs) < changed(&ours) {
        fs::copy(&ours, &theirs).with_context(|| format!("writing {}", theirs.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Asked, Manifest};

    fn asked(text: &str) -> Option<(u32, String)> {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        let asked = Asked::of(&words, &["json", "wire"]).ok()?;
        Some((asked.seconds, asked.targets.join(" ")))
    }

    #[test]
    fn all_targets_for_a_minute_unless_told_otherwise() {
        let rows = [
            ("", Some((60, "json wire"))),
            ("wire", Some((60, "wire"))),
            ("--seconds 5 wire json", Some((5, "wire json"))),
            ("wire --seconds 5", Some((5, "wire"))),
            ("--seconds", None),
            ("--seconds 0", None),
            ("--seconds wire", None),
            ("jsno", None),
        ];
        for (text, expected) in rows {
            let expected = expected.map(|(seconds, targets)| (seconds, targets.to_owned()));
            assert_eq!(asked(text), expected, "{text}");
        }
    }

    #[test]
    fn dictionaries_are_for_targets_and_exist() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let manifest = Manifest::of(&root).unwrap();
        for target in manifest.package.metadata.dictionaries.keys() {
            assert!(manifest.names().contains(&target.as_str()), "{target}");
            assert!(root.join(manifest.dictionary(target).unwrap()).is_file(), "{target}");
        }
    }
}
