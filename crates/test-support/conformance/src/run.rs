//! From a folder of vector files to a report.

use std::path::{Path, PathBuf};
use std::time::Duration;

use dsh_json::object;

use crate::contain::contained;
use crate::file::{self, Content, Vector};
use crate::report::{Judged, difference};
use crate::{Fault, Kind, Report};

/// How long one vector may take. The largest take a second where two cores are shared with a build.
const LIMIT: Duration = Duration::from_secs(20);

/// Why nothing was run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A kind was named that nobody knows.
    #[error("no kind of vectors is called {name:?}; known are {known}")]
    UnknownKind {
        /// The name.
        name: String,
        /// The names of all kinds.
        known: String,
    },
    /// The folder can't be read.
    #[error("{} can't be read: {error}", dir.display())]
    Unreadable {
        /// The folder.
        dir: PathBuf,
        /// Why.
        error: std::io::Error,
    },
}

/// Runs the vector files in a folder, or one file: the kinds that are named, or all.
///
/// # Errors
/// [`RunError`] before anything is run. Everything later is in the report.
pub fn run(dir: &Path, kinds: &[&str]) -> Result<Report, RunError> {
    if let Some(name) = kinds.iter().find(|name| Kind::named(name).is_none()) {
        return Err(RunError::UnknownKind { name: (*name).to_owned(), known: all_names() });
    }
    let mut report = Report::default();
    let unreadable = |error| RunError::Unreadable { dir: dir.to_owned(), error };
    for path in files(dir).map_err(unreadable)? {
        let file = path.display().to_string();
        match file::read(&path) {
            Ok(Content::Other) => report.skip(file, "no vector file"),
            Ok(Content::Vectors(kind, _)) if !kinds.is_empty() && !kinds.contains(&kind.as_str()) => {}
            Ok(Content::Vectors(kind, vectors)) => run_file(&mut report, &file, &kind, vectors),
            Err(fault) => report.fault(&file, None, &fault),
        }
    }
    Ok(report)
}

/// Runs the recorded vectors of this repository: the kinds that are named. For the tests of the crates whose behaviour
/// was recorded.
///
/// # Panics
/// Never. What can't be run at all is a failure in the report.
pub fn recorded(kinds: &[&str]) -> Report {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/vectors");
    let mut report = run(&dir, kinds).unwrap_or_else(|error| {
        let mut report = Report::default();
        report.fault(&dir.display().to_string(), None, &Fault::scene(error));
        report
    });
    for kind in kinds {
        let ran = report.passed.iter().any(|(known, passed)| known == kind && *passed > 0);
        if !ran && !report.skipped.iter().any(|(skipped, _)| skipped == kind) {
            report.fault(&dir.display().to_string(), None, &Fault::Missing((*kind).to_owned()));
        }
    }
    report
}

fn run_file(report: &mut Report, file: &str, name: &str, vectors: Vec<file::Named>) {
    let Some(kind) = Kind::named(name) else {
        return report.skip(name, "nobody knows this kind");
    };
    if let Some(missing) = (kind.lacks)() {
        return report.skip(name, format!("not built yet: {missing}"));
    }
    report.begin(kind.name, kind.rules);
    for (id, vector) in vectors {
        match vector.and_then(|vector| contained(LIMIT, move || judge(&vector))) {
            Ok(judged) => report.note(kind.name, file, &id, judged),
            Err(fault) => report.fault(file, Some(&id), &fault),
        }
    }
}

pub(crate) fn judge(vector: &Vector) -> Result<Judged, Fault> {
    let kind = Kind::named(&vector.kind).ok_or_else(|| Fault::Missing(vector.kind.clone()))?;
    let mut expected = (None, vector.output.clone());
    for rule in kind.rules {
        if let Some(ours) = (rule.expected)(vector)? {
            expected = (Some(rule), ours);
            break;
        }
    }
    let (rule, expected) = expected;
    let got = match vector.refused {
        Some(code) => Err(Fault::Refused(code)),
        None => (kind.run)(vector),
    };
    let got = match got {
        Err(Fault::Refused(code)) => object! { "refused": code },
        got => got?,
    };
    let agrees = (kind.agrees)(&got, &expected);
    Ok(Judged { rule, difference: (!agrees).then(|| difference(&expected, &got)) })
}

/// The files to be looked at, in order of name.
fn files(dir: &Path) -> std::io::Result<Vec<PathBuf>> {
    if dir.is_file() {
        return Ok(vec![dir.to_owned()]);
    }
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "json") && path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn all_names() -> String {
    let mut names: Vec<&str> = crate::KINDS.iter().map(|kind| kind.name).collect();
    names.sort_unstable();
    names.join(", ")
}
