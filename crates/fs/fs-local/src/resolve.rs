//! From a path as someone wrote it to the place that it names.
//!
//! Two steps: the text becomes an absolute path without `.` and `..` (that is what is displayed), then links are
//! followed, component by component, as far as things exist (that is the key). The result is a name only. It proves
//! nothing about the moment after; that is what opening beneath the root is for.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use dsh_fs::{FsError, FsErrorCode, FsTarget};
use dsh_sandbox_policy::SandboxPolicy;
use rustix::fs::{AtFlags, CWD, FileType};
use rustix::io::Errno;

use crate::errors::{denied_read, io_error};

/// The longest path that the system takes, in bytes, and one. Directories can be nested deeper by descriptors, but then
/// nobody finds them by name.
const MAX_PATH: usize = if cfg!(target_os = "linux") { 4096 } else { 1024 };
/// As many links as Linux follows.
const MAX_LINKS: usize = 40;

/// Resolves a path to a target, and refuses what the policy does not let read: also where a link is missing its end,
/// and without telling whether anything is there.
pub(crate) fn target(path: &str, cwd: &Path, policy: &SandboxPolicy) -> Result<FsTarget, FsError> {
    if path.trim().is_empty() {
        return Err(FsError::new(FsErrorCode::NotFound, "the path is blank"));
    }
    if path.contains('\0') {
        return Err(FsError::new(FsErrorCode::NotFound, "the path contains a NUL character"));
    }
    let display = absolute(Path::new(path), cwd);
    within_length(&display)?;
    let shown = display.to_string_lossy();
    match real(&display) {
        Ok(real) => {
            let reachable =
                [Some(&real.path), real.leads_to.as_ref()].into_iter().flatten().all(|p| policy.may_read(p));
            if !reachable {
                return Err(denied_read(&shown, policy));
            }
            within_length(&real.path)?;
            Ok(make(&real.path, &display))
        }
        Err(stuck) if policy.may_read(&stuck.at) => Err(io_error("reach", &shown, stuck.errno)),
        Err(_) => Err(denied_read(&shown, policy)),
    }
}

/// Refuses a path that is too long for the system, without repeating it.
fn within_length(path: &Path) -> Result<(), FsError> {
    let length = path.as_os_str().len();
    if length < MAX_PATH {
        return Ok(());
    }
    let message = format!("the path is too long: it has {length} bytes, and at most {} work", MAX_PATH - 1);
    Err(FsError::new(FsErrorCode::IoError, message))
}

/// A target for a canonical path, displayed as `display`.
pub(crate) fn make(path: &Path, display: &Path) -> FsTarget {
    FsTarget { key: key(path), display: display.to_string_lossy().into(), path: Arc::from(path) }
}

/// Whether a link on this absolute path leads nowhere.
pub(crate) fn is_dangling(display: &str) -> bool {
    real(Path::new(display)).is_ok_and(|real| real.leads_to.is_some())
}

/// The absolute form of `path` with `.` and `..` taken away as text. Where `..` occurs, the start is canonical first, so
/// that a linked `cwd` is left to where it really is (spec 07 §6.1).
pub(crate) fn absolute(path: &Path, cwd: &Path) -> PathBuf {
    let climbs = |path: &Path| path.components().any(|part| part == Component::ParentDir);
    let mut plain = PathBuf::from("/");
    if path.is_relative() {
        let start = if climbs(path) || climbs(cwd) { canonical_or_plain(cwd) } else { cwd.to_owned() };
        append_plain(&mut plain, &start);
    }
    append_plain(&mut plain, path);
    plain
}

/// A root as a policy has it: canonical, or as it was spelled when it can't be followed. Not made plain then: what is
/// left of a blank path, or of a missing directory's `..`, would be the top of the disk.
pub(crate) fn root(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// The canonical form of a directory that relative paths start at, or else its spelling without `.` and `..`.
pub(crate) fn canonical_or_plain(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| {
        let mut plain = PathBuf::from("/");
        append_plain(&mut plain, path);
        plain
    })
}

