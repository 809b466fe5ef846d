//! A file without its name yet.
//!
//! Its writer holds a lock on it (`flock`) until its hidden name is gone, and the system lets go of the lock when the
//! writer dies. So whoever gets the lock of a staged file knows that nobody will ever publish it; [`sweep`](crate::sweep)
//! lives on that.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use dsh_fs::FsVersion;
use rustix::fs::{AtFlags, FlockOperation, Gid, Mode, OFlags, RawMode, RenameFlags, Stat, Uid};
use rustix::io::Errno;

use crate::beneath::Place;
use crate::read::version;

/// How many names are tried when others are in the way.
const NAMES: usize = 64;

static NEXT: AtomicU64 = AtomicU64::new(0);

/// A new file in the target's directory, under a hidden name of its own and locked. Dropping it removes it, unless it was
/// given the target's name.
#[derive(Debug)]
pub(crate) struct Staged<'a> {
    place: &'a Place,
    name: Option<OsString>,
    file: File,
}

impl<'a> Staged<'a> {
    /// An empty staged file, closed to others when it is to replace one. A name that exists is never reused.
    pub(crate) fn create(place: &'a Place, old: Option<&Stat>) -> Result<Self, Errno> {
        // The kernel takes the umask away from a new file's bits; those of a replaced file are set when it is sealed.
        let mode = Mode::from_raw_mode(if old.is_some() { 0o600 } else { 0o666 });
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        for _ in 0..NAMES {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = OsString::from(format!(".dsh-{}-{number}.tmp", std::process::id()));
            match rustix::fs::openat(place.dir(), &name, flags, mode).map(File::from) {
                // Without locks nobody sweeps. Where it is not ours, someone sweeps, who also removes the name.
                Ok(file) if claim(place.dir().as_fd(), &name, &file).unwrap_or(true) => {
                    return Ok(Self { place, name: Some(name), file });
                }
                Ok(_) | Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno),
            }
        }
        Err(Errno::EXIST)
    }

    /// The file, for its content.
    pub(crate) fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Gives it the rights of the file that it replaces, and brings it to the device.
    pub(crate) fn seal(&mut self, old: Option<&Stat>) -> Result<(), Errno> {
        if let Some(old) = old {
            let new = rustix::fs::fstat(&self.file)?;
            let owner = (new.st_uid != old.st_uid).then(|| Uid::from_raw(old.st_uid));
            let group = (new.st_gid != old.st_gid).then(|| Gid::from_raw(old.st_gid));
            if (owner.is_some() || group.is_some())
                && let Err(errno) = rustix::fs::fchown(&self.file, owner, group)
            {
                tracing::debug!(%errno, "a replaced file changes its owner");
                // Giving files away is for few; giving them to a group of one's own is for all.
                if owner.is_some() && group.is_some() {
                    let _ = rustix::fs::fchown(&self.file, None, group);
                }
            }
            // After the owner, because changing that clears the set-id bits.
            let bits = permissions(old, &rustix::fs::fstat(&self.file)?);
            rustix::fs::fchmod(&self.file, Mode::from_raw_mode(bits))?;
        }
        rustix::fs::fsync(&self.file)
    }

    /// Takes the target's name, replacing what has it.
    pub(crate) fn replace(mut self) -> Result<FsVersion, Errno> {
        let name = self.name.as_ref().ok_or(Errno::NOENT)?;
        rustix::fs::renameat(self.place.dir(), name, self.place.dir(), self.place.name())?;
        self.name = None;
        self.version()
    }

    /// Takes the target's name if nobody has it, else `EEXIST`. By a rename that never replaces, or where the file
    /// system has none, by a hard link.
    pub(crate) fn create_name(mut self) -> Result<FsVersion, Errno> {
        let (dir, to) = (self.place.dir(), self.place.name());
        let name = self.name.as_ref().ok_or(Errno::NOENT)?;
        match rustix::fs::renameat_with(dir, name, dir, to, RenameFlags::NOREPLACE) {
            Ok(()) => self.name = None,
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => self.link_name()?,
            Err(errno) => return Err(errno),
        }
        self.version()
    }

    /// Gives the file the target's name besides its own, and takes its own away: before anyone asks for its version,
    /// because the number of names is part of what changes it.
    fn link_name(&mut self) -> Result<(), Errno> {
        let (dir, to) = (self.place.dir(), self.place.name());
        let name = self.name.as_ref().ok_or(Errno::NOENT)?;
        rustix::fs::linkat(dir, name, dir, to, AtFlags::empty())?;
        self.remove_name();
        Ok(())
    }

    fn remove_name(&mut self) {
        if let Some(name) = self.name.take()
            && let Err(errno) = rustix::fs::unlinkat(self.place.dir(), &name, AtFlags::empty())
        {
            tracing::warn!(%errno, "a staged file could not be removed");
        }
    }

    /// The version of this very file, also when another has taken its name since.
    fn version(&self) -> Result<FsVersion, Errno> {
        rustix::fs::fstat(&self.file).map(|stat| version(&stat))
    }
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        self.remove_name();
    }
}

