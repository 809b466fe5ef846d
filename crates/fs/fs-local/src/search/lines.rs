//! Lines by content.

use std::cmp::Ordering;
use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;

use dsh_fs::{GrepMatch, WarningKind};
use grep_matcher::LineTerminator;
use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkMatch};
use parking_lot::Mutex;
use rustix::fs::{AtFlags, Dir, DirEntry, FileType, statat};

use super::pattern::{PathGlob, Place};
use super::progress::{Hit, Kept, Progress};
use super::root::{Cursor, Tree, gone_or};
use super::shown::{path_order, shown_path};
use super::walk::{Entry, EntryKind, Visit, unreadable};

/// A file is read in pieces of this size, and the lines in each are looked at before the next one: the longest that a
/// costly pattern keeps a stopped search going, long lines aside.
const PIECE: usize = 16 * 1024;

impl Hit for GrepMatch {
    fn text_bytes(&self) -> usize {
        self.path.len() + self.line.as_ref().map_or(0, |line| line.len())
    }

    fn order(&self, other: &Self) -> Ordering {
        path_order(&self.path, &other.path)
            .then_with(|| self.line_number.cmp(&other.line_number))
            .then_with(|| self.line.cmp(&other.line))
    }
}

/// Searches files one after the other.
pub(super) struct LineSearch<'a> {
    progress: &'a Progress,
    matcher: RegexMatcher,
    searcher: Searcher,
    kept: Kept<GrepMatch>,
}

impl<'a> LineSearch<'a> {
    pub(super) fn new(progress: &'a Progress, matcher: &RegexMatcher) -> Self {
        let searcher = SearcherBuilder::new()
            .line_terminator(LineTerminator::crlf())
            .line_number(true)
            .binary_detection(BinaryDetection::quit(0))
            .heap_limit(Some(progress.limits().max_bytes.get()))
            .build();
        Self { progress, matcher: matcher.clone(), searcher, kept: Kept::new(progress) }
    }

    /// Adds the matching lines of a file. Returns where it was found to be binary.
    pub(super) fn search(&mut self, file: &File, path: &Arc<str>) -> Option<u64> {
        let mut lines =
            Lines { path, progress: self.progress, kept: &mut self.kept, found: 0, binary_from: None };
        let reader = Stoppable { file, progress: self.progress };
        let outcome = self.searcher.search_reader(&self.matcher, reader, &mut lines);
        let (found, binary_from) = (lines.found, lines.binary_from);
        match (outcome, binary_from) {
            (Err(error), _) if !self.progress.stopped() => self.warn(path, self.what_failed(&error)),
            (Ok(()), Some(offset)) if found > 0 => self.warn(path, WarningKind::BinaryFrom { offset }),
            (Ok(()) | Err(_), _) => {}
        }
        binary_from
    }

    pub(super) fn warn(&self, path: &str, kind: WarningKind) {
        self.progress.warn(path.to_owned(), kind);
    }

    pub(super) fn take(&mut self) -> Kept<GrepMatch> {
        self.kept.take()
    }

    fn what_failed(&self, error: &io::Error) -> WarningKind {
        // The searcher has no other kind of error that is its own.
        if error.kind() == io::ErrorKind::Other && error.raw_os_error().is_none() {
            WarningKind::LongLine { limit: self.progress.limits().max_bytes }
        } else {
            unreadable(error)
        }
    }
}

/// What one thread does with the entries of a tree.
pub(super) struct TreeSearch<'a> {
    tree: &'a Tree,
    include: Option<&'a PathGlob>,
    cursor: Cursor<'a>,
    search: LineSearch<'a>,
    all: &'a Mutex<Vec<Kept<GrepMatch>>>,
}

impl<'a> TreeSearch<'a> {
    pub(super) fn new(
        tree: &'a Tree,
        include: Option<&'a PathGlob>,
        search: LineSearch<'a>,
        all: &'a Mutex<Vec<Kept<GrepMatch>>>,
    ) -> Self {
        Self { tree, include, cursor: Cursor::new(tree), search, all }
    }

    fn search_file(&mut self, below: &[u8]) {
        let opened = self.cursor.open_file(below);
        let path: Arc<str> = shown_path(&self.tree.shown, below).into();
        match opened {
            Ok(Some(file)) => {
                self.search.search(&file, &path);
            }
            Ok(None) => {}
            Err(error) => self.search.warn(&path, unreadable(&error)),
        }
    }

