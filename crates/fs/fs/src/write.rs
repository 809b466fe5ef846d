//! What a writer wants, expects and gets.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::FsVersion;

/// What must be true for a write to happen (spec 07 §2.1). No intent means: unconditionally.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WriteIntent {
    /// Nothing may stand there yet: else `FS_NOT_OBSERVED`, whoever came first keeps the name.
    CreateIfAbsent,
    /// The file must still be this version: else, and when it is gone, `FS_STALE_VERSION`.
    ReplaceIfVersion(FsVersion),
}

/// A whole-file write.
#[derive(Debug, Clone)]
pub struct WriteRequest {
    /// The content, stored byte for byte.
    pub content: Arc<str>,
    /// What must be true for it to happen.
    pub intent: Option<WriteIntent>,
}

/// What a write did to the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WriteOperation {
    /// There was nothing before.
    Create,
    /// A file was replaced.
    Update,
}

/// A write that is on the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteOutcome {
    /// What happened to the name.
    pub operation: WriteOperation,
    /// The version that was published; a valid guard for the next write.
    pub version: FsVersion,
    /// The text before, line endings as `\n`; absent for a new file, and where the old or the new content is too large
    /// or the old content is no text. A basis for showing a difference, never for restoring.
    pub before: Option<Arc<str>>,
    /// The text after, line endings as `\n`.
    pub after: Arc<str>,
}
