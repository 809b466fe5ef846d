//! Why a stored text was not read.

use std::time::Duration;

/// Why a stored text was not read. Each has a stable [code](Self::code). The sentence is for the operator's log, as a store
/// may name its servers and directories in it: whoever reads decides what the model is told.
#[derive(Debug, thiserror::Error)]
pub enum SpillReadError {
    /// The store gives no text back by its locator.
    #[error("the spill store can't be read from")]
    Unsupported,
    /// The store has no such text for these owners: there was none, it is gone, or it is another session's. A store does
    /// not say which.
    #[error("the spill store has no such text for this session")]
    NotFound,
    /// The system refused: no permission, no such device, no way there. Its kind is kept.
    #[error("the spill store could not read: {0}")]
    Io(#[from] std::io::Error),
    /// The store has another reason, or it panicked.
    #[error("the spill store failed: {reason}")]
    Failed {
        /// What happened, in words.
        reason: String,
    },
    /// The store gave more bytes or fewer than the range has in a text as long as it says.
    #[error("the spill store gave {given} bytes where {due} were due")]
    WrongSize {
        /// How many it gave.
        given: u64,
        /// How many there had to be.
        due: u64,
    },
    /// The text has another length than it had a range before.
    #[error("the spill store gave a text of {before} bytes at first, and then one of {now}")]
    Changed {
        /// The length in its first answer.
        before: u64,
        /// The length in its last.
        now: u64,
    },
    /// What the store gave is not UTF-8, which every stored text is.
    #[error("the spill store gave what is not UTF-8 at byte {at}")]
    NotText {
        /// The place of the first byte that is wrong, in the text.
        at: u64,
    },
    /// The cancellation came before everything was read.
    #[error("reading was aborted")]
    Aborted,
    /// The store did not answer in the time that whoever reads gave it.
    #[error("the spill store did not answer within {} ms", after.as_millis())]
    Late {
        /// How long it was given.
        after: Duration,
    },
}

impl SpillReadError {
    /// The name under which tool results report it.
    pub const NAME: &'static str = "SpillError";

    /// Its code, as models and logs see it.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unsupported => "SPILL_UNSUPPORTED",
            Self::NotFound => "SPILL_NOT_FOUND",
            Self::Io(_) => "SPILL_IO_ERROR",
            Self::Failed { .. } => "SPILL_FAILED",
            Self::WrongSize { .. } => "SPILL_WRONG_SIZE",
            Self::Changed { .. } => "SPILL_CHANGED",
            Self::NotText { .. } => "SPILL_NOT_TEXT",
            Self::Aborted => "SPILL_ABORTED",
            Self::Late { .. } => "SPILL_LATE",
        }
    }
}
