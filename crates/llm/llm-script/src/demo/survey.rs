//! What is known about the workspace so far.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::conversation::{Called, Turn};
use super::results::{Listing, Matches, Reading};

/// The glob for every file.
pub(super) const ALL_FILES: &str = "**/*";

/// The glob for the files of the root that say what a project is.
pub(super) const KEY_FILES: &str = "/{README*,Readme*,readme*,Cargo.toml,package.json,pyproject.toml,go.mod,pom.xml,\
    build.gradle*,Gemfile,composer.json,*.sln,CMakeLists.txt,Makefile}";

/// The search for work that is left.
pub(super) const OPEN_ENDS: &str = r"\b(TODO|FIXME)\b";

/// How many files are read.
const MAX_READS: usize = 4;

/// How many kinds are counted one by one when a listing is only a page. Each is a search of the whole tree.
const MAX_KINDS_COUNTED: usize = 5;

/// How many directories are counted one by one then; together they are one search of the tree.
const MAX_DIRECTORIES_COUNTED: usize = 8;

/// Everything that the calls of this turn have brought.
#[derive(Default)]
pub(super) struct Survey {
    /// All files, or a page of them.
    pub(super) files: Option<Result<Listing, String>>,
    pub(super) key_files: Vec<String>,
    pub(super) open_ends: Option<Result<Matches, String>>,
    /// What was read, in order, by path.
    pub(super) readings: Vec<(String, Result<Reading, String>)>,
    counted_kinds: BTreeMap<String, usize>,
    counted_directories: BTreeMap<String, usize>,
}

impl Survey {
    pub(super) fn of(turn: &Turn) -> Self {
        let mut survey = Self::default();
        for call in &turn.calls {
            if let Some(answer) = &call.answer {
                survey.take(call, answer.as_deref().map_err(String::clone));
            }
        }
        survey
    }

    fn take(&mut self, call: &Called, answer: Result<&str, String>) {
        match (&*call.name, call.argument("pattern"), call.argument("path")) {
            ("glob", Some(ALL_FILES), None) => self.files = Some(answer.map(Listing::parse)),
            ("glob", Some(KEY_FILES), None) => {
                self.key_files = answer.map(|text| Listing::parse(text).paths).unwrap_or_default();
            }
            ("glob", Some("*"), Some(directory)) => {
                count(&mut self.counted_directories, directory, answer.ok());
            }
            ("glob", Some(pattern), None) => {
                count(&mut self.counted_kinds, pattern.trim_start_matches("*."), answer.ok());
            }
            ("grep", Some(OPEN_ENDS), None) => self.open_ends = Some(answer.map(Matches::parse)),
            ("read", None, None) => {
                if let Some(path) = call.argument("file_path") {
                    self.readings.push((path.to_owned(), answer.map(Reading::parse)));
                }
            }
            _ => {}
        }
    }

    /// The files to read, the nearest to the root first: one that introduces the project, and those that describe it to
    /// its tools.
    pub(super) fn telling_files(&self) -> Vec<&str> {
        let listed = self.listing().map(|files| &*files.paths).unwrap_or_default();
        let listed = listed.iter().filter(|path| is_own(path));
        let candidates = self.key_files.iter().chain(listed);
        let ranked: BTreeSet<_> =
            candidates.filter_map(|path| Some((path.matches('/').count(), worth(path)?, &**path))).collect();
        let introduction = ranked.iter().find(|(_, worth, _)| *worth == INTRODUCTION);
        let wanted = ranked.iter().filter(|row| row.1 != INTRODUCTION || Some(*row) == introduction);
        wanted.map(|(_, _, path)| *path).take(MAX_READS).collect()
    }

    /// The kinds to count one by one: none when all files are known.
    pub(super) fn kinds_to_count(&self) -> Vec<String> {
        let Some(page) = self.listing().filter(|files| !files.is_complete()) else { return vec![] };
        // Anything else would have to be quoted in a glob.
        let plain = |(kind, _): &(String, usize)| {
            !kind.is_empty() && kind.bytes().all(|byte| byte.is_ascii_alphanumeric())
        };
        by_size(kinds_of(page))
            .into_iter()
            .filter(plain)
            .map(|(kind, _)| kind)
            .take(MAX_KINDS_COUNTED)
            .collect()
    }

