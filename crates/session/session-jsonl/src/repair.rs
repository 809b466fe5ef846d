//! Repair of a log that nobody writes to (spec 03 §8–9, design §6).

use std::path::Path;

use dsh_session::{Event, TurnEndReason, Vocabulary, closers};

use crate::error::{OpenError, RepairError};
use crate::file::{lock_and_read_any, take_off, writer_over};
use crate::read::{Contents, Tail};
use crate::set_aside::SetAside;
use crate::whole::with_true_seed;

/// What [`repair`] found and did.
#[derive(Debug, Clone, PartialEq)]
pub struct RepairReport {
    /// The end that was found.
    pub tail: Tail,
    /// The torn or damaged end that was taken off, and where it is kept.
    pub set_aside: Option<SetAside>,
    /// How many events the header says now to be from another session, where it promised more than are left.
    pub shorter_seed: Option<u64>,
    /// The events that close what was left open, as they were appended.
    pub closed: Vec<Event>,
    /// How many events the log has now.
    pub events: u64,
}

impl RepairReport {
    /// Whether there was nothing to do.
    pub fn was_sound(&self) -> bool {
        self.set_aside.is_none() && self.shorter_seed.is_none() && self.closed.is_empty()
    }
}

/// Repairs a log: takes off everything from the first bad line on, keeping it beside the file, and appends what closes
/// the open turn. When it returns the log is on the device. Blocking; locks the file.
///
/// Damage is cut at its first line, so the sound lines after it are in the kept file and no longer in the log. A header
/// that promises more of another session than is left is written anew. Refused without a change: what
/// [`LogFile::open`](crate::LogFile::open) refuses except damage, and a log without a header.
pub fn repair(path: impl AsRef<Path>, vocabulary: &Vocabulary) -> Result<RepairReport, RepairError> {
    let path = path.as_ref();
    let (file, Contents { header, events, tail }) = lock_and_read_any(path, vocabulary)?;
    let Some(header) = header else {
        return Err(RepairError::NoHeader { path: path.to_owned() });
    };
    let set_aside = take_off(&file, path, tail).map_err(OpenError::from)?;
    let promised = header.seed_length();
    let (file, header) = with_true_seed(path, file, header, &events)?;
    let shorter_seed = header.seed_length().filter(|length| promised != Some(*length));
    let count = events.len() as u64;
    let writer = writer_over(path, file, &events).map_err(OpenError::from)?;
    let time = events.last().map_or_else(|| header.created_at(), |event| event.time);
    let closing = closers(&events, vocabulary, TurnEndReason::Interrupted);
    let closed: Vec<Event> =
        closing.into_iter().zip(count..).map(|(closer, seq)| closer.into_event(seq, time)).collect();
    closed.iter().try_for_each(|event| writer.put(event))?;
    writer.flush_blocking()?;
    let events = count + closed.len() as u64;
    Ok(RepairReport { tail, set_aside, shorter_seed, closed, events })
}
