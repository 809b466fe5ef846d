//! The output ledger: what a run's logs and value may weigh together, to the byte (spec 06 §10).
//!
//! Counted is the compact JSON of the list of logs, plus the compact JSON of the completion value or of the failure's
//! message. Nothing is built to be measured, and measuring stops where the bound is passed. An engine counts with a
//! [`Meter`], so that a flood does not cross to the host; the host counts again with a [`Ledger`], and decides.

use dsh_json::Json;

use crate::{Failure, FailureKind};

/// Counts entries against a bound, without keeping them.
#[derive(Debug, Clone)]
pub struct Meter {
    cap: usize,
    /// The JSON of the entries so far, brackets included.
    bytes: usize,
    entries: usize,
}

/// What becomes of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// It fits as it is.
    Whole,
    /// Only so many bytes of it fit; none, if 0. The bound is reached.
    Cut(usize),
}

impl Meter {
    /// A meter of an empty list. Less than the list's two brackets is no bound.
    pub fn new(cap: usize) -> Self {
        Self { cap: cap.max(2), bytes: 2, entries: 0 }
    }

    /// Counts one entry; a cut one is counted as far as it fits.
    pub fn charge(&mut self, text: &str) -> Entry {
        let comma = usize::from(self.entries > 0);
        let room = self.cap.saturating_sub(self.bytes + comma);
        let (kept, bytes) = match string_bytes(text, room) {
            Some(bytes) => (text.len(), bytes),
            None => fitting_prefix(text, room),
        };
        if kept > 0 || text.is_empty() && bytes > 0 {
            self.bytes += comma + bytes;
            self.entries += 1;
        }
        if kept == text.len() && bytes > 0 { Entry::Whole } else { Entry::Cut(kept) }
    }

    /// What is left for the value, or for the failure's message.
    pub fn room(&self) -> usize {
        self.cap - self.bytes
    }

    /// Whether a program may end so: its value or message fits beside the entries.
    ///
    /// # Errors
    /// `output-limit`, otherwise.
    pub fn admits(&self, result: &Result<Option<Json>, Failure>) -> Result<(), Failure> {
        let fits = match result {
            Ok(None) => true,
            Ok(Some(value)) => json_bytes(value, self.room()).is_some(),
            Err(failure) => string_bytes(&failure.message, self.room()).is_some(),
        };
        if fits { Ok(()) } else { Err(self.overflow()) }
    }

    /// The failure of a run whose output is over the bound.
    pub fn overflow(&self) -> Failure {
        overflow(self.cap)
    }
}

/// Keeps the entries that fit, and decides how the run ended.
#[derive(Debug, Clone)]
pub struct Ledger {
    meter: Meter,
    entries: Vec<String>,
    full: bool,
}

impl Ledger {
    /// An empty ledger with this bound.
    pub fn new(cap: usize) -> Self {
        Self { meter: Meter::new(cap), entries: Vec::new(), full: false }
    }

    /// Takes one entry. After the first that does not fit, of which the fitting start is kept, all are dropped.
    ///
    /// # Errors
    /// The entry did not fit, or an earlier one: the run is over.
    pub fn log(&mut self, mut text: String) -> Result<(), Failure> {
        if self.full {
            return Err(self.meter.overflow());
        }
        if let Entry::Cut(kept) = self.meter.charge(&text) {
            self.full = true;
            text.truncate(kept);
            if !text.is_empty() {
                self.entries.push(text);
            }
            return Err(self.meter.overflow());
        }
        self.entries.push(text);
        Ok(())
    }

    /// The entries so far.
    pub fn entries(&self) -> &[String] {
        &self.entries
    }

