//! How much a session may have.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;

use dsh_spill::SpillError;
use parking_lot::Mutex;
use rustix::fs::{AtFlags, Dir};
use rustix::io::Errno;

use crate::name;
use crate::place::io;

/// How many sessions are remembered. Those that come later are counted anew.
const REMEMBERED: usize = 1024;

/// What sessions have, as far as this process knows, by the names of their directories.
///
/// A directory is counted when its first text comes, and again before a text is refused. So nothing is refused for what is
/// gone since; what another process adds to the same session is seen then.
#[derive(Debug, Default)]
pub(crate) struct Usage(Mutex<BTreeMap<String, Session>>);

#[derive(Debug, Default)]
struct Session {
    /// The bytes of what is stored and of what is being written, when they were counted.
    bytes: Option<u64>,
    /// What is being written, by its name: the same text once, however many write it.
    writing: BTreeMap<String, Writing>,
}

#[derive(Debug, Default)]
struct Writing {
    bytes: u64,
    writers: usize,
}

/// Room for a text while it is written.
#[derive(Debug)]
pub(crate) struct Claim<'a> {
    usage: &'a Usage,
    session: &'a str,
    name: &'a str,
}

impl Usage {
    /// Room for a text that is not there yet, or `OverLimit`.
    pub(crate) fn claim<'a>(
        &'a self,
        dir: &OwnedFd,
        (session, name): (&'a str, &'a str),
        bytes: u64,
        most: u64,
    ) -> Result<Claim<'a>, SpillError> {
        let mut sessions = self.0.lock();
        if sessions.len() >= REMEMBERED {
            sessions.retain(|_, session| !session.writing.is_empty());
        }
        let its = sessions.entry(session.to_owned()).or_default();
        if !its.writing.contains_key(name) {
            let mut needed =
                its.bytes.map(|held| held.saturating_add(bytes)).filter(|needed| *needed <= most);
            if needed.is_none() {
                needed = Some(its.count(dir)?.saturating_add(bytes));
            }
            if let Some(needed) = needed.filter(|needed| *needed > most) {
                return Err(SpillError::OverLimit { limit: "maxSessionBytes", allowed: most, needed });
            }
            its.bytes = needed;
        }
        let writing = its.writing.entry(name.to_owned()).or_insert(Writing { bytes, ..Writing::default() });
        writing.writers += 1;
        Ok(Claim { usage: self, session, name })
    }
}

impl Session {
    /// The bytes of all texts in a directory, and of those that are being written. One that gets its name meanwhile
    /// counts as being written, because its claim goes afterwards.
    fn count(&self, dir: &OwnedFd) -> Result<u64, SpillError> {
        let mut sum = self.writing.values().fold(0_u64, |sum, writing| sum.saturating_add(writing.bytes));
        for entry in Dir::read_from(dir).map_err(io)? {
            let entry = entry.map_err(io)?;
            let Ok(name) = entry.file_name().to_str() else { continue };
            if !name::is_text(name) || self.writing.contains_key(name) {
                continue;
            }
            match rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => sum = sum.saturating_add(u64::try_from(stat.st_size).unwrap_or_default()),
                Err(Errno::NOENT) => {}
                Err(errno) => return Err(io(errno)),
            }
        }
        Ok(sum)
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        let mut sessions = self.usage.0.lock();
        let Some(its) = sessions.get_mut(self.session) else { return };
        let Some(writing) = its.writing.get_mut(self.name) else { return };
        writing.writers -= 1;
        if writing.writers == 0 {
            // What was not stored counts until the directory is counted again.
            its.writing.remove(self.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_counts_once_and_what_is_gone_no_more() {
        let temp = tempfile::tempdir().unwrap();
        let dir = OwnedFd::from(std::fs::File::open(temp.path()).unwrap());
        let usage = Usage::default();
        let claim = |name, bytes| usage.claim(&dir, ("s", name), bytes, 10);
        let needed = |name, bytes| match claim(name, bytes) {
            Err(SpillError::OverLimit { needed, .. }) => Some(needed),
            other => other.map(|_| None).unwrap(),
        };
        let (name, path) = ("0123456789ab-a", temp.path().join("0123456789ab-a"));
        let (one, same) = (claim(name, 7).unwrap(), claim(name, 7).unwrap());
        assert_eq!((needed("two", 3), needed("two", 4)), (None, Some(11)));
        drop(one);
        assert_eq!(needed("two", 4), Some(11));
        std::fs::write(&path, "1234567").unwrap();
        assert_eq!((needed("two", 4), needed("two", 3)), (Some(11), None));
        drop(same);
        assert_eq!((needed("two", 4), needed("two", 3)), (Some(11), None));
        std::fs::remove_file(&path).unwrap();
        assert_eq!((needed("two", 4), needed("two", 10), needed("two", 11)), (None, None, Some(11)));
    }
}
