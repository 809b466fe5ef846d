//! The port through which tools reach files.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use dsh_lifecycle::Cancel;
use dsh_sandbox_policy::SandboxPolicy;

use crate::{
    EditOutcome, EditRequest, FsEntry, FsError, FsInfo, FsLine, FsTarget, FsVersion, LineWindow,
    WriteOutcome, WriteRequest,
};

/// Files, as tools see them.
///
/// Common to all operations:
/// - `policy` is the reach of this one call. What lies outside answers `FS_SANDBOX_DENIED`, decided on the thing that
///   is really opened: a link that is swapped between two steps can't lead outside.
/// - A path that came to lead elsewhere since it was resolved, inside the reach, answers `FS_STALE_VERSION`; it is never
///   followed to the new place.
/// - `cancel` is looked at before anything starts, between pieces of long work, and last before a change is published.
///   A cancelled operation answers `FS_ABORTED` and has changed nothing; once a change is published it succeeds.
/// - Special files (pipes, sockets, devices) are never waited for: they answer `FS_NOT_REGULAR_FILE` at once.
/// - Every failure of the operating system has a code; there is no time limit here.
///
/// Dropping a future leaves no half-written file: work that has begun on another thread runs to its next check and
/// cleans up after itself.
#[async_trait]
pub trait FileSystem: Send + Sync {
    /// Resolves a path to a target. A relative path starts at `cwd`; `.` and `..` are taken away as text, then links are
    /// followed (spec 07 §3.2). A name whose directories are missing has a target, too.
    ///
    /// Errors: `FS_NOT_FOUND` for a blank path and for a file used as a directory, `FS_SANDBOX_DENIED` for what `policy`
    /// does not let read, `FS_IO_ERROR` for links in a circle.
    async fn resolve(
        &self,
        path: &str,
        cwd: &Path,
        policy: &SandboxPolicy,
        cancel: &Cancel,
    ) -> Result<FsTarget, FsError>;

    /// What stands there, `None` when nothing does or a directory on the way is missing.
    async fn stat(
        &self,
        target: &FsTarget,
        policy: &SandboxPolicy,
        cancel: &Cancel,
    ) -> Result<Option<FsInfo>, FsError>;

    /// Reads a window of lines. The whole file is looked at, so that the number of lines is exact and all of it is known
    /// to be text; memory is bounded by the window, not by the file.
    ///
    /// Text is UTF-8, or UTF-16 with a byte order mark; the mark is dropped. What can be read so can be edited, and is
    /// searched by [`Search`](crate::Search).
    ///
    /// Errors: `FS_NOT_FOUND`, `FS_NOT_REGULAR_FILE`, and `FS_NOT_TEXT` for a NUL in the first 8,192 bytes or for what is
    /// malformed anywhere. The sentence names the byte, and what the file looks like instead: another encoding, or no text
    /// at all.
    async fn read_lines(
        &self,
        target: &FsTarget,
        window: LineWindow,
        policy: &SandboxPolicy,
        cancel: &Cancel,
    ) -> Result<LinesRead, FsError>;

    /// Reads a whole text of at most `max_bytes`, as stored and as UTF-8; beyond that `FS_TOO_LARGE`. Else as
    /// [`read_lines`](Self::read_lines).
    async fn read_text(
        &self,
        target: &FsTarget,
        max_bytes: u64,
        policy: &SandboxPolicy,
        cancel: &Cancel,
    ) -> Result<TextRead, FsError>;

    /// Reads whole bytes, undecoded, at most `max_bytes` (inclusive). `FS_TOO_LARGE` before any content is read when the
    /// size says so already, and when the file grows while it is read.
    async fn read_bytes(
        &self,
        target: &FsTarget,
        max_bytes: u64,
        policy: &SandboxPolicy,
        cancel: &Cancel,
    ) -> Result<BytesRead, FsError>;

    /// Lists one directory, sorted by name (by code point).
    ///
    /// Errors: `FS_NOT_FOUND`, `FS_NOT_DIRECTORY`, `FS_PERMISSION_DENIED`; an entry that can't be looked at fails the whole
    /// listing. A link that leads nowhere or out of reach is an entry without version.
    async fn list_dir(
        &self,
        target: &FsTarget,
        policy: &SandboxPolicy,
        cancel: &Cancel,
    ) -> Result<Vec<FsEntry>, FsError>;

    /// Writes a whole file so that a reader sees the old content or the new, never a part. Missing parent directories
    /// are created. A file that is replaced keeps its permissions; links stay links. Writes to one key happen one after
    /// the other, in the order in which they were asked for.
    ///
    /// Errors: `FS_SANDBOX_DENIED`, `FS_NOT_REGULAR_FILE`, `FS_STALE_VERSION` and `FS_NOT_OBSERVED` by the intent
    /// (see [`WriteIntent`](crate::WriteIntent)). After any error nothing is left behind.
    async fn write_text(
        &self,
        target: &FsTarget,
        request: WriteRequest,
        policy: &SandboxPolicy,
        cancel: &Cancel,
    ) -> Result<WriteOutcome, FsError>;

    /// Replaces a piece of a text file by the rules of [`EditRequest`], published as
    /// [`write_text`](Self::write_text) does, and only if the file is still the one that was read. Bytes outside the
    /// replaced piece stay: byte order mark, line endings, encoding.
    ///
    /// Errors: those of `write_text`; `FS_STALE_VERSION` when there is no file, when it is not what the intent says
    /// (before it is searched), and when it changed meanwhile; `FS_TOO_LARGE` above the provider's bound; `FS_NOT_TEXT`
    /// for what can't be edited without loss; `FS_EDIT_NOT_FOUND` and `FS_AMBIGUOUS_EDIT` as [`EditMiss`](crate::EditMiss)
    /// says.
    async fn edit_text(
        &self,
        target: &FsTarget,
        request: EditRequest,
        policy: &SandboxPolicy,
        cancel: &Cancel,
    ) -> Result<EditOutcome, FsError>;
}

/// A window of a text file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinesRead {
    /// The lines of the window, in order.
    pub lines: Vec<FsLine>,
    /// How many lines the file has.
    pub total_lines: u64,
    /// The version that was read: taken before the first byte, so that a change meanwhile makes it stale.
    pub version: FsVersion,
}

/// A whole text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextRead {
    /// The text, line endings as stored.
    pub text: Arc<str>,
    /// The version that was read.
    pub version: FsVersion,
}

/// Whole bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BytesRead {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The version that was read.
    pub version: FsVersion,
}