    /// Closes the ledger: what was printed, and what the run came to. Where both don't fit together the failure is
    /// `output-limit` whatever it was before, and as many entries are kept as fit beside its message.
    pub fn settle(
        self,
        result: Result<Option<Json>, Failure>,
    ) -> (Vec<String>, Result<Option<Json>, Failure>) {
        let over = |result: &Result<_, Failure>| {
            matches!(result, Err(Failure { kind: FailureKind::OutputLimit, .. }))
        };
        if !self.full && !over(&result) && self.meter.admits(&result).is_ok() {
            return (self.entries, result);
        }
        let mut failure = self.meter.overflow();
        let cap = self.meter.cap;
        let room = cap.saturating_sub(2);
        if string_bytes(&failure.message, room).is_none() {
            failure.message.truncate(fitting_prefix(&failure.message, room).0);
        }
        let message = string_bytes(&failure.message, usize::MAX).unwrap_or(0);
        let mut kept = Self::new(cap.saturating_sub(message));
        for entry in self.entries {
            if kept.log(entry).is_err() {
                break;
            }
        }
        (kept.entries, Err(failure))
    }
}

fn overflow(cap: usize) -> Failure {
    let message = format!(
        "outer output exceeded {cap} bytes (maxOutputBytes): print and return less, or only the part you need"
    );
    Failure::new(FailureKind::OutputLimit, message)
}

/// The length of the string's JSON text, quotes and escapes included; `None` beyond `room`.
pub fn string_bytes(text: &str, room: usize) -> Option<usize> {
    let mut bytes = 2;
    // The text itself is a lower bound, and most texts have nothing to escape.
    if text.len().saturating_add(2) > room {
        return None;
    }
    for part in text.as_bytes().chunks(MEASURED_AT_ONCE) {
        bytes += part.iter().copied().map(byte_cost).sum::<usize>();
        if bytes > room {
            return None;
        }
    }
    Some(bytes)
}

/// Bytes between two looks at the bound, so that the sum itself is a straight line.
const MEASURED_AT_ONCE: usize = 4 << 10;

/// The length of the value's compact JSON text, numbers as ECMAScript writes them; `None` beyond `room`.
pub fn json_bytes(value: &Json, room: usize) -> Option<usize> {
    let mut rest = vec![value];
    let mut bytes = 0_usize;
    while let Some(value) = rest.pop() {
        bytes += match value {
            Json::Null | Json::Bool(true) => 4,
            Json::Bool(false) => 5,
            Json::Number(number) => number.ecma().len(),
            Json::String(text) => string_bytes(text, room.checked_sub(bytes)?)?,
            Json::Array(items) => {
                rest.extend(items.iter());
                2 + items.len().saturating_sub(1)
            }
            Json::Object(object) => {
                let mut own = 2 + object.len().saturating_sub(1);
                for (key, value) in object.iter() {
                    own += 1 + string_bytes(key, room.checked_sub(bytes + own)?)?;
                    rest.push(value);
                }
                own
            }
        };
        if bytes > room {
            return None;
        }
    }
    Some(bytes)
}

/// The longest start of the text whose JSON fits, and what that costs; nothing costs nothing.
fn fitting_prefix(text: &str, room: usize) -> (usize, usize) {
    let (mut kept, mut cost) = (0, 2);
    for c in text.chars() {
        let more = if c.is_ascii() { byte_cost(u8::try_from(c).unwrap_or(0)) } else { c.len_utf8() };
        if cost + more > room {
            break;
        }
        kept += c.len_utf8();
        cost += more;
    }
    (kept, if kept == 0 { 0 } else { cost })
}

/// What one byte of a string costs in JSON text. The bytes of a character beyond ASCII cost themselves.
fn byte_cost(byte: u8) -> usize {
    // Sums of comparisons in place of a `match`, which the compiler does sixteen bytes at a time.
    let quoted = u8::from(byte == b'"' || byte == b'\\');
    let control = 5 * u8::from(byte < 0x20);
    let short = 4 * u8::from((0x08..0x0e).contains(&byte) && byte != 0x0b);
    usize::from(1 + quoted + control - short)
}

#[cfg(test)]
mod tests;
