//! Searching a tree: by name and by content (spec 07 §7).

use std::fmt;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use dsh_lifecycle::Cancel;
use dsh_sandbox_policy::SandboxPolicy;

use crate::FsError;

/// A provider of searches. It runs in this process, off the caller's thread, and never leaves its search root.
///
/// What every provider holds to:
///
/// - The search root is resolved like any other path and has to be readable under the policy. Nothing outside is
///   listed or opened; symbolic links that are met on the way are not followed, and a hit is opened anew beneath the
///   root, so that a directory swapped for a link can't lead out (spec 07 §10.1).
/// - Results are complete and in their documented order, whatever order the tree was walked in. Where a limit makes
///   them incomplete, they say so.
/// - What can't be read does not fail the search: it is a warning beside the results (spec 07 §10.16).
/// - The cancellation is looked at for every entry and every match, and ends the future at once. Dropping the future
///   stops the search, too.
///
/// Paths in results are relative to the request's `cwd` when the root lies below it, and absolute or as they were
/// given otherwise. They are exact when they are UTF-8, line breaks included; bytes that are not UTF-8 stand as
/// `\xNN`, and such a path can't be opened by that text.
#[async_trait]
pub trait Search: Send + Sync {
    /// The files whose path matches a glob: hidden and ignored files included, metadata of version control left out,
    /// oldest modification first, then by path (spec 07 §7.2).
    async fn glob(
        &self,
        request: GlobRequest,
        policy: &SandboxPolicy,
        cancel: &Cancel,
    ) -> Result<GlobHits, SearchError>;

    /// The lines that match a regular expression, by path and then by line. Ignore files and hidden names are
    /// respected, binary files are passed over (spec 07 §7.3).
    ///
    /// What is read as text is searched as text, with the same line numbers: UTF-8, and UTF-16 with a byte order mark.
    /// Malformed places, and other encodings that have ASCII in them, keep no file out: what is well formed is found.
    async fn grep(
        &self,
        request: GrepRequest,
        policy: &SandboxPolicy,
        cancel: &Cancel,
    ) -> Result<GrepHits, SearchError>;
}

/// What [`Search::glob`] looks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GlobRequest {
    /// The absolute directory that relative paths start at.
    pub cwd: PathBuf,
    /// The directory to search; `cwd` when there is none.
    pub path: Option<String>,
    /// The glob. Without `/` it is compared with file names at any depth; with `/`, with the path below the search
    /// root and with the path as the result shows it, and one match is enough. A leading `!` turns it around.
    pub pattern: String,
    /// Where the search ends early.
    pub limits: SearchLimits,
}

/// What [`Search::grep`] looks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrepRequest {
    /// The absolute directory that relative paths start at.
    pub cwd: PathBuf,
    /// The file or directory to search; `cwd` when there is none.
    pub path: Option<String>,
    /// The regular expression, compared with one line at a time. For `^` and `$` a carriage return ends a
    /// line, too, so that files with CRLF need no special pattern.
    pub pattern: String,
    /// Only files whose path matches this glob, in the form of [`GlobRequest::pattern`]. The files that it matches
    /// are searched even when they are hidden or ignored; directories that are hidden or ignored stay closed.
    pub include: Option<String>,
    /// Where the search ends early.
    pub limits: SearchLimits,
}

/// The bounds of one search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchLimits {
    /// At most so many hits, the first ones in order; more make the result `truncated`. `None`: all of them.
    pub max_hits: Option<NonZeroUsize>,
    /// At most so many bytes of paths and lines, counted with a fixed cost for each hit. More is
    /// [`SearchError::Overflow`]. Also the longest line that is looked at; a longer one ends its file with a warning.
    pub max_bytes: NonZeroUsize,
    /// At most so many warnings, the first ones in order; the others are counted.
    pub max_warnings: NonZeroUsize,
}

/// The answer to [`Search::glob`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GlobHits {
    /// The search root as results show it; `.` is `cwd` itself.
    pub root: Arc<str>,
    /// The files found, each path starting with the root unless that is `.`.
    pub paths: Vec<Arc<str>>,
    /// Whether [`SearchLimits::max_hits`] left something out.
    pub truncated: bool,
    /// What could not be looked at.
    pub warnings: Warnings,
}

/// The answer to [`Search::grep`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrepHits {
    /// The matching lines.
    pub matches: Vec<GrepMatch>,
    /// Whether [`SearchLimits::max_hits`] left something out.
    pub truncated: bool,
    /// What could not be looked at.
    pub warnings: Warnings,
}

/// One line that matched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrepMatch {
    /// The file.
    pub path: Arc<str>,
    /// The line, counted from 1.
    pub line_number: u64,
    /// The whole line without its line end; `None` when it is not UTF-8.
    pub line: Option<Arc<str>>,
}