/// Whether this is the name of a staged file: `.dsh-<process>-<number>.tmp`.
pub(crate) fn is_staged(name: &OsStr) -> bool {
    let numbers = name
        .to_str()
        .and_then(|name| name.strip_prefix(".dsh-")?.strip_suffix(".tmp")?.split_once('-'))
        .map(|(process, number)| [process, number]);
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    numbers.is_some_and(|numbers| numbers.into_iter().all(is_number))
}

/// Takes the lock of a staged file without waiting, and tells whether it was free and the name still stands for this
/// file. Then the name stays as it is for as long as the file is open here, because whoever takes a staged name away
/// holds the lock. An error means that there are no locks here.
pub(crate) fn claim(dir: BorrowedFd<'_>, name: &OsStr, file: &File) -> Result<bool, Errno> {
    match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(Errno::WOULDBLOCK) => return Ok(false),
        Err(errno) => return Err(errno),
    }
    let held = rustix::fs::fstat(file)?;
    match rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(named) => Ok((named.st_dev, named.st_ino) == (held.st_dev, held.st_ino)),
        Err(Errno::NOENT) => Ok(false),
        Err(errno) => Err(errno),
    }
}

/// The permission bits that a file takes over from the one that it replaces. Where it could not take over the owner or
/// the group, the bits would mean someone else: nothing runs in another's name then, and another group may do no more
/// than everybody.
fn permissions(old: &Stat, new: &Stat) -> RawMode {
    let mut bits = old.st_mode & 0o7777;
    if new.st_uid != old.st_uid {
        bits &= !0o4000;
    }
    if new.st_gid != old.st_gid {
        let everybody = (bits & 0o007) << 3;
        bits &= !0o2070 | everybody;
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::version;

    #[test]
    fn a_name_that_was_linked_has_the_version_that_is_returned() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let place = Place::find(&root, &root.join("a")).unwrap();
        let mut staged = Staged::create(&place, None).unwrap();
        staged.link_name().unwrap();
        let returned = staged.version().unwrap();
        drop(staged);
        assert_eq!(version(&place.stat().unwrap().unwrap()), returned);
        assert_eq!(std::fs::read_dir(&root).unwrap().count(), 1);

        let mut late = Staged::create(&place, None).unwrap();
        assert_eq!(late.link_name(), Err(Errno::EXIST));
        drop(late);
        assert_eq!(std::fs::read_dir(&root).unwrap().count(), 1);
    }

    #[test]
    fn bits_that_would_mean_someone_else_are_not_taken_over() {
        let file = tempfile::tempfile().unwrap();
        let stat = |mode: RawMode, uid, gid| {
            let mut stat = rustix::fs::fstat(&file).unwrap();
            (stat.st_mode, stat.st_uid, stat.st_gid) = (mode, uid, gid);
            stat
        };
        // bits before, owner and group after, bits after
        let rows = [
            (0o6755, (1, 2), 0o6755),
            (0o6755, (9, 2), 0o2755),
            (0o6755, (1, 9), 0o4755),
            (0o6755, (9, 9), 0o0755),
            (0o0660, (9, 2), 0o0660),
            (0o0660, (1, 9), 0o0600),
            (0o0664, (1, 9), 0o0644),
            (0o0607, (1, 9), 0o0607),
            (0o1444, (9, 9), 0o1444),
        ];
        for (before, (uid, gid), after) in rows {
            let bits = permissions(&stat(before, 1, 2), &stat(0o600, uid, gid));
            assert_eq!(bits, after, "{before:o} {uid} {gid}: {bits:o}");
        }
    }
}
