//! What is known about the workspace so far.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::apart::{apart, files_apart, own_files, own_files_below, some_files_apart};
use super::conversation::{Answer, Called, Turn};
use super::programs::{Count, is_count};
use super::results::{Listing, Matches, Reading};

/// The glob for the files of the root that say what a project is.
pub(super) const KEY_FILES: &str = "/{README*,Readme*,readme*,Cargo.toml,package.json,pyproject.toml,go.mod,pom.xml,\
    build.gradle*,Gemfile,composer.json,*.sln,CMakeLists.txt,Makefile}";

/// The search for work that is left.
pub(super) const OPEN_ENDS: &str = r"\b(TODO|FIXME)\b";

/// How many calls the second look has, all in all.
const MAX_CALLS: usize = 8;

/// How many of them read a file.
const MAX_READS: usize = 4;

/// How many directories at the top are told apart. Of more, a page shows too little to say which are large.
const MAX_DIRECTORIES: usize = 12;

/// A search for files: its glob, and the directory.
pub(super) type Search = (String, Option<String>);

/// Everything that the calls of this turn have brought.
#[derive(Default)]
pub(super) struct Survey {
    /// The project's own files, or a page of them.
    pub(super) files: Option<Result<Listing, String>>,
    /// What is left out, or a page of it.
    pub(super) apart: Option<Result<Listing, String>>,
    /// Some of what is left out, where all of it could not be listed.
    pub(super) some_apart: Option<Listing>,
    pub(super) open_ends: Option<Result<Matches, String>>,
    /// What was read, in order, by path.
    pub(super) readings: Vec<(String, Result<Reading, String>)>,
    /// What a program has counted.
    pub(super) count: Option<Count>,
    key_files: Vec<String>,
    /// How many files the other searches found.
    counted: BTreeMap<Search, usize>,
}

impl Survey {
    pub(super) fn of(turn: &Turn) -> Self {
        let mut survey = Self::default();
        for call in &turn.calls {
            if let Some(answer) = &call.answer {
                survey.take(call, answer.as_ref().map_err(String::clone));
            }
        }
        survey
    }

    fn take(&mut self, call: &Called, answer: Result<&Answer, String>) {
        if is_count(call) {
            self.count = answer.ok().and_then(Count::of);
            return;
        }
        match (&*call.name, call.argument("pattern"), call.argument("path")) {
            ("glob", Some(pattern), None) if pattern == own_files() => {
                self.files = Some(answer.map(Listing::of));
            }
            ("glob", Some(pattern), None) if pattern == files_apart() => {
                self.apart = Some(answer.map(Listing::of));
            }
            ("glob", Some(pattern), None) if pattern == some_files_apart() => {
                self.some_apart = answer.ok().map(Listing::of);
            }
            ("glob", Some(KEY_FILES), None) => {
                self.key_files = answer.map(|answer| Listing::of(answer).paths).unwrap_or_default();
            }
            ("glob", Some(pattern), path) => {
                if let Ok(answer) = answer {
                    let search = (pattern.to_owned(), path.map(str::to_owned));
                    self.counted.insert(search, Listing::of(answer).total);
                }
            }
            ("grep", Some(OPEN_ENDS), None) => self.open_ends = Some(answer.map(Matches::of)),
            ("read", None, None) => {
                if let Some(path) = call.argument("file_path") {
                    self.readings.push((path.to_owned(), answer.map(Reading::of)));
                }
            }
            _ => {}
        }
    }

    /// The files to read: one that introduces the project, and those that describe it to its tools. They are the root's,
    /// or else the nearest to it.
    pub(super) fn telling_files(&self) -> Vec<&str> {
        let listed = self.own().map(|files| &*files.paths).unwrap_or_default();
        let candidates = self.key_files.iter().chain(listed.iter().filter(|path| is_near(path)));
        let ranked: BTreeSet<_> = candidates
            .filter_map(|path| Some((path.matches('/').count(), worth(path)?, path.len(), &**path)))
            .collect();
        let has_root = ranked.first().is_some_and(|(depth, ..)| *depth == 0);
        let introduction = ranked.iter().find(|row| row.1 == INTRODUCTION);
        let wanted = ranked
            .iter()
            .filter(|row| row.0 == 0 || !has_root)
            .filter(|row| row.1 != INTRODUCTION || Some(*row) == introduction);
        wanted.map(|(.., path)| *path).take(MAX_READS).collect()
    }

    /// Whether the project is known to have files of its own.
    pub(super) fn has_files(&self) -> bool {
        self.own().is_some_and(|files| files.total > 0)
    }

    /// Whether what is left out could not be listed.
    pub(super) fn is_apart_unknown(&self) -> bool {
        matches!(self.apart, Some(Err(_)))
    }

    /// The searches that count: none when all files are known.
    pub(super) fn searches(&self) -> Vec<Search> {
        let kinds = self.kinds_to_count().into_iter().map(|(_, search)| search);
        kinds.chain(self.directories_to_count().into_iter().map(|(_, search)| search)).collect()
    }

    /// How many files of its own the project has.
    pub(super) fn total(&self) -> Option<usize> {
        self.count.as_ref().map(|count| count.files).or_else(|| Some(self.own()?.total))
    }

