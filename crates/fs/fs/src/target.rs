//! What an operation is about, and what is known of it.

use std::path::Path;
use std::sync::Arc;

use crate::FsVersion;

/// A name that a provider resolved. Two spellings of one file have one key, and display as they were asked for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FsTarget {
    /// The identity: equal for all spellings, stable when missing directories are created later. Opaque; compare it,
    /// use it in maps, never show it.
    pub key: Arc<str>,
    /// The absolute path as asked for, links kept, for people and models.
    pub display: Arc<str>,
    /// Where the provider finds it. Only the provider that made the target uses it.
    pub path: Arc<Path>,
}

/// What stands under a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link that was not followed.
    Symlink,
    /// A pipe, a socket, a device, or a link that leads nowhere.
    Other,
}

/// What `stat` tells about something that exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FsInfo {
    /// Its version now.
    pub version: FsVersion,
    /// What it is, links followed.
    pub kind: FileKind,
    /// Its size in bytes, as the system reports it.
    pub size: u64,
}

/// One row of a directory listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FsEntry {
    /// The name as text; bytes that are no text are replaced for display, the target stays exact.
    pub name: Arc<str>,
    /// What it is, links followed; [`FileKind::Other`] for a link that leads nowhere or out of reach.
    pub kind: FileKind,
    /// The entry as a target of further calls.
    pub target: FsTarget,
    /// Its version; absent where a link leads nowhere or out of reach.
    pub version: Option<FsVersion>,
    /// The size of a regular file.
    pub size: Option<u64>,
}
