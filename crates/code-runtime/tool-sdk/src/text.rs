//! What both languages write with: literals, and a bound on all that is written.

use std::sync::Arc;

use dsh_json::Json;

use crate::{Limits, Place, SdkError};

/// A name or key as a string literal. JSON's escapes mean the same in TypeScript and in Python (spec 05 §3.1).
pub(crate) fn quoted(name: &Arc<str>) -> String {
    Json::from(name).to_text()
}

/// Whether all bytes are as wanted. The loop has no early end, so that it takes many bytes at a time.
pub(crate) fn every(text: &[u8], is_wanted: impl Fn(u8) -> bool) -> bool {
    text.iter().fold(true, |all, byte| all & is_wanted(*byte))
}

/// Whether these two bytes stand side by side anywhere; takes many bytes at a time, too.
pub(crate) fn has_pair(text: &[u8], [first, second]: [u8; 2]) -> bool {
    let pairs = text.iter().zip(text.get(1..).unwrap_or_default());
    pairs.fold(u8::MAX, |least, (one, next)| least.min((one ^ first) | (next ^ second))) == 0
}

/// The bytes that may still be written. Once one text did not fit, nothing does.
#[derive(Debug)]
pub(crate) struct Budget {
    limit: usize,
    left: Option<usize>,
}

impl Budget {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self { limit: limits.declarations_bytes, left: Some(limits.declarations_bytes) }
    }

    /// Whether this many bytes may be written; they count then.
    pub(crate) fn admits(&mut self, bytes: usize) -> bool {
        self.left = self.left.and_then(|left| left.checked_sub(bytes));
        self.left.is_some()
    }

    /// Appends the text of a value, if it fits.
    pub(crate) fn push_json(&mut self, value: &Json, out: &mut String) {
        let start = out.len();
        value.write_text(out);
        if !self.admits(out.len() - start) {
            out.truncate(start);
        }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.left.is_none()
    }

    /// The error if something did not fit.
    pub(crate) fn check(&self, place: impl FnOnce() -> Place) -> Result<(), SdkError> {
        if self.is_full() { Err(SdkError::TooLarge { limit: self.limit, place: place() }) } else { Ok(()) }
    }
}
