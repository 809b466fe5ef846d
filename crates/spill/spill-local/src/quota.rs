//! How much a session may have.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;

use dsh_spill::SpillError;
use parking_lot::Mutex;
use rustix::fs::{AtFlags, Dir};
use rustix::io::Errno;

use crate::name;
use crate::place::io;

/// What this process is writing: the name of the session's directory and of the file, with its length and how many write
/// it at once. So texts that are saved at the same time count too, the same one once.
#[derive(Debug, Default)]
pub(crate) struct InFlight(Mutex<BTreeMap<(String, String), (u64, usize)>>);

/// Room for a text, until it is dropped.
#[derive(Debug)]
pub(crate) struct Claim<'a>(&'a InFlight, (String, String));

impl InFlight {
    /// Room for a text that is not there yet, or `OverLimit`.
    pub(crate) fn claim(
        &self,
        dir: &OwnedFd,
        (session, name): (&str, &str),
        bytes: u64,
        most: u64,
    ) -> Result<Claim<'_>, SpillError> {
        let key = (session.to_owned(), name.to_owned());
        let mut held = self.0.lock();
        // What gets its name in this moment is still held, because it lets go afterwards.
        let stored = stored(dir, |name| held.contains_key(&(session.to_owned(), name.to_owned())));
        let others = held.iter().filter(|(other, _)| other.0 == session && **other != key);
        let writing = others.fold(0_u64, |sum, (_, (bytes, _))| sum.saturating_add(*bytes));
        let needed = stored?.saturating_add(writing).saturating_add(bytes);
        if needed > most {
            return Err(SpillError::OverLimit { limit: "maxSessionBytes", allowed: most, needed });
        }
        held.entry(key.clone()).or_insert((bytes, 0)).1 += 1;
        Ok(Claim(self, key))
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        let mut held = self.0.0.lock();
        if let Some((_, writers)) = held.get_mut(&self.1) {
            *writers -= 1;
            if *writers == 0 {
                held.remove(&self.1);
            }
        }
    }
}

/// The bytes of all texts in a directory but those that are skipped.
fn stored(dir: &OwnedFd, skip: impl Fn(&str) -> bool) -> Result<u64, SpillError> {
    let mut sum = 0_u64;
    for entry in Dir::read_from(dir).map_err(io)? {
        let entry = entry.map_err(io)?;
        let Ok(name) = entry.file_name().to_str() else { continue };
        if !name::is_text(name) || skip(name) {
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