/// What a search could not look at, in order of path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Warnings {
    /// The first ones.
    pub shown: Vec<SearchWarning>,
    /// How many there were besides.
    pub more: usize,
}

/// One thing that a search could not look at. Displays as `path: what`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SearchWarning {
    /// Where, as in results.
    pub path: Arc<str>,
    /// What was wrong there.
    pub kind: WarningKind,
}

/// Why a part of the tree was left out of a search.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum WarningKind {
    /// It could not be opened or read.
    Unreadable {
        /// The system's words.
        reason: String,
    },
    /// The file is binary from here on. Matches before this place are in the result.
    BinaryFrom {
        /// The offset, in bytes of the text as UTF-8 without a byte order mark, of the first NUL.
        offset: u64,
    },
    /// A line of the file is longer than the search holds in memory. Matches before it are in the result.
    LongLine {
        /// The limit, in bytes.
        limit: NonZeroUsize,
    },
    /// A file of ignore rules can't be used as one: it is not a regular file, too large, or out of reach. A directory
    /// below the root is then left out; at the root or above it, ignore rules are not applied at all.
    UnusableIgnoreFile,
    /// A file of ignore rules has lines that are no rules; the others are applied.
    BadIgnoreRules,
}

/// Why a search has no result.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// The regular expression or the glob can't be used.
    #[error("invalid pattern: {reason}")]
    InvalidPattern {
        /// What is wrong with it, with the place where that is known.
        reason: String,
    },
    /// The search broke down.
    #[error("the search failed: {reason}")]
    Failed {
        /// What happened.
        reason: String,
    },
    /// The results are larger than [`SearchLimits::max_bytes`].
    #[error("the results are larger than {limit} bytes; narrow the pattern, the path or the include")]
    Overflow {
        /// The limit that was hit.
        limit: NonZeroUsize,
    },
    /// The search was cancelled.
    #[error("the search was aborted")]
    Aborted,
    /// The search root can't be searched: it is absent, of the wrong type, or out of reach of the policy.
    #[error(transparent)]
    Root(#[from] FsError),
}

impl Warnings {
    /// Whether everything was looked at.
    pub fn is_empty(&self) -> bool {
        self.shown.is_empty() && self.more == 0
    }
}

impl SearchError {
    /// The stable code (spec 07 §7.1); that of the file system for the root.
    pub fn code(&self) -> &'static str {
        match self {
            Self::InvalidPattern { .. } => "SEARCH_INVALID_PATTERN",
            Self::Failed { .. } => "SEARCH_FAILED",
            Self::Overflow { .. } => "SEARCH_RAW_OUTPUT_OVERFLOW",
            Self::Aborted => "SEARCH_ABORTED",
            Self::Root(error) => error.code(),
        }
    }

    /// The stable name of the kind of error.
    pub fn name(&self) -> &'static str {
        match self {
            Self::InvalidPattern { .. } | Self::Failed { .. } | Self::Overflow { .. } | Self::Aborted => {
                "SearchError"
            }
            Self::Root(_) => FsError::NAME,
        }
    }
}

impl fmt::Display for SearchWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.kind)
    }
}

impl fmt::Display for WarningKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { reason } => write!(f, "could not be read ({reason})"),
            Self::BinaryFrom { offset } => write!(f, "binary from byte {offset} on, not searched further"),
            Self::LongLine { limit } => write!(f, "has a line of over {limit} bytes, not searched further"),
            Self::UnusableIgnoreFile => f.write_str("can't be used for ignore rules"),
            Self::BadIgnoreRules => f.write_str("has lines that are no ignore rules"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_names_are_stable() {
        let limit = NonZeroUsize::MIN;
        let rows = [
            (SearchError::InvalidPattern { reason: String::new() }, "SEARCH_INVALID_PATTERN"),
            (SearchError::Failed { reason: String::new() }, "SEARCH_FAILED"),
            (SearchError::Overflow { limit }, "SEARCH_RAW_OUTPUT_OVERFLOW"),
            (SearchError::Aborted, "SEARCH_ABORTED"),
        ];
        for (error, code) in rows {
            assert_eq!((error.code(), error.name()), (code, "SearchError"));
        }
    }

    #[test]
    fn warnings_name_the_place_first() {
        let rows = [
            (
                WarningKind::Unreadable { reason: "permission denied".into() },
                "could not be read (permission denied)",
            ),
            (WarningKind::BinaryFrom { offset: 7 }, "binary from byte 7 on, not searched further"),
            (
                WarningKind::LongLine { limit: NonZeroUsize::MIN },
                "has a line of over 1 bytes, not searched further",
            ),
            (WarningKind::UnusableIgnoreFile, "can't be used for ignore rules"),
            (WarningKind::BadIgnoreRules, "has lines that are no ignore rules"),
        ];
        for (kind, words) in rows {
            assert_eq!(SearchWarning { path: "a".into(), kind }.to_string(), format!("a: {words}"));
        }
    }
}
