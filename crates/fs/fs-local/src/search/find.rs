//! Files by name.

use std::cmp::Ordering;
use std::sync::Arc;

use parking_lot::Mutex;
use rustix::fs::{AtFlags, FileType, statat};

use super::pattern::{PathGlob, Place};
use super::progress::{Hit, Kept, Progress};
use super::root::{Cursor, Tree};
use super::shown::{path_order, shown_path};
use super::walk::{Entry, EntryKind, Visit};

/// A file whose path matched.
pub(super) struct Found {
    /// When it was modified last: seconds and nanoseconds.
    modified: (i64, i64),
    pub(super) path: Arc<str>,
}

impl Hit for Found {
    fn text_bytes(&self) -> usize {
        self.path.len()
    }

    fn order(&self, other: &Self) -> Ordering {
        self.modified.cmp(&other.modified).then_with(|| path_order(&self.path, &other.path))
    }
}

/// What one thread does with the entries.
pub(super) struct Finder<'a> {
    tree: &'a Tree,
    glob: &'a PathGlob,
    progress: &'a Progress,
    cursor: Cursor<'a>,
    kept: Kept<Found>,
    all: &'a Mutex<Vec<Kept<Found>>>,
}

impl<'a> Finder<'a> {
    pub(super) fn new(
        tree: &'a Tree,
        glob: &'a PathGlob,
        progress: &'a Progress,
        all: &'a Mutex<Vec<Kept<Found>>>,
    ) -> Self {
        Self { tree, glob, progress, cursor: Cursor::new(tree), kept: Kept::new(progress), all }
    }

    /// When the file was modified, looked up beneath the root. `None` when it is gone, or no file any more.
    fn modified(&mut self, below: &[u8]) -> Option<(i64, i64)> {
        let (dir, name) = self.cursor.dir_and_name(below).ok()?;
        let found = statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let is_file = FileType::from_raw_mode(found.st_mode) == FileType::RegularFile;
        is_file.then(|| (whole(found.st_mtime), whole(found.st_mtime_nsec)))
    }
}

impl Visit for Finder<'_> {
    fn visit(&mut self, entry: &Entry<'_>) {
        let place = Place { root_shown: &self.tree.shown, root_path: &self.tree.path, below: entry.below };
        if entry.kind != EntryKind::File || !self.glob.matches(&place) {
            return;
        }
        if let Some(modified) = self.modified(entry.below) {
            let path = shown_path(&self.tree.shown, entry.below).into();
            self.kept.push(Found { modified, path }, self.progress);
        }
    }
}

impl Drop for Finder<'_> {
    fn drop(&mut self) {
        self.all.lock().push(self.kept.take());
    }
}

/// The types of the fields differ from platform to platform; their values fit on all.
fn whole(value: impl TryInto<i64>) -> i64 {
    value.try_into().unwrap_or(i64::MAX)
}
