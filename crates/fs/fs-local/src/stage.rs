//! A file without its name yet.

use std::ffi::OsString;
use std::fs::File;
use std::sync::atomic::{AtomicU64, Ordering};

use dsh_fs::FsVersion;
use rustix::fs::{AtFlags, Gid, Mode, OFlags, RenameFlags, Stat, Uid};
use rustix::io::Errno;

use crate::beneath::Place;
use crate::read::version;

/// How many names are tried when others are in the way.
const NAMES: usize = 64;

static NEXT: AtomicU64 = AtomicU64::new(0);

/// A new file in the target's directory, under a hidden name of its own. Dropping it removes it, unless it was given
/// the target's name.
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
        let mut tries = NAMES;
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = OsString::from(format!(".dsh-{}-{number}.tmp", std::process::id()));
            match rustix::fs::openat(place.dir(), &name, flags, mode) {
                Ok(file) => return Ok(Self { place, name: Some(name), file: File::from(file) }),
                Err(Errno::EXIST) if tries > 1 => tries -= 1,
                Err(errno) => return Err(errno),
            }
        }
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
            }
            // After the owner, because changing that clears the set-id bits.
            rustix::fs::fchmod(&self.file, Mode::from_raw_mode(old.st_mode & 0o7777))?;
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
            // The drop removes the staged name; the file keeps its new one.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                rustix::fs::linkat(dir, name, dir, to, AtFlags::empty())?;
            }
            Err(errno) => return Err(errno),
        }
        self.version()
    }

    /// The version of this very file, also when another has taken its name since.
    fn version(&self) -> Result<FsVersion, Errno> {
        rustix::fs::fstat(&self.file).map(|stat| version(&stat))
    }
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        if let Some(name) = self.name.take()
            && let Err(errno) = rustix::fs::unlinkat(self.place.dir(), &name, AtFlags::empty())
        {
            tracing::warn!(%errno, "a staged file could not be removed");
        }
    }
}