    /// The directories to count one by one: none when all files are known.
    pub(super) fn directories_to_count(&self) -> Vec<String> {
        let Some(page) = self.listing().filter(|files| !files.is_complete()) else { return vec![] };
        by_size(directories_of(page))
            .into_iter()
            .map(|(directory, _)| directory)
            .take(MAX_DIRECTORIES_COUNTED)
            .collect()
    }

    /// Files by extension, the most frequent first. The empty extension stands for none.
    pub(super) fn kinds(&self) -> Vec<(String, usize)> {
        self.counts(&self.counted_kinds, kinds_of)
    }

    /// Files by top-level directory, the largest first.
    pub(super) fn directories(&self) -> Vec<(String, usize)> {
        self.counts(&self.counted_directories, directories_of)
    }

    /// The listing of all files, if there is one.
    pub(super) fn listing(&self) -> Option<&Listing> {
        self.files.as_ref()?.as_ref().ok()
    }

    /// What was counted one by one, or else what the listing shows.
    fn counts(
        &self,
        counted: &BTreeMap<String, usize>,
        shown: fn(&Listing) -> BTreeMap<String, usize>,
    ) -> Vec<(String, usize)> {
        if counted.is_empty() {
            return by_size(self.listing().map(shown).unwrap_or_default());
        }
        by_size(counted.clone())
    }
}

fn count(counts: &mut BTreeMap<String, usize>, name: &str, answer: Option<&str>) {
    if let Some(text) = answer {
        counts.insert(name.to_owned(), Listing::parse(text).total);
    }
}

fn kinds_of(files: &Listing) -> BTreeMap<String, usize> {
    tally(files.paths.iter().map(|path| extension(path)))
}

fn directories_of(files: &Listing) -> BTreeMap<String, usize> {
    tally(files.paths.iter().filter_map(|path| Some(path.split_once('/')?.0)).filter(|name| !name.is_empty()))
}

fn tally<'n>(names: impl Iterator<Item = &'n str>) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for name in names {
        *counts.entry(name.to_owned()).or_insert(0) += 1;
    }
    counts
}

fn by_size(counts: BTreeMap<String, usize>) -> Vec<(String, usize)> {
    let mut counts: Vec<_> = counts.into_iter().filter(|(_, count)| *count > 0).collect();
    counts.sort_by_key(|(_, count)| Reverse(*count));
    counts
}

/// What follows the last dot of the name, unless the name begins with it.
fn extension(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map_or("", |(_, extension)| extension)
}

/// Whether a file near the root is the project's own, and not hidden or what a tool put there.
fn is_own(path: &str) -> bool {
    const FOREIGN: [&str; 5] = ["node_modules", "vendor", "target", "dist", "build"];
    let parts: Vec<_> = path.split('/').collect();
    parts.len() <= 3 && !parts.iter().any(|part| part.starts_with('.') || FOREIGN.contains(part))
}

/// Whether a file of this name is there to introduce its directory.
pub(super) fn is_introduction(name: &str) -> bool {
    name.get(..6).is_some_and(|start| start.eq_ignore_ascii_case("readme"))
}

/// How much a file tells about its project, the least number most.
fn worth(path: &str) -> Option<usize> {
    const MANIFESTS: [&str; 10] = [
        "Cargo.toml",
        "package.json",
        "pyproject.toml",
        "go.mod",
        "pom.xml",
        "build.gradle",
        "composer.json",
        "Gemfile",
        "CMakeLists.txt",
        "Makefile",
    ];
    let name = path.rsplit('/').next().unwrap_or(path);
    if is_introduction(name) {
        return Some(INTRODUCTION);
    }
    MANIFESTS.iter().position(|manifest| *manifest == name).map(|at| at + INTRODUCTION + 1)
}

const INTRODUCTION: usize = 0;
