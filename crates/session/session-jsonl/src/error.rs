//! What can go wrong with a log file; each error names the file.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dsh_llm::ShapeError;
use dsh_session::HeaderError;

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
}

/// Why an event was not written. Kept as the [`SinkError`](dsh_session::SinkError) of the session's append.
#[derive(Debug, Clone, thiserror::Error)]
pub enum WriteError {
    /// The write or flush failed. After a failed write the file is as it was before.
    #[error(transparent)]
    Io(#[from] IoError),
    /// An earlier failure could not be undone, so the log takes nothing more; opening it again repairs it.
    #[error("{} takes no more events after an earlier failure: {cause}", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// That failure.
        cause: IoError,
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