fn append_plain(to: &mut PathBuf, path: &Path) {
    for part in path.components() {
        match part {
            Component::Normal(name) => to.push(name),
            Component::ParentDir => {
                to.pop();
            }
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
}

/// Text for a path, different for different paths. A path that is no text can't look like one that is.
fn key(path: &Path) -> Arc<str> {
    path.to_str().map_or_else(
        || {
            let mut text = String::from("bytes:");
            for byte in path.as_os_str().as_bytes() {
                // Writing to a string can't fail.
                let _ = write!(text, "{byte:02x}");
            }
            text.into()
        },
        Arc::from,
    )
}

/// Where a plain absolute path really is.
pub(crate) struct Real {
    /// The canonical path; what is missing at its end is kept as spelled. A link that leads nowhere stands for itself.
    pub(crate) path: PathBuf,
    /// Where such a link would lead.
    pub(crate) leads_to: Option<PathBuf>,
}

/// A path that can't be followed, and how far it was.
pub(crate) struct Stuck {
    pub(crate) at: PathBuf,
    pub(crate) errno: Errno,
}

/// Follows all links of a plain absolute path.
pub(crate) fn real(path: &Path) -> Result<Real, Stuck> {
    let mut walk = Walk { at: PathBuf::from("/"), ahead: VecDeque::new(), links: Vec::new() };
    walk.ahead.extend(path.components().filter_map(normal));
    let mut followed = 0;
    while let Some(name) = walk.ahead.pop_front() {
        walk.links.retain(|link| link.ahead <= walk.ahead.len());
        if name == ".." {
            walk.at.pop();
            continue;
        }
        let next = walk.at.join(&name);
        match rustix::fs::statat(CWD, &next, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Symlink => {
                followed += 1;
                if followed > MAX_LINKS {
                    return Err(walk.stuck(&next, Errno::LOOP));
                }
                match rustix::fs::readlinkat(CWD, &next, Vec::new()) {
                    Ok(leads_to) => walk.follow(next, leads_to.to_bytes()),
                    // No link any more: look again. Bounded like links are.
                    Err(Errno::INVAL | Errno::NOENT) => walk.ahead.push_front(name),
                    Err(errno) => return Err(walk.stuck(&next, errno)),
                }
            }
            Ok(_) => walk.at = next,
            Err(Errno::NOENT) => return Ok(walk.missing(next)),
            Err(errno) => return Err(walk.stuck(&next, errno)),
        }
    }
    Ok(Real { path: walk.at, leads_to: None })
}

fn normal(part: Component<'_>) -> Option<OsString> {
    match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    }
}

struct Walk {
    /// Canonical so far.
    at: PathBuf,
    ahead: VecDeque<OsString>,
    /// The links whose contents are being walked, outermost first.
    links: Vec<Link>,
}

struct Link {
    at: PathBuf,
    /// How many components follow the link itself.
    ahead: usize,
}

impl Walk {
    fn follow(&mut self, link: PathBuf, leads_to: &[u8]) {
        let leads_to = Path::new(std::ffi::OsStr::from_bytes(leads_to));
        self.links.push(Link { at: link, ahead: self.ahead.len() });
        if leads_to.is_absolute() {
            self.at = PathBuf::from("/");
        }
        for name in leads_to.components().rev().filter_map(normal) {
            self.ahead.push_front(name);
        }
    }

    /// `next` does not exist. Inside a link this means that the outermost link leads nowhere.
    fn missing(&self, next: PathBuf) -> Real {
        let mut spelled = next;
        let rest: PathBuf = self.ahead.iter().collect();
        append_plain(&mut spelled, &rest);
        let Some(link) = self.links.first() else { return Real { path: spelled, leads_to: None } };
        let mut path = link.at.clone();
        path.extend(self.ahead.iter().skip(self.ahead.len() - link.ahead));
        Real { path, leads_to: Some(spelled) }
    }

    fn stuck(&self, next: &Path, errno: Errno) -> Stuck {
        let mut at = next.to_owned();
        let rest: PathBuf = self.ahead.iter().collect();
        append_plain(&mut at, &rest);
        Stuck { at, errno }
    }
}
