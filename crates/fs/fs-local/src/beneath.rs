//! Opening things beneath a root, by descriptors.
//!
//! A canonical path has no links in it. So it is walked from the root's descriptor one name at a time, and a link at
//! any place means that someone put it there after the path was resolved: the walk stops. Whatever is done to the file
//! afterwards is done relative to its directory's descriptor, which a later swap of names can't move.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

/// How a directory is opened that is only walked through.
#[cfg(target_os = "linux")]
const PASS: OFlags = OFlags::PATH.union(DIRECTORY);
#[cfg(not(target_os = "linux"))]
const PASS: OFlags = DIRECTORY;
const DIRECTORY: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// Never waits for the other end of a pipe, never becomes a terminal's owner.
const CONTENT: OFlags = OFlags::NONBLOCK.union(OFlags::NOFOLLOW).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// Why a place could not be opened.
#[derive(Debug)]
pub(crate) enum Blocked {
    /// The system refused.
    Os(Errno),
    /// A link stands on the way, where none was, or stood there a moment ago.
    Link,
    /// It is something else than a regular file: what it is, in words.
    NotRegular(&'static str),
    /// It is something else than a directory.
    NotDirectory,
}

impl From<Errno> for Blocked {
    fn from(errno: Errno) -> Self {
        Self::Os(errno)
    }
}

/// A name in a directory that is held open.
#[derive(Debug)]
pub(crate) struct Place {
    dir: OwnedFd,
    name: OsString,
    made: Vec<Made>,
}

/// A directory that was made on the way.
#[derive(Debug)]
struct Made {
    parent: OwnedFd,
    name: OsString,
}

impl Place {
    /// The place of a canonical path at or beneath a canonical root. `ENOENT` where a directory is missing.
    pub(crate) fn find(root: &Path, path: &Path) -> Result<Self, Blocked> {
        Self::walk(root, path, false)
    }

    /// The same, making the directories that are missing.
    pub(crate) fn make(root: &Path, path: &Path) -> Result<Self, Blocked> {
        Self::walk(root, path, true)
    }

    fn walk(root: &Path, path: &Path, make: bool) -> Result<Self, Blocked> {
        let below = path.strip_prefix(root).map_err(|_| Errno::NOENT)?;
        let mut names = below.components().map(|part| match part {
            Component::Normal(name) => Ok(name),
            // Canonical paths have none of these.
            Component::ParentDir | Component::CurDir | Component::RootDir | Component::Prefix(_) => {
                Err(Errno::INVAL)
            }
        });
        let mut place = Self { dir: open_root(root)?, name: OsString::from("."), made: Vec::new() };
        let Some(mut name) = names.next().transpose()? else { return Ok(place) };
        for next in names {
            if let Err(blocked) = place.enter(name, make) {
                place.unmake();
                return Err(blocked);
            }
            name = next?;
        }
        name.clone_into(&mut place.name);
        Ok(place)
    }

    fn enter(&mut self, name: &OsStr, make: bool) -> Result<(), Blocked> {
        self.dir = match pass(&self.dir, name) {
            Err(Blocked::Os(Errno::NOENT)) if make => {
                match rustix::fs::mkdirat(&self.dir, name, Mode::from_raw_mode(0o777)) {
                    Ok(()) => {
                        let parent = self
                            .dir
                            .try_clone()
                            .map_err(|e| Errno::from_io_error(&e).unwrap_or(Errno::IO))?;
                        self.made.push(Made { parent, name: name.to_owned() });
                    }
                    Err(Errno::EXIST) => {}
                    Err(errno) => return Err(errno.into()),
                }
                pass(&self.dir, name)?
            }
            other => other?,
        };
        Ok(())
    }

    /// The directory that holds the name.
    pub(crate) fn dir(&self) -> &OwnedFd {
        &self.dir
    }

    /// The name in it; `.` for the root itself.
    pub(crate) fn name(&self) -> &OsStr {
        &self.name
    }

    /// What stands there, not following a link; `None` for nothing.
    pub(crate) fn stat(&self) -> Result<Option<Stat>, Errno> {
        match rustix::fs::statat(&self.dir, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno),
        }
    }

    /// Opens the regular file, as [`open_regular`] does.
    pub(crate) fn open_file(&self) -> Result<(File, Stat), Blocked> {
        open_regular(self.dir.as_fd(), &self.name)
    }

