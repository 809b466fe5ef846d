//! What can be wrong with a worker.

use thiserror::Error;

use crate::Ended;

/// Why there is no worker, or none any more. After every error from a worker its process is dead and reaped.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum WorkerError {
    /// No worker could be started.
    #[error("no worker can be started: {0}")]
    Unavailable(String),
    /// The child could not confine itself as demanded.
    #[error("no worker can be started: {0}")]
    Unconfined(String),
    /// The pool was closed.
    #[error("the pool of workers is closed")]
    Closed,
    /// The process ended, or it closed its channel and was killed.
    #[error("the worker ended: {}", .0.exit)]
    Ended(Box<Ended>),
    /// The worker sent a frame that is too long.
    #[error("the worker sent a frame of {bytes} bytes, {limit} are allowed (maxFrameBytes)")]
    FrameTooLarge {
        /// How long it said the payload is.
        bytes: usize,
        /// How long a payload may be.
        limit: usize,
    },
    /// The worker sent something that is no frame.
    #[error("the worker sent what is no frame")]
    NotAFrame,
    /// The payload that was to be sent is too long. The worker lives.
    #[error("a frame of {bytes} bytes was to be sent, {limit} are allowed (maxFrameBytes)")]
    TooLargeToSend {
        /// How long the payload is.
        bytes: usize,
        /// How long a payload may be.
        limit: usize,
    },
    /// The worker does not read what is queued for it. The worker lives.
    #[error(
        "{limit} bytes are queued for a worker that does not read them, which is all that may be (maxQueuedBytes)"
    )]
    QueueFull {
        /// What may be queued.
        limit: usize,
    },
}

impl WorkerError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unavailable(_) | Self::Closed => "WORKER_UNAVAILABLE",
            Self::Unconfined(_) => dsh_confinement::Short::CODE,
            Self::Ended(_) => "WORKER_ENDED",
            Self::FrameTooLarge { .. } | Self::TooLargeToSend { .. } => "WORKER_FRAME_TOO_LARGE",
            Self::NotAFrame => "WORKER_NOT_A_FRAME",
            Self::QueueFull { .. } => "WORKER_QUEUE_FULL",
        }
    }
}
