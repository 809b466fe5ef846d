//! The two directories above a text, held by their descriptors, and whether they can be trusted.
//!
//! Texts are private if nobody else can read a session's directory, and stay the ones that were saved if nobody else can
//! put another in its place. So a session's directory has to be a real one, of this user, with mode 0700. And the root has
//! to be of this user or the system's own (uid 0); if everybody may write to it, or a group that is not this user's choice,
//! only with the sticky bit, as `/tmp` has: then names in it can be taken away by their owners alone. A link in place of the
//! root is followed if it is one of theirs. What is above the root is up to whoever configures it.

use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use dsh_spill::SpillError;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::name;

/// The code of a place that is no directory, or a link to one where no link may be.
pub const NOT_A_DIRECTORY: &str = "SPILL_NOT_A_DIRECTORY";
/// The code of a place that someone else owns.
pub const FOREIGN_OWNER: &str = "SPILL_FOREIGN_OWNER";
/// The code of a place that others may use.
pub const LOOSE_MODE: &str = "SPILL_LOOSE_MODE";

const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Where the texts of a session are.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    root: PathBuf,
    session: String,
}

impl Place {
    pub(crate) fn new(root: PathBuf, session_id: &str) -> Self {
        Self { root, session: name::session(session_id) }
    }

    /// The name of the session's directory.
    pub(crate) fn session(&self) -> &str {
        &self.session
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.root.join(&self.session)
    }

    /// Opens the session's directory, if it is there.
    pub(crate) fn open(&self) -> Result<Option<OwnedFd>, SpillError> {
        match open_root(&self.root)? {
            Some(root) => open_session(&root, &self.root, &self.session),
            None => Ok(None),
        }
    }

    /// Opens the session's directory, and makes what is missing of it and its root.
    pub(crate) fn make(&self, sync: bool) -> Result<OwnedFd, SpillError> {
        let mut root = open_root(&self.root)?;
        if root.is_none() {
            make_root(&self.root, sync)?;
            root = open_root(&self.root)?;
        }
        let root = root.ok_or_else(|| failed(&self.root, Errno::NOENT))?;
        match rustix::fs::mkdirat(&root, &self.session, Mode::RWXU) {
            Ok(()) if sync => sync_dir(&root)?,
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(failed(&self.path(), errno)),
        }
        open_session(&root, &self.root, &self.session)?.ok_or_else(|| failed(&self.path(), Errno::NOENT))
    }
}

/// Opens a root that can be trusted, if it is there.
pub(crate) fn open_root(path: &Path) -> Result<Option<OwnedFd>, SpillError> {
    let link = match rustix::fs::statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => FileType::from_raw_mode(stat.st_mode).is_symlink().then_some(stat),
        Err(Errno::NOENT) => return Ok(None),
        Err(Errno::NOTDIR) => {
            return Err(refused(NOT_A_DIRECTORY, path, "is below something that is no directory"));
        }
        Err(errno) => return Err(failed(path, errno)),
    };
    let is_foreign = |owner| owner != geteuid().as_raw() && owner != 0;
    if link.is_some_and(|link| is_foreign(link.st_uid)) {
        return Err(refused(FOREIGN_OWNER, path, "is a link of another user's"));
    }
    let root = match rustix::fs::openat(CWD, path, DIRECTORY, Mode::empty()) {
        Ok(root) => root,
        Err(Errno::NOTDIR) => return Err(refused(NOT_A_DIRECTORY, path, "is no directory")),
        Err(errno) => return Err(failed(path, errno)),
    };
    let stat = rustix::fs::fstat(&root).map_err(|errno| failed(path, errno))?;
    if is_foreign(stat.st_uid) {
        return Err(refused(FOREIGN_OWNER, path, "belongs to another user"));
    }
    // A group of this user's own directory is this user's choice.
    let others = if stat.st_uid == geteuid().as_raw() { 0o002 } else { 0o022 };
    if stat.st_mode & others != 0 && stat.st_mode & 0o1000 == 0 {
        return Err(refused(
            LOOSE_MODE,
            path,
            "can be written by other users; take that away, or set its sticky bit",
        ));
    }
    Ok(Some(root))
}

/// Opens a session's directory that can be trusted, if it is there.
pub(crate) fn open_session(root: &OwnedFd, path: &Path, name: &str) -> Result<Option<OwnedFd>, SpillError> {
    let path = path.join(name);
    let dir = match rustix::fs::openat(root, name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty()) {
        Ok(dir) => dir,
        Err(Errno::NOENT) => return Ok(None),
        // What a link leads to does not matter.
        Err(Errno::NOTDIR | Errno::LOOP) => {
            return Err(refused(NOT_A_DIRECTORY, &path, "is a link or a file where a directory has to be"));
        }
        Err(errno) => return Err(failed(&path, errno)),
    };
    let stat = rustix::fs::fstat(dir.as_fd()).map_err(|errno| failed(&path, errno))?;
    if stat.st_uid != geteuid().as_raw() {
        return Err(refused(FOREIGN_OWNER, &path, "belongs to another user"));
    }
    if stat.st_mode & 0o777 != 0o700 {
        let what = format!("has mode {:04o}; it has to be 0700", stat.st_mode & 0o777);
        return Err(refused(LOOSE_MODE, &path, &what));
    }
    Ok(Some(dir))
}

fn make_root(path: &Path, sync: bool) -> Result<(), SpillError> {
    let missing: Vec<_> = path.ancestors().take_while(|above| !above.exists()).collect();
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(|error| failed(path, Errno::from_io_error(&error).unwrap_or(Errno::IO)))?;
    for parent in missing.into_iter().filter_map(Path::parent).filter(|_| sync) {
        let opened = rustix::fs::openat(CWD, parent, DIRECTORY, Mode::empty());
        sync_dir(&opened.map_err(|errno| failed(parent, errno))?)?;
    }
    Ok(())
}

/// Brings a directory's names to the device, where the file system can.
pub(crate) fn sync_dir(dir: &OwnedFd) -> Result<(), SpillError> {
    match rustix::fs::fsync(dir) {
        Ok(()) | Err(Errno::INVAL | Errno::NOTSUP) => Ok(()),
        Err(errno) => Err(io(errno)),
    }
}

pub(crate) fn io(errno: Errno) -> SpillError {
    SpillError::Io(errno.into())
}

/// What the system said of a place. Its kind is kept.
fn failed(path: &Path, errno: Errno) -> SpillError {
    let kind = std::io::Error::from(errno).kind();
    SpillError::Io(std::io::Error::new(kind, format!("{}: {errno}", path.display())))
}

fn refused(code: &'static str, path: &Path, what: &str) -> SpillError {
    SpillError::Refused { code, reason: format!("{} {what}", path.display()) }
}