    /// Files by extension, the most frequent first. The empty extension stands for none.
    pub(super) fn kinds(&self) -> Vec<(String, usize)> {
        match &self.count {
            Some(count) => by_size(count.kinds.iter().cloned().collect()),
            None => self.counts(kinds_of, self.kinds_to_count()),
        }
    }

    /// Files by top-level directory, the largest first.
    pub(super) fn directories(&self) -> Vec<(String, usize)> {
        match &self.count {
            Some(count) => by_size(count.directories.iter().cloned().collect()),
            None => self.counts(directories_of, self.directories_to_count()),
        }
    }

    /// How many directories there are at the top when they are too many to count; a lower bound unless it is exact.
    pub(super) fn uncounted_directories(&self) -> Option<(usize, bool)> {
        if self.count.is_some() {
            return None;
        }
        let page = self.page()?;
        let found = directories_of(page).len();
        (found > MAX_DIRECTORIES).then(|| (found, page.shows_every_entry()))
    }

    /// The listing of the project's own files, if there is one.
    pub(super) fn own(&self) -> Option<&Listing> {
        self.files.as_ref()?.as_ref().ok()
    }

    /// The listing of what is left out, if there is one.
    pub(super) fn left_out(&self) -> Option<&Listing> {
        self.apart.as_ref()?.as_ref().ok()
    }

    /// The page of the project's own files, when there are more.
    fn page(&self) -> Option<&Listing> {
        self.own().filter(|files| !files.is_complete())
    }

    /// What was counted one by one, or else what the listing shows.
    fn counts(
        &self,
        shown: fn(&Listing) -> BTreeMap<String, usize>,
        searches: Vec<(String, Search)>,
    ) -> Vec<(String, usize)> {
        let Some(files) = self.own() else { return vec![] };
        if files.is_complete() {
            return by_size(shown(files));
        }
        let counted = searches.into_iter().filter_map(|(name, search)| {
            let count = *self.counted.get(&search)?;
            let is_rest = search.1.is_none() && search.0.starts_with('!');
            Some((name, if is_rest { files.total.saturating_sub(count) } else { count }))
        });
        by_size(counted.collect())
    }

    /// The kinds to count one by one, each a search of the whole tree.
    fn kinds_to_count(&self) -> Vec<(String, Search)> {
        let Some(page) = self.page() else { return vec![] };
        let plain = |kind: &String| !kind.is_empty() && kind.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let kinds = by_size(kinds_of(page)).into_iter().map(|(kind, _)| kind).filter(plain);
        let kinds = kinds.map(|kind| {
            let search = (self.kind_glob(&kind), None);
            (kind, search)
        });
        let room = self.room();
        kinds.take(room - self.room_for_directories(room)).collect()
    }

    /// The directories to count one by one.
    fn directories_to_count(&self) -> Vec<(String, Search)> {
        let Some(page) = self.page() else { return vec![] };
        let glob = if self.is_nothing_nested() { "*".to_owned() } else { own_files_below() };
        let directories = by_size(directories_of(page)).into_iter().map(|(name, _)| name);
        let directories = directories.map(|name| {
            let search = (glob.clone(), Some(name.clone()));
            (name, search)
        });
        directories.take(self.room_for_directories(self.room())).collect()
    }

    fn room_for_directories(&self, room: usize) -> usize {
        if self.uncounted_directories().is_some() { 0 } else { room / 2 }
    }

    /// How many calls are left when the telling files are read, and what is left out is named.
    fn room(&self) -> usize {
        MAX_CALLS - self.telling_files().len().min(MAX_READS) - usize::from(self.is_apart_unknown())
    }

    /// A glob that counts a kind among the project's own files. Where these can't be told apart by the directories at the
    /// top, it is one for all that are not of this kind.
    fn kind_glob(&self, kind: &str) -> String {
        if self.left_out().is_some_and(|apart| apart.total == 0) {
            return format!("*.{kind}");
        }
        match self.all_directories() {
            Some(directories) => format!("{{*.{kind},{{{}}}/**/*.{kind}}}", directories.join(",")),
            None => format!("!{{**/*.{kind},{}}}", files_apart()),
        }
    }

    /// The project's own directories at the top, when a glob may name them and has nothing to leave out in them.
    fn all_directories(&self) -> Option<Vec<String>> {
        let page = self.own().filter(|page| self.is_nothing_nested() && page.shows_every_entry())?;
        let plain = |name: &String| {
            name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
        };
        let directories: Vec<_> = directories_of(page).into_keys().collect();
        let nameable = (1..=MAX_DIRECTORIES).contains(&directories.len()) && directories.iter().all(plain);
        nameable.then_some(directories)
    }

    /// Whether all that is left out is known to lie in directories at the top.
    fn is_nothing_nested(&self) -> bool {
        self.left_out().is_some_and(|page| {
            let mut found = page.paths.iter().filter_map(|path| apart(path));
            page.shows_every_entry() && !found.any(|found| found.nested)
        })
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

/// Whether a file is near the root, and not one that stands for something else.
fn is_near(path: &str) -> bool {
    const EXAMPLES: [&str; 9] = [
        "fixtures",
        "testdata",
        "tests",
        "test",
        "examples",
        "example",
        "benches",
        "templates",
        "third_party",
    ];
    let parts: Vec<_> = path.split('/').collect();
    parts.len() <= 3 && !parts.iter().any(|part| part.starts_with('.') || EXAMPLES.contains(part))
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
