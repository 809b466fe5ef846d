//! Why a text was not saved.

/// Why a text was not saved. For the operator's log: whoever saves decides what the model is told.
#[derive(Debug, thiserror::Error)]
pub enum SpillError {
    /// The system refused: no permission, no room, no such device. Its kind is kept.
    #[error("the spill store could not write: {0}")]
    Io(#[from] std::io::Error),
    /// The store has another reason.
    #[error("the spill store failed: {reason}")]
    Failed {
        /// What happened, in words.
        reason: String,
    },
    /// The cancellation came before everything was stored.
    #[error("saving was aborted")]
    Aborted,
}
