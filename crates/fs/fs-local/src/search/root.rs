//! Where a search starts, and how its hits are opened again.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use dsh_fs::{FsError, FsErrorCode, one_line};
use dsh_sandbox_policy::SandboxPolicy;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::shown::{lossy, shown_path};
use crate::beneath::{Blocked, Place, open_regular};
use crate::errors::{blocked, denied_read, io_error};
use crate::resolve;

/// What the path of a request names.
pub(super) enum Root {
    Tree(Tree),
    File { file: File, shown: Arc<str> },
}

/// A directory to search.
pub(super) struct Tree {
    /// Its canonical path.
    pub(super) path: PathBuf,
    /// The path as results show it; `.` for the directory that relative paths start at.
    pub(super) shown: Arc<str>,
    dir: OwnedFd,
}

impl Root {
    /// Opens what `path` names, beneath the root that the policy lets it be read under.
    ///
    /// Errors: `FS_NOT_FOUND`, `FS_SANDBOX_DENIED`, `FS_PERMISSION_DENIED`, `FS_NOT_REGULAR_FILE` for pipes, sockets and
    /// devices, and `FS_IO_ERROR`.
    pub(super) fn open(cwd: &Path, path: Option<&str>, policy: &SandboxPolicy) -> Result<Self, FsError> {
        let given = path.unwrap_or(".");
        let target = resolve::target(given, cwd, policy)?;
        let Some(reach) = policy.read_root_of(&target.path) else {
            return Err(denied_read(&target.display, policy));
        };
        let shown: Arc<str> = shown_root(given, cwd).into();
        let stopped = |why| blocked(&why, "search", &target, policy);
        let place = Place::find(reach, &target.path).map_err(stopped)?;
        let found = place.stat().and_then(|found| found.ok_or(Errno::NOENT));
        let found = found.map_err(|errno| io_error("search", &target.display, errno))?;
        if FileType::from_raw_mode(found.st_mode) == FileType::Directory {
            let dir = place.open_dir().map_err(stopped)?;
            Ok(Self::Tree(Tree { path: target.path.to_path_buf(), shown, dir }))
        } else {
            let (file, _) = place.open_file().map_err(stopped)?;
            Ok(Self::File { file, shown })
        }
    }

    /// The tree, where only a directory will do: else `FS_NOT_DIRECTORY`.
    pub(super) fn into_tree(self) -> Result<Tree, FsError> {
        match self {
            Self::Tree(tree) => Ok(tree),
            Self::File { shown, .. } => Err(FsError::new(
                FsErrorCode::NotDirectory,
                format!("{} is a file; name a directory to look for files in", one_line(&shown)),
            )),
        }
    }
}

impl Tree {
    /// Opens the directory at this path below the root. A link on the way is refused.
    pub(super) fn open(&self, below: &[u8]) -> io::Result<OwnedFd> {
        open_below(self.dir.as_fd(), Path::new(OsStr::from_bytes(below)))
    }

    /// The path below the root of something that the walk met.
    pub(super) fn below<'a>(&self, path: &'a Path) -> Option<&'a [u8]> {
        path.strip_prefix(&self.path).ok().map(|below| below.as_os_str().as_bytes())
    }

    /// Whether what the walk met at this path stands beneath the root, as far as can be told. It does not when a
    /// directory was a link in between.
    pub(super) fn has(&self, path: &Path) -> bool {
        let Some(below) = self.below(path).filter(|below| !below.is_empty()) else { return true };
        let mut cursor = Cursor::new(self);
        let found = cursor
            .dir_and_name(below)
            .and_then(|(dir, name)| Ok(rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?));
        !matches!(found.map(Some).or_else(gone_or), Ok(None))
    }

    /// The path as results show it.
    pub(super) fn show(&self, path: &Path) -> String {
        match self.below(path) {
            Some(below) => shown_path(&self.shown, below),
            None => lossy(path.as_os_str().as_bytes()),
        }
    }
}

/// Opens directories and files of one tree anew, beneath its root. One for each thread: it holds on to the directory
/// that it was in last, because a walk stays in a directory for a while.
pub(super) struct Cursor<'a> {
    tree: &'a Tree,
    at: Vec<u8>,
    dir: Option<OwnedFd>,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(tree: &'a Tree) -> Self {
        Self { tree, at: Vec::new(), dir: None }
    }

    /// The directory at this path below the root. A link on the way is refused.
    pub(super) fn dir(&mut self, below: &[u8]) -> io::Result<BorrowedFd<'_>> {
        let dir = match self.dir.take() {
            Some(dir) if self.at == below => dir,
            _ => self.tree.open(below)?,
        };
        below.clone_into(&mut self.at);
        let dir: &OwnedFd = self.dir.insert(dir);
        Ok(dir.as_fd())
    }

    /// Opens the regular file at this path below the root. `None` when it went away or is something else by now, as
    /// files do while a tree is walked.
    pub(super) fn open_file(&mut self, below: &[u8]) -> io::Result<Option<File>> {
        match self.dir_and_name(below).map(|(dir, name)| open_regular(dir, name)) {
            Ok(Ok((file, _))) => Ok(Some(file)),
            Ok(Err(Blocked::Link | Blocked::NotRegular(_) | Blocked::NotDirectory)) => Ok(None),
            Ok(Err(Blocked::Os(errno))) => gone_or(errno.into()),
            Err(error) => gone_or(error),
        }
    }

    /// The directory that a path below the root is in, and the name there.
    pub(super) fn dir_and_name<'b>(&mut self, below: &'b [u8]) -> io::Result<(BorrowedFd<'_>, &'b OsStr)> {
        let (dir, name) = match memchr::memrchr(b'/', below) {
            Some(at) => (below.get(..at).unwrap_or_default(), below.get(at + 1..).unwrap_or_default()),
            None => (<&[u8]>::default(), below),
        };
        Ok((self.dir(dir)?, OsStr::from_bytes(name)))
    }
}

