//! Why a text was not saved.

use std::time::Duration;

/// Why a text was not saved. For the operator's log: whoever saves decides what the model is told.
#[derive(Debug, thiserror::Error)]
pub enum SpillError {
    /// The system refused: no permission, no room, no such device. Its kind is kept.
    #[error("the spill store could not write: {0}")]
    Io(#[from] std::io::Error),
    /// The place where the text would be is not one to keep texts in: not private, or not what it has to be.
    #[error("the spill store refuses its place: {reason} ({code})")]
    Refused {
        /// A stable word for what is wrong.
        code: &'static str,
        /// What is wrong, and with which place.
        reason: String,
    },
    /// There would be more than the configuration allows.
    #[error("the spill store is full: `{limit}` allows {allowed} bytes, and there would be {needed}")]
    OverLimit {
        /// The key of the configuration.
        limit: &'static str,
        /// How many bytes it allows.
        allowed: u64,
        /// How many there would be with this text.
        needed: u64,
    },
    /// The store has another reason.
    #[error("the spill store failed: {reason}")]
    Failed {
        /// What happened, in words.
        reason: String,
    },
    /// The cancellation came before everything was stored.
    #[error("saving was aborted")]
    Aborted,
    /// The store did not answer in the time that whoever saves gave it.
    #[error("the spill store did not answer within {} ms", after.as_millis())]
    Late {
        /// How long it was given.
        after: Duration,
    },
}
