//! Sweeping away the staged files of writers that were killed.
//!
//! A write leaves nothing behind when it fails; a killed process leaves the staged file that it was at. That is
//! removed when someone finds it and can tell that its writer is dead:
//!
//! ```text
//! name of a staged file → regular file, opened without following a link → its lock is free → name still its → unlink
//! ```
//!
//! # Why a living writer loses nothing
//!
//! The rule is that only who holds a staged file's lock takes its name away, by renaming or by unlinking.
//!
//! - A writer has the lock from the creation on, and loses it by closing the file: after the name is gone, or when it
//!   dies. So a free lock is a dead writer's, whatever process or container it lived in. Process ids play no part: they
//!   are reused, and mean nothing to another container that shares the tree.
//! - Between its creation and its lock a staged file looks like a dead writer's. A writer that then finds the lock taken,
//!   or its name gone, has written nothing yet and begins another one.
//! - A sweeper looks at the name again when it has the lock. If that still stands for the locked file, it does so until
//!   the unlink, by the rule. So a file that was created later under the same name is never hit.
//!
//! Where the file system has no locks, or none for files that are open for reading only (some network file systems),
//! nothing is swept and nothing breaks. Where each machine has locks of its own on a shared tree, a sweeper on another
//! machine can take a living writer's staged file away; the write is then begun again or fails, and the old file stays.
//!
//! # When it happens
//!
//! - [`LocalFs::sweep`](crate::LocalFs::sweep) goes through the workspace. Whoever starts a process calls it once, beside
//!   everything else. It looks at `sweepMaxEntries` entries at most, at those higher up in the tree first, follows no
//!   link, and enters neither other devices nor more than [`DEEPEST`] levels.
//! - The first change of a file in a directory sweeps that directory ([`Swept`]): what the walk did not reach, and what
//!   lies outside the workspace.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dsh_sandbox_policy::SandboxPolicy;
use parking_lot::Mutex;
use rustix::fs::{AtFlags, Dir, FileType};

use crate::beneath::{Blocked, Place, open_regular};
use crate::stage::{claim, is_staged};
use crate::work::Stop;

/// How many levels below the root are swept. Each costs a step for every directory on it.
const DEEPEST: usize = 64;
/// How many directories are remembered as swept. Those that come later are left to the walk.
const REMEMBERED: usize = 1024;

/// Sweeps a tree, and returns how many files it removed. What can't be reached or removed is left; when it is stopped,
/// or has looked at `most` entries, so is the rest.
pub(crate) fn tree(root: &Path, most: u64, stop: &Stop) -> usize {
    sweep(root, root, DEEPEST, most, stop)
}

/// Sweeps the directory of a file that is about to be changed, if it was not swept before.
#[derive(Debug, Clone, Default)]
pub(crate) struct Swept(Arc<Mutex<HashSet<PathBuf>>>);

impl Swept {
    pub(crate) fn once(&self, file: &Path, most: u64, policy: &SandboxPolicy, stop: &Stop) {
        if let Some(dir) = file.parent()
            && let Some(root) = policy.write_root_of(dir)
            && self.is_first(dir)
        {
            sweep(root, dir, 0, most, stop);
        }
    }

    fn is_first(&self, dir: &Path) -> bool {
        let mut swept = self.0.lock();
        swept.len() < REMEMBERED && !swept.contains(dir) && swept.insert(dir.to_owned())
    }
}

/// Sweeps a directory at or beneath a root, and so many levels below it.
fn sweep(root: &Path, from: &Path, levels: usize, most: u64, stop: &Stop) -> usize {
    let mut sweep = Sweep { root, stop, device: None, left: most, swept: 0 };
    let mut level = vec![from.to_owned()];
    for _ in 0..=levels {
        let mut below = Vec::new();
        for dir in level {
            if let Err(blocked) = sweep.enter(&dir, &mut below) {
                tracing::debug!(?blocked, "a directory is not swept");
            }
        }
        level = below;
    }
    if sweep.left == 0 {
        tracing::debug!(most, "the bound `sweepMaxEntries` was reached, the rest is not swept");
    }
    if sweep.swept > 0 {
        tracing::debug!(swept = sweep.swept, "what killed writers left was removed");
    }
    sweep.swept
}

struct Sweep<'a> {
    root: &'a Path,
    stop: &'a Stop,
    /// The one that it began on.
    device: Option<u64>,
    /// How many entries may still be looked at.
    left: u64,
    swept: usize,
}

impl Sweep<'_> {
    /// Sweeps one directory, and adds those in it to `below`.
    fn enter(&mut self, path: &Path, below: &mut Vec<PathBuf>) -> Result<(), Blocked> {
        if self.is_over() {
            return Ok(());
        }
        let dir = Place::find(self.root, path)?.open_dir()?;
        let device = rustix::fs::fstat(&dir)?.st_dev;
        if device != *self.device.get_or_insert(device) {
            return Ok(());
        }
        let mut dir = Dir::new(dir)?;
        for name in self.list(&mut dir, path, below)? {
            self.swept += usize::from(is_removed(dir.fd()?, &name));
        }
        Ok(())
    }

    /// The names of staged files in a directory. All of them before the first is removed, so that none is skipped.
    fn list(
        &mut self,
        dir: &mut Dir,
        path: &Path,
        below: &mut Vec<PathBuf>,
    ) -> Result<Vec<OsString>, Blocked> {
        let mut staged = Vec::new();
        while !self.is_over() {
            let Some(entry) = dir.read().transpose()? else { break };
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            self.left -= 1;
            // Some file systems don't tell the kind here; opening does.
            let kind = entry.file_type();
            if matches!(kind, FileType::RegularFile | FileType::Unknown) && is_staged(name) {
                staged.push(name.to_owned());
            }
            if matches!(kind, FileType::Directory | FileType::Unknown) {
                below.push(path.join(name));
            }
        }
        Ok(staged)
    }

    fn is_over(&self) -> bool {
        self.left == 0 || self.stop.check().is_err()
    }
}

/// Removes a staged file whose writer is dead, and tells whether it did.
fn is_removed(dir: BorrowedFd<'_>, name: &OsStr) -> bool {
    let Ok((file, _)) = open_regular(dir, name) else { return false };
    claim(dir, name, &file) == Ok(true) && rustix::fs::unlinkat(dir, name, AtFlags::empty()).is_ok()
}

#[cfg(test)]
mod tests;
