//! Freshness: what a reader saw.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A token that changes whenever a file does. Consumers keep it and hand it back; only a provider makes or reads one.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FsVersion(Arc<str>);

impl FsVersion {
    /// A version from a provider's token.
    pub fn new(token: impl Into<Arc<str>>) -> Self {
        Self(token.into())
    }

    /// The token.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for FsVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a session knows of a target after it looked (spec 07 §2.1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum FsObservation {
    /// It was there, at this version.
    Present {
        /// The version that was seen.
        version: FsVersion,
    },
    /// It was not there.
    Absent,
}
