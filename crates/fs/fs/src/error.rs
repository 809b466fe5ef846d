//! Why a file operation was refused or failed.

use std::error::Error;
use std::fmt;

/// The stable code of a file error (spec 07 §2.2). Models and policies route on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FsErrorCode {
    /// There is nothing under that name, or a file stands where a directory should be.
    NotFound,
    /// A directory was needed.
    NotDirectory,
    /// The content is no text, or text in an encoding that is not taken.
    NotText,
    /// A regular file was needed: it is a directory, a pipe, a socket or a device.
    NotRegularFile,
    /// The content is larger than the caller's bound.
    TooLarge,
    /// The operating system refuses access.
    PermissionDenied,
    /// The sandbox policy does not reach there.
    SandboxDenied,
    /// Anything else that the operating system reports.
    IoError,
    /// The file is no longer the one that was seen.
    StaleVersion,
    /// The file exists, and was not seen before it was written.
    NotObserved,
    /// The text to replace occurs more than once.
    AmbiguousEdit,
    /// The text to replace does not occur.
    EditNotFound,
    /// The call was cancelled before anything was changed.
    Aborted,
}

impl FsErrorCode {
    /// The code as models and logs see it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotFound => "FS_NOT_FOUND",
            Self::NotDirectory => "FS_NOT_DIRECTORY",
            Self::NotText => "FS_NOT_TEXT",
            Self::NotRegularFile => "FS_NOT_REGULAR_FILE",
            Self::TooLarge => "FS_TOO_LARGE",
            Self::PermissionDenied => "FS_PERMISSION_DENIED",
            Self::SandboxDenied => "FS_SANDBOX_DENIED",
            Self::IoError => "FS_IO_ERROR",
            Self::StaleVersion => "FS_STALE_VERSION",
            Self::NotObserved => "FS_NOT_OBSERVED",
            Self::AmbiguousEdit => "FS_AMBIGUOUS_EDIT",
            Self::EditNotFound => "FS_EDIT_NOT_FOUND",
            Self::Aborted => "FS_ABORTED",
        }
    }
}

impl fmt::Display for FsErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A failed file operation: a code, a sentence that names the display path, and the cause if there is one.
///
/// The sentence is written for the model; it never shows a key. Remedies ("read it again") are the tool's to add.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct FsError {
    code: FsErrorCode,
    message: Box<str>,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl FsError {
    /// The name under which tool results report it.
    pub const NAME: &'static str = "FsError";

    /// A failure with this code and sentence.
    pub fn new(code: FsErrorCode, message: impl Into<Box<str>>) -> Self {
        Self { code, message: message.into(), source: None }
    }

    /// The same failure with what caused it.
    #[must_use]
    pub fn caused_by(mut self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(cause.into());
        self
    }

    /// The same failure, saying what to do next. Code and cause stay.
    #[must_use]
    pub fn with_remedy(mut self, remedy: &str) -> Self {
        self.message = format!("{}. {remedy}", self.message).into();
        self
    }

    /// Nothing was done, because the caller stopped the call.
    pub fn aborted() -> Self {
        Self::new(FsErrorCode::Aborted, "the call was cancelled; no file was changed")
    }

    /// Its code, as models and logs see it.
    pub fn code(&self) -> &'static str {
        self.code.as_str()
    }

    /// Its code, to match on.
    pub fn kind(&self) -> FsErrorCode {
        self.code
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remedy_keeps_code_and_cause() {
        let error = FsError::new(FsErrorCode::StaleVersion, "a.txt changed")
            .caused_by("because")
            .with_remedy("Read it again.");
        assert_eq!(error.to_string(), "a.txt changed. Read it again.");
        assert_eq!(error.code(), "FS_STALE_VERSION");
        assert_eq!(error.source().map(ToString::to_string).as_deref(), Some("because"));
    }
}
