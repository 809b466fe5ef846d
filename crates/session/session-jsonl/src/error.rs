//! What can go wrong with a log file; each error names the file.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dsh_llm::ShapeError;
use dsh_session::{ForkError, HeaderError};

/// A file operation that failed.
#[derive(Debug, Clone, thiserror::Error)]
#[error("can't {action} {}: {source}", path.display())]
pub struct IoError {
    /// The file or directory.
    pub path: PathBuf,
    /// What was tried, as in "can't {action}".
    pub action: &'static str,
    /// Why it failed.
    pub source: Arc<io::Error>,
}

impl IoError {
    pub(crate) fn at(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self { path: path.to_owned(), action, source: Arc::new(source) }
    }
}

/// Why a file can't be read as a log. Torn tails and damage are not errors of reading: they are told by its
/// [`Tail`](crate::Tail).
#[derive(Debug, Clone, thiserror::Error)]
pub enum ReadError {
    /// The file can't be read.
    #[error(transparent)]
    Io(#[from] IoError),
    /// The file does not begin as a log does.
    #[error("{} is not a session log", path.display())]
    NotALog {
        /// The file.
        path: PathBuf,
    },
    /// The header is of another version, or sound and not a header.
    #[error("{}: {source}", path.display())]
    Header {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: HeaderError,
    },
    /// A line that is whole, by its checksum, and not an event: another program wrote it.
    #[error("{}, line {line}: {problem}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong.
        problem: ShapeError,
    },
}

/// Why a log can't be created or continued. The file is as it was.
#[derive(Debug, Clone, thiserror::Error)]
pub enum OpenError {
    /// Someone else writes to it.
    #[error("{} is in use by another process", path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// There is a file where one was to be created.
    #[error("{} exists already", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The file holds no session yet: its writer was stopped before the header was written.
    #[error("{} holds no session", path.display())]
    NotStarted {
        /// The file.
        path: PathBuf,
    },
    /// A bad line has good lines after it. Nothing is dropped silently: see [`repair`](crate::repair).
    #[error(
        "{} is damaged at line {line} (byte {offset}); {later_valid} good lines come after it, run `repair` to cut \
         the log there and keep the rest beside it",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The first bad line, from 1.
        line: u64,
        /// Where it begins.
        offset: u64,
        /// How many lines from there on are sound.
        later_valid: u64,
    },
    /// An event of a required type that the vocabulary does not have: not damage, but another program's log.
    #[error("{}: event {seq} has the unknown type `{kind}`", path.display())]
    UnknownType {
        /// The file.
        path: PathBuf,
        /// The event.
        seq: u64,
        /// Its type.
        kind: Arc<str>,
    },
    /// The file can't be read as a log.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A file operation failed.
    #[error(transparent)]
    Io(#[from] IoError),
    /// The log could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// Why an event was not written, or not flushed. Kept as the [`SinkError`](dsh_session::SinkError) of the session's
/// append.
///
/// After [`Io`](Self::Io) from a write the file is as it was, and the next event is tried anew, unless the failed write
/// could not be taken back. After that, after a failed flush, and after the file was removed or changed by somebody
/// else, everything is refused as [`Broken`](Self::Broken) until the log is opened again.
#[derive(Debug, Clone, thiserror::Error)]
pub enum WriteError {
    /// The write or flush failed.
    #[error(transparent)]
    Io(#[from] IoError),
    /// An earlier failure ended the log; opening it again repairs it.
    #[error("{} takes no more events after an earlier failure: {cause}", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// That failure.
        cause: Box<WriteError>,
    },
    /// Somebody removed the file; what was in it was saved.
    #[error("{} was removed while it was written; all that it held is in {}", path.display(), kept.display())]
    Removed {
        /// The file.
        path: PathBuf,
        /// Where its contents are now: the same name, or one beside it where that was taken.
        kept: PathBuf,
    },
    /// Somebody removed the file, and what was in it could not be saved.
    #[error("{} was removed while it was written, and what it held is lost: {cause}", path.display())]
    Lost {
        /// The file.
        path: PathBuf,
        /// Why it could not be saved.
        cause: IoError,
    },
    /// Somebody else wrote to the file, or cut it.
    #[error("{} was changed by another program: it has {found} bytes instead of {expected}", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
        /// How long it was left.
        expected: u64,
        /// How long it is.
        found: u64,
    },
    /// An event that is not the next in the file.
    #[error("{} expects event {expected}, not {found}", path.display())]
    OutOfOrder {
        /// The file.
        path: PathBuf,
        /// The next seq.
        expected: u64,
        /// The event's.
        found: u64,
    },
    /// An event longer than [`MAX_LINE_BYTES`](crate::MAX_LINE_BYTES), so that it could not be read again.
    #[error("event {seq} takes {bytes} bytes, more than a log line's {limit}")]
    TooLong {
        /// The event.
        seq: u64,
        /// What it takes.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// An event deeper than [`MAX_LINE_DEPTH`](crate::MAX_LINE_DEPTH).
    #[error("event {seq} nests {depth} levels deep, more than a log line's {limit}")]
    TooDeep {
        /// The event.
        seq: u64,
        /// Its depth.
        depth: usize,
        /// The limit.
        limit: usize,
    },
}

impl WriteError {
    /// Its code, stable.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Io(_) => "LOG_IO_ERROR",
            Self::Broken { .. } => "LOG_BROKEN",
            Self::Removed { .. } => "LOG_REMOVED",
            Self::Lost { .. } => "LOG_LOST",
            Self::Changed { .. } => "LOG_CHANGED",
            Self::OutOfOrder { .. } => "LOG_OUT_OF_ORDER",
            Self::TooLong { .. } => "LOG_LINE_TOO_LONG",
            Self::TooDeep { .. } => "LOG_LINE_TOO_DEEP",
        }
    }
}

/// Why a log was not forked. There is no new file, and the source is as it was.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ForkLogError {
    /// The new log can't be created.
    #[error(transparent)]
    Target(OpenError),
    /// The log to fork can't be read as one, or not by this program.
    #[error(transparent)]
    Source(OpenError),
    /// It can't be forked there.
    #[error("{}: {source}", path.display())]
    Boundary {
        /// The log that was to be forked.
        path: PathBuf,
        /// Why not.
        source: ForkError,
    },
}

impl ForkLogError {
    /// Its code, stable (spec 03 §5).
    pub fn code(&self) -> &'static str {
        match self {
            Self::Target(OpenError::Exists { .. }) => "SESSION_ALREADY_EXISTS",
            Self::Target(_) => "LOG_IO_ERROR",
            Self::Source(OpenError::Io(error) | OpenError::Read(ReadError::Io(error)))
                if error.source.kind() == io::ErrorKind::NotFound =>
            {
                "SESSION_NOT_FOUND"
            }
            Self::Source(_) => "SESSION_NOT_LIVE",
            Self::Boundary { source, .. } => source.code(),
        }
    }
}

/// Why a log was not repaired.
#[derive(Debug, Clone, thiserror::Error)]
pub enum RepairError {
    /// It can't be opened; the file is as it was.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Its header is lost, so that nothing of it can be continued; the file is as it was.
    #[error("the header of {} is damaged, the log can't be continued", path.display())]
    NoHeader {
        /// The file.
        path: PathBuf,
    },
    /// What was left open could not be closed; the tail is off, repair it again.
    #[error(transparent)]
    Write(#[from] WriteError),
}