    /// Searches the files of a directory that the include means, whatever ignore files and hidden names say about them.
    fn search_included(&mut self, dir: &[u8], include: &PathGlob) {
        match self.included(dir, include).map(Some).or_else(gone_or) {
            Ok(files) => {
                for file in files.into_iter().flatten() {
                    if self.search.progress.stopped() {
                        return;
                    }
                    self.search_file(&file);
                }
            }
            Err(error) => self.search.warn(&shown_path(&self.tree.shown, dir), unreadable(&error)),
        }
    }

    /// The regular files in a directory that the include means.
    fn included(&self, dir: &[u8], include: &PathGlob) -> io::Result<Vec<Vec<u8>>> {
        let mut below = dir.to_vec();
        if !below.is_empty() {
            below.push(b'/');
        }
        let start = below.len();
        let mut files = Vec::new();
        let mut entries = Dir::new(self.tree.open(dir)?)?;
        while let Some(entry) = entries.next() {
            if self.search.progress.stopped() {
                break;
            }
            let entry = entry?;
            below.truncate(start);
            below.extend_from_slice(entry.file_name().to_bytes());
            let place = Place { root_shown: &self.tree.shown, root_path: &self.tree.path, below: &below };
            if include.matches(&place) && is_file(&entries, &entry) {
                files.push(below.clone());
            }
        }
        Ok(files)
    }
}

impl Visit for TreeSearch<'_> {
    fn visit(&mut self, entry: &Entry<'_>) {
        match (entry.kind, self.include) {
            (EntryKind::File, None) => self.search_file(entry.below),
            (EntryKind::Directory, Some(include)) => self.search_included(entry.below, include),
            (EntryKind::File, Some(_)) | (EntryKind::Directory, None) => {}
        }
    }
}

impl Drop for TreeSearch<'_> {
    fn drop(&mut self) {
        self.all.lock().push(self.search.take());
    }
}

/// Whether an entry is a regular file, also where listings do not say so.
fn is_file(dir: &Dir, entry: &DirEntry) -> bool {
    let mut kind = entry.file_type();
    if kind == FileType::Unknown
        && let Ok(dir) = dir.fd()
        && let Ok(found) = statat(dir, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW)
    {
        kind = FileType::from_raw_mode(found.st_mode);
    }
    kind == FileType::RegularFile
}

/// A file that ends with an error when the search is stopped, so that a large one does not hold it up.
struct Stoppable<'a> {
    file: &'a File,
    progress: &'a Progress,
}

impl Read for Stoppable<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.progress.stopped() {
            return Err(io::Error::other("the search was stopped"));
        }
        let piece = buffer.len().min(PIECE);
        self.file.read(buffer.get_mut(..piece).unwrap_or_default())
    }
}

/// Collects the matching lines of one file.
struct Lines<'a> {
    path: &'a Arc<str>,
    progress: &'a Progress,
    kept: &'a mut Kept<GrepMatch>,
    found: u64,
    binary_from: Option<u64>,
}

impl Sink for Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _searcher: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        let line = found.bytes();
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let hit = GrepMatch {
            path: Arc::clone(self.path),
            line_number: found.line_number().unwrap_or(0),
            line: simdutf8::basic::from_utf8(line).ok().map(Arc::from),
        };
        self.found += 1;
        self.kept.push(hit, self.progress);
        Ok(!self.progress.stopped())
    }

    fn binary_data(&mut self, _searcher: &Searcher, offset: u64) -> io::Result<bool> {
        self.binary_from = Some(offset);
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Seek as _, Write as _};
    use std::num::NonZeroUsize;

    use dsh_fs::{SearchError, SearchLimits};
    use dsh_lifecycle::{Cancel, Cause};

    use super::*;
    use crate::search::pattern::line_matcher;

    #[test]
    fn a_stopped_search_reads_no_further() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"needle\n").unwrap();
        file.rewind().unwrap();
        let max_warnings = NonZeroUsize::MIN;
        let limits = SearchLimits { max_hits: None, max_bytes: NonZeroUsize::MAX, max_warnings };
        let cancel = Cancel::new();
        let progress = Progress::new(limits, cancel.clone());
        let mut search = LineSearch::new(&progress, &line_matcher("needle").unwrap());
        cancel.cancel(Cause::User);
        search.search(&file, &Arc::from("a"));
        assert_eq!(file.stream_position().unwrap(), 0);
        assert_eq!(Kept::merge(vec![search.take()]), (vec![], false));
        assert!(matches!(progress.finish(), Err(SearchError::Aborted)));
    }
}
