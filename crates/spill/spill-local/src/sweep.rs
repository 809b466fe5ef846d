//! Removing what nobody needs any more: the texts of sessions that saved none for long, and what killed writers left.
//!
//! Whoever writes to a session's directory shares a lock on it (`flock`), which the system takes away when the process
//! dies. A sweep removes something only while it has that lock alone. So it never meets a living writer, in whatever
//! process or container that is, and every unfinished file is a dead one's. Where there are no locks, nothing is swept.

use std::os::fd::OwnedFd;
use std::path::Path;

use dsh_spill::SpillError;
use rustix::fs::{AtFlags, Dir, FileType, FlockOperation};
use rustix::io::Errno;

use crate::name;
use crate::place::{io, open_root, open_session};
use crate::work::Fate;

/// What a sweep removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Swept {
    /// Sessions whose texts were too old.
    pub sessions: u64,
    /// Files that killed writers left.
    pub unfinished: u64,
}

/// Takes part in a directory's lock. `false` while someone sweeps it.
pub(crate) fn share(dir: &OwnedFd) -> Result<bool, SpillError> {
    match rustix::fs::flock(dir, FlockOperation::NonBlockingLockShared) {
        // Without locks nobody sweeps.
        Ok(()) | Err(Errno::NOTSUP | Errno::NOSYS | Errno::NOLCK | Errno::INVAL) => Ok(true),
        Err(Errno::WOULDBLOCK) => Ok(false),
        Err(errno) => Err(io(errno)),
    }
}

/// Sweeps a root: what was last saved before `oldest_ms`. It looks at `most` entries, and leaves the rest.
pub(crate) fn sweep(path: &Path, oldest_ms: i64, most: u64, fate: &Fate) -> Result<Swept, SpillError> {
    let Some(root) = open_root(path)? else { return Ok(Swept::default()) };
    let mut sweep = Sweep { oldest_ms, left: most, fate, swept: Swept::default() };
    for name in sweep.names(&root, name::is_session)? {
        fate.check()?;
        if sweep.left == 0 {
            tracing::debug!(most, "the bound `sweepMaxEntries` was reached, the rest is not swept");
            break;
        }
        let opened = open_session(&root, path, &name);
        if let Err(error) = opened.and_then(|dir| dir.map_or(Ok(()), |dir| sweep.session(&root, &name, &dir)))
        {
            fate.check()?;
            tracing::debug!(%error, name, "the texts of a session are not swept");
        }
    }
    Ok(sweep.swept)
}

struct Sweep<'a> {
    oldest_ms: i64,
    /// How many entries may still be looked at.
    left: u64,
    fate: &'a Fate,
    swept: Swept,
}

/// What is in a session's directory.
struct Contents {
    texts: Vec<String>,
    unfinished: Vec<String>,
    /// When something was last saved in it.
    newest_ms: i64,
}

impl Sweep<'_> {
    fn session(&mut self, root: &OwnedFd, name: &str, dir: &OwnedFd) -> Result<(), SpillError> {
        // At first without the lock, which would be in the way of writers.
        let Some(Contents { unfinished, newest_ms, .. }) = self.contents(dir)? else { return Ok(()) };
        if unfinished.is_empty() && newest_ms >= self.oldest_ms {
            return Ok(());
        }
        if rustix::fs::flock(dir, FlockOperation::NonBlockingLockExclusive).is_err() {
            return Ok(());
        }
        let Some(Contents { texts, unfinished, newest_ms }) = self.contents(dir)? else { return Ok(()) };
        for name in unfinished {
            self.fate.check()?;
            rustix::fs::unlinkat(dir, name, AtFlags::empty()).map_err(io)?;
            self.swept.unfinished += 1;
        }
        if newest_ms >= self.oldest_ms {
            return Ok(());
        }
        for name in texts {
            self.fate.check()?;
            rustix::fs::unlinkat(dir, name, AtFlags::empty()).map_err(io)?;
        }
        // What is not ours keeps it.
        rustix::fs::unlinkat(root, name, AtFlags::REMOVEDIR).map_err(io)?;
        self.swept.sessions += 1;
        Ok(())
    }

    /// Everything in a directory, or nothing when that is too much.
    fn contents(&mut self, dir: &OwnedFd) -> Result<Option<Contents>, SpillError> {
        let mut newest_ms = None;
        let mut contents = Contents { texts: Vec::new(), unfinished: Vec::new(), newest_ms: 0 };
        for name in self.names(dir, |_| true)? {
            self.fate.check()?;
            let stat = match rustix::fs::statat(dir, &name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => stat,
                Err(Errno::NOENT) => continue,
                Err(errno) => return Err(io(errno)),
            };
            let is_file = FileType::from_raw_mode(stat.st_mode).is_file();
            if is_file && name::is_staged(&name) {
                contents.unfinished.push(name);
                continue;
            }
            newest_ms = newest_ms.max(Some(modified_ms(&stat)));
            if is_file && name::is_text(&name) {
                contents.texts.push(name);
            }
        }
        contents.newest_ms = match newest_ms {
            Some(newest) => newest,
            None => modified_ms(&rustix::fs::fstat(dir).map_err(io)?),
        };
        Ok((self.left > 0).then_some(contents))
    }

    /// The names in a directory that are wanted, as far as the bound allows.
    fn names(&mut self, dir: &OwnedFd, wanted: fn(&str) -> bool) -> Result<Vec<String>, SpillError> {
        let mut names = Vec::new();
        for entry in Dir::read_from(dir).map_err(io)? {
            self.fate.check()?;
            let entry = entry.map_err(io)?;
            let name = entry.file_name().to_string_lossy();
            if name == "." || name == ".." {
                continue;
            }
            let Some(left) = self.left.checked_sub(1) else { break };
            self.left = left;
            if wanted(&name) {
                names.push(name.into_owned());
            }
        }
        Ok(names)
    }
}

fn modified_ms(stat: &rustix::fs::Stat) -> i64 {
    let millis = i64::try_from(stat.st_mtime_nsec / 1_000_000).unwrap_or_default();
    stat.st_mtime.saturating_mul(1_000).saturating_add(millis)
}
