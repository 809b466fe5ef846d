//! One text in its session's directory: looked at, or written so that it is there whole or not at all.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};

use dsh_spill::SpillError;
use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, RenameFlags, Stat, Timespec, Timestamps, UTIME_NOW, UTIME_OMIT,
};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::name;
use crate::place::{io, sync_dir};
use crate::work::Fate;

/// How many bytes are written or read between two looks at whether the work goes on.
const PIECE: usize = 1 << 20;
/// How many names of unfinished files are tried when others are in the way.
const NAMES: usize = 64;
/// What a private file allows to nobody.
const OTHERS: Mode = Mode::RWXG.union(Mode::RWXO);

static NEXT: AtomicU64 = AtomicU64::new(0);

/// What a name stands for.
#[derive(Debug)]
pub(crate) enum Found {
    Nothing,
    /// The text, in a private file of this user.
    Same(File, Version),
    /// Something else, a damaged copy of the text included.
    Other,
}

/// A file as it was when it was looked at. While it stays so, its content does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Version([i128; 7]);

impl Version {
    fn of(stat: &Stat) -> Self {
        let (modified, changed) = ((stat.st_mtime, stat.st_mtime_nsec), (stat.st_ctime, stat.st_ctime_nsec));
        Self([
            stat.st_dev.into(),
            stat.st_ino.into(),
            stat.st_size.into(),
            modified.0.into(),
            modified.1.into(),
            changed.0.into(),
            changed.1.into(),
        ])
    }
}

/// The digest of a text.
pub(crate) fn digest(content: &[u8], fate: &Fate) -> Result<blake3::Hash, SpillError> {
    let mut hasher = blake3::Hasher::new();
    for piece in content.chunks(PIECE) {
        fate.check()?;
        hasher.update(piece);
    }
    Ok(hasher.finalize())
}

/// Looks whether a name stands for a text of this length and digest. A file that is as it was when it was `known` is not
/// read again.
pub(crate) fn look(
    dir: &OwnedFd,
    name: &str,
    (length, digest): (u64, &blake3::Hash),
    known: Option<Version>,
    fate: &Fate,
) -> Result<Found, SpillError> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = match rustix::fs::openat(dir, name, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(Errno::NOENT) => return Ok(Found::Nothing),
        // A link, a socket, or a file that this user may not read.
        Err(Errno::LOOP | Errno::NXIO | Errno::ACCESS) => return Ok(Found::Other),
        Err(errno) => return Err(io(errno)),
    };
    let stat = rustix::fs::fstat(&file).map_err(io)?;
    let is_private = stat.st_uid == geteuid().as_raw()
        && Mode::from_raw_mode(stat.st_mode).intersection(OTHERS).is_empty();
    let is_file = FileType::from_raw_mode(stat.st_mode).is_file();
    if !is_file || !is_private || u64::try_from(stat.st_size) != Ok(length) {
        return Ok(Found::Other);
    }
    let version = Version::of(&stat);
    if known == Some(version) {
        return Ok(Found::Same(file, version));
    }
    let (mut hasher, mut piece) = (blake3::Hasher::new(), vec![0; PIECE]);
    // Whoever appends to it does not keep this going.
    let mut rest = (&file).take(length.saturating_add(1));
    loop {
        fate.check()?;
        let count = rest.read(&mut piece)?;
        let read = piece.get(..count).unwrap_or_default();
        if read.is_empty() {
            break;
        }
        hasher.update(read);
    }
    let is_same = hasher.finalize() == *digest;
    Ok(if is_same { Found::Same(file, version) } else { Found::Other })
}

/// Makes a file that was found count as saved now: on the device, and new to a sweep.
pub(crate) fn renew(dir: &OwnedFd, file: &File, sync: bool) -> Result<(), SpillError> {
    let keep = Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT };
    let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
    rustix::fs::futimens(file, &Timestamps { last_access: keep, last_modification: now }).map_err(io)?;
    if sync {
        file.sync_all()?;
        sync_dir(dir)?;
    }
    Ok(())
}

/// Stores a text under a name that nobody has. `false` when someone has it.
///
/// The text gets its name when it is complete; whatever goes wrong before, nothing of it stays.
pub(crate) fn write(
    dir: &OwnedFd,
    name: &str,
    content: &[u8],
    sync: bool,
    fate: &Fate,
) -> Result<bool, SpillError> {
    let mut staged = Staged::create(dir)?;
    for piece in content.chunks(PIECE) {
        fate.check()?;
        staged.file.write_all(piece)?;
    }
    if sync {
        fate.check()?;
        staged.file.sync_all()?;
    }
    fate.settle()?;
    match staged.publish(name) {
        Ok(()) => {}
        Err(Errno::EXIST) => return Ok(false),
        Err(errno) => return Err(io(errno)),
    }
    if sync && let Err(error) = sync_dir(dir) {
        remove(dir, name);
        return Err(error);
    }
    Ok(true)
}

/// A new file under a hidden name of its own, which goes when it is dropped.
struct Staged<'a> {
    dir: &'a OwnedFd,
    name: Option<String>,
    file: File,
}

impl<'a> Staged<'a> {
    fn create(dir: &'a OwnedFd) -> Result<Self, SpillError> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        for _ in 0..NAMES {
            let name = name::staged(std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
            match rustix::fs::openat(dir, &name, flags, Mode::RUSR | Mode::WUSR) {
                Ok(file) => return Ok(Self { dir, name: Some(name), file: file.into() }),
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(io(errno)),
            }
        }
        Err(io(Errno::EXIST))
    }

    /// Takes a name that nobody has: by a rename that never replaces, or where there is none, by a hard link.
    fn publish(&mut self, to: &str) -> Result<(), Errno> {
        let Some(name) = &self.name else { return Ok(()) };
        match rustix::fs::renameat_with(self.dir, name, self.dir, to, RenameFlags::NOREPLACE) {
            Ok(()) => {
                self.name = None;
                Ok(())
            }
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                rustix::fs::linkat(self.dir, name, self.dir, to, AtFlags::empty())
            }
            Err(errno) => Err(errno),
        }
    }
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            remove(self.dir, name);
        }
    }
}

fn remove(dir: &OwnedFd, name: &str) {
    match rustix::fs::unlinkat(dir, name, AtFlags::empty()) {
        // It may have gone with its directory.
        Ok(()) | Err(Errno::NOENT) => {}
        Err(errno) => {
            tracing::warn!(%errno, name, "a file of a text that was not saved could not be removed");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_replaces_nothing_and_has_no_name_when_it_is_stopped() {
        let temp = tempfile::tempdir().unwrap();
        let dir = OwnedFd::from(File::open(temp.path()).unwrap());
        let write = |content: &str, fate: &Fate| write(&dir, "a", content.as_bytes(), false, fate);
        let names = || std::fs::read_dir(temp.path()).unwrap().count();
        let stopped = Fate::default();
        assert!(stopped.stop());
        for content in ["", "text"] {
            assert!(matches!(write(content, &stopped), Err(SpillError::Aborted)));
            assert_eq!(names(), 0);
        }
        assert!(write("text", &Fate::default()).unwrap());
        assert!(!write("other", &Fate::default()).unwrap());
        assert_eq!((names(), std::fs::read_to_string(temp.path().join("a")).unwrap().as_str()), (1, "text"));
    }
}
