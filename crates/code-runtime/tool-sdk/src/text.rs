//! What both languages write with: literals, and a bound on all that is written.

use std::sync::Arc;

use dsh_json::Json;

use crate::{Limits, Place, SdkError};

/// A name or key as a string literal. JSON's escapes mean the same in TypeScript and in Python (spec 05 §3.1).
pub(crate) fn quoted(name: &Arc<str>) -> String {
    Json::from(name).to_text()
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

    pub(crate) fn is_full(&self) -> bool {
        self.left.is_none()
    }

    /// The error if something did not fit.
    pub(crate) fn check(&self, place: impl FnOnce() -> Place) -> Result<(), SdkError> {
        if self.is_full() { Err(SdkError::TooLarge { limit: self.limit, place: place() }) } else { Ok(()) }
    }
}