    /// Opens a directory for listing or syncing.
    pub(crate) fn open_dir(&self) -> Result<OwnedFd, Blocked> {
        match rustix::fs::openat(&self.dir, &self.name, OFlags::RDONLY | DIRECTORY, Mode::empty()) {
            Ok(dir) => Ok(dir),
            Err(Errno::NOTDIR | Errno::LOOP) if is_swapped(&self.dir, &self.name) => Err(Blocked::Link),
            Err(Errno::NOTDIR) => Err(Blocked::NotDirectory),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Takes away the directories that [`make`](Self::make) made, innermost first, as far as they are empty.
    pub(crate) fn unmake(&mut self) {
        while let Some(Made { parent, name }) = self.made.pop() {
            // Someone else's file in it keeps it, and all above.
            if rustix::fs::unlinkat(&parent, &name, AtFlags::REMOVEDIR).is_err() {
                return;
            }
        }
    }

    /// Brings the directory and those that were made to the device. Best effort: not every file system can.
    pub(crate) fn sync_dirs(&self) {
        for dir in std::iter::once(&self.dir).chain(self.made.iter().rev().map(|made| &made.parent)) {
            let synced = rustix::fs::openat(dir, ".", OFlags::RDONLY | DIRECTORY, Mode::empty())
                .and_then(|dir| rustix::fs::fsync(&dir));
            if let Err(errno) = synced {
                tracing::debug!(%errno, "a directory could not be synced");
            }
        }
    }
}

/// Opens a regular file of a directory for reading. Answers at once for everything else, without opening it.
pub(crate) fn open_regular(dir: BorrowedFd<'_>, name: &OsStr) -> Result<(File, Stat), Blocked> {
    regular(&rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?)?;
    let file = match rustix::fs::openat(dir, name, OFlags::RDONLY | CONTENT, Mode::empty()) {
        Err(Errno::LOOP) => return Err(Blocked::Link),
        other => other?,
    };
    // What was opened counts, not what stood there a moment ago.
    let stat = rustix::fs::fstat(&file)?;
    regular(&stat)?;
    Ok((File::from(file), stat))
}

/// Refuses everything but a regular file.
pub(crate) fn regular(stat: &Stat) -> Result<(), Blocked> {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok(()),
        FileType::Symlink => Err(Blocked::Link),
        FileType::Directory => Err(Blocked::NotRegular("a directory")),
        FileType::Fifo => Err(Blocked::NotRegular("a pipe")),
        FileType::Socket => Err(Blocked::NotRegular("a socket")),
        FileType::CharacterDevice | FileType::BlockDevice => Err(Blocked::NotRegular("a device")),
        FileType::Unknown => Err(Blocked::NotRegular("a special file")),
    }
}

/// Opens a canonical root. Its own directories may lie where others write, so they are walked like what is beneath it.
fn open_root(root: &Path) -> Result<OwnedFd, Blocked> {
    // Elsewhere, directories that may be entered but not read can't be walked by descriptors.
    if cfg!(not(target_os = "linux")) {
        return Ok(rustix::fs::openat(CWD, root, PASS, Mode::empty())?);
    }
    let mut dir = rustix::fs::openat(CWD, "/", PASS, Mode::empty())?;
    for part in root.components() {
        match part {
            Component::Normal(name) => dir = pass(&dir, name)?,
            Component::RootDir => {}
            // Canonical paths have none of these.
            Component::ParentDir | Component::CurDir | Component::Prefix(_) => {
                return Err(Errno::INVAL.into());
            }
        }
    }
    Ok(dir)
}

/// Opens a directory of another, to walk through it.
fn pass(dir: &OwnedFd, name: &OsStr) -> Result<OwnedFd, Blocked> {
    match rustix::fs::openat(dir, name, PASS, Mode::empty()) {
        Ok(dir) => Ok(dir),
        Err(Errno::NOTDIR | Errno::LOOP) if is_swapped(dir, name) => Err(Blocked::Link),
        Err(errno) => Err(errno.into()),
    }
}

/// What was no directory to the system is a link, or a directory again: someone is swapping names.
fn is_swapped(dir: &OwnedFd, name: &OsStr) -> bool {
    rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).is_ok_and(|stat| {
        matches!(FileType::from_raw_mode(stat.st_mode), FileType::Symlink | FileType::Directory)
    })
}
