//! What both languages write with: literals, and a bound on all that is written.

use std::sync::Arc;

use dsh_json::Json;

use crate::{Limits, Place, SdkError};

/// A name or key as a string literal. JSON's escapes mean the same in TypeScript and in Python (spec 05 §3.1).
pub(crate) fn quoted(name: &Arc<str>) -> String {
    Json::from(name).to_text()
}

/// Whether all bytes are as wanted. Sixteen of them cost one step, if the test has no branches.
pub(crate) fn every(text: &[u8], is_wanted: impl Fn(u8) -> bool) -> bool {
    let all = |block: &[u8; 16]| block.iter().fold(true, |all, byte| all & is_wanted(*byte));
    let (blocks, rest) = text.as_chunks();
    blocks.iter().all(all) && rest.iter().all(|byte| is_wanted(*byte))
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

#[cfg(test)]
mod tests {
    use super::every;

    #[test]
    fn every_byte_is_looked_at() {
        for length in 0..70 {
            let plain = vec![b'a'; length];
            assert!(every(&plain, |byte| byte == b'a'), "{length}");
            for place in 0..length {
                let mut text = plain.clone();
                text[place] = b'b';
                assert!(!every(&text, |byte| byte == b'a'), "{length} {place}");
            }
        }
    }
}