/// `None` for an error that says that a name of the walk stands for nothing any more, or for a link. What the walk saw
/// behind a link is nobody's business.
pub(super) fn gone_or<T>(error: io::Error) -> io::Result<Option<T>> {
    match Errno::from_io_error(&error) {
        Some(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::XDEV) => Ok(None),
        Some(_) | None => Err(error),
    }
}

/// Opens a directory below another, never through a link.
fn open_below(dir: BorrowedFd<'_>, below: &Path) -> io::Result<OwnedFd> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{ResolveFlags, openat2};
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let path = if below.as_os_str().is_empty() { Path::new(".") } else { below };
        match openat2(dir, path, flags, Mode::empty(), resolve) {
            // An old kernel, a filter, or a rename somewhere at the same time.
            Err(Errno::NOSYS | Errno::PERM | Errno::AGAIN) => {}
            opened => return Ok(opened?),
        }
    }
    open_in_parts(dir, below)
}

/// The same part by part, where the system can't do it in one.
fn open_in_parts(dir: BorrowedFd<'_>, below: &Path) -> io::Result<OwnedFd> {
    let mut at = open_at(dir, OsStr::new("."), OFlags::DIRECTORY)?;
    for part in below.components() {
        let Component::Normal(name) = part else { return Err(io::ErrorKind::InvalidInput.into()) };
        at = open_at(at.as_fd(), name, OFlags::DIRECTORY)?;
    }
    Ok(at)
}

fn open_at(dir: BorrowedFd<'_>, name: &OsStr, flags: OFlags) -> io::Result<OwnedFd> {
    let flags = flags | OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(dir, name, flags, Mode::empty())?)
}

/// The root as results show it: relative to `cwd` below it, else as it was given.
fn shown_root(given: &str, cwd: &Path) -> String {
    let absolute = resolve::absolute(Path::new(given), cwd);
    let spelled = resolve::absolute(Path::new("."), cwd);
    let below = absolute.strip_prefix(spelled).or_else(|outside| {
        // A path that climbs starts where `cwd` really is.
        absolute.strip_prefix(resolve::canonical_or_plain(cwd)).map_err(|_| outside)
    });
    match below {
        Ok(below) if below.as_os_str().is_empty() => ".".to_owned(),
        Ok(below) => lossy(below.as_os_str().as_bytes()),
        Err(_) => match given.trim_end_matches('/') {
            "" => "/".to_owned(),
            given => given.to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_shown_from_where_paths_start() {
        let rows = [
            (".", "."),
            ("./", "."),
            ("/w", "."),
            ("src", "src"),
            ("src/", "src"),
            ("./src/../lib", "lib"),
            ("/w/src/a", "src/a"),
            ("/workshop", "/workshop"),
            ("/etc/", "/etc"),
            ("/", "/"),
            ("../x/", "../x"),
            ("a\nb", "a\nb"),
        ];
        for (given, shown) in rows {
            assert_eq!(shown_root(given, Path::new("/w")), shown, "{given}");
        }
    }

    #[test]
    fn a_directory_that_became_a_link_is_refused() {
        let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(outside.path().join("f"), "").unwrap();
        std::fs::create_dir_all(inside.path().join("a/b")).unwrap();
        let policy = SandboxPolicy::new(
            dsh_sandbox_policy::SandboxMode::ReadOnly,
            inside.path().canonicalize().unwrap(),
            [],
        );
        let tree = Root::open(&policy.workspace_root, None, &policy).unwrap().into_tree().unwrap();
        let mut cursor = Cursor::new(&tree);
        assert!(cursor.dir(b"a/b").is_ok());
        let in_parts = |below: &str| open_in_parts(tree.dir.as_fd(), Path::new(below));
        assert!(in_parts("a/b").is_ok() && in_parts("").is_ok());
        std::fs::remove_dir_all(inside.path().join("a")).unwrap();
        std::os::unix::fs::symlink(outside.path(), inside.path().join("a")).unwrap();
        std::os::unix::fs::symlink(outside.path().join("f"), inside.path().join("f")).unwrap();
        assert!(cursor.dir(b"a").is_err() && in_parts("a").is_err());
        assert!(cursor.dir(b"..").is_err() && in_parts("..").is_err());
        assert!(cursor.dir_and_name(b"a/f").is_err());
        assert!(matches!(cursor.open_file(b"f"), Ok(None)) && matches!(cursor.open_file(b"a/f"), Ok(None)));
        assert!(tree.has(&tree.path.join("f")) && !tree.has(&tree.path.join("a/f")));
    }
}
