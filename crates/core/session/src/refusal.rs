//! Why an event is not let into a log, on append as on load.

use std::sync::Arc;

use dsh_json::JsonError;
use dsh_llm::ShapeError;

use crate::sink::SinkError;

/// Why an event is not let into a log. The same on append and on load.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The envelope's own values.
    #[error("bad envelope: {0}")]
    Envelope(#[from] ShapeError),
    /// A required type that this program does not know: another version, or a plugin that is not mounted.
    #[error("unknown event type `{kind}`")]
    UnknownType {
        /// The type.
        kind: Arc<str>,
    },
    /// A payload that does not fit its type.
    #[error("bad `{kind}`: {source}")]
    Payload {
        /// The type.
        kind: Arc<str>,
        /// What is wrong with it.
        source: ShapeError,
    },
    /// An event that is not the next.
    #[error("expected seq {expected}, found {found}")]
    Sequence {
        /// The next seq.
        expected: u64,
        /// The event's.
        found: u64,
    },
    /// A surface type without `surfaceOp`.
    #[error("`{kind}` needs `surfaceOp`")]
    SurfaceOpMissing {
        /// The type.
        kind: Arc<str>,
    },
    /// A type outside of the surface with `surfaceOp` or `sourceEventSeqs`.
    #[error("`{kind}` can't have `surfaceOp` or `sourceEventSeqs`")]
    NotOnSurface {
        /// The type.
        kind: Arc<str>,
    },
    /// Provenance that names itself or what comes later.
    #[error("provenance names {source_seq}, which is not before {seq}")]
    SourceNotBefore {
        /// The event's seq.
        seq: u64,
        /// The seq that it names.
        source_seq: u64,
    },
    /// Provenance that names an event twice.
    #[error("provenance names {source_seq} twice")]
    SourceTwice {
        /// The seq that it names.
        source_seq: u64,
    },
    /// Empty provenance, which only an assistant's message can have.
    #[error("`{kind}` can't have empty provenance")]
    SourcesEmpty {
        /// The type.
        kind: Arc<str>,
    },
    /// A replacement that starts or ends at an event that is not visible.
    #[error("{seq} is not visible, so it can't be replaced")]
    NotANode {
        /// The seq that was named.
        seq: u64,
    },
    /// A replacement that ends before it starts.
    #[error("the replaced range ends at {end}, before its start {start}")]
    RangeReversed {
        /// The first node that was named.
        start: u64,
        /// The last.
        end: u64,
    },
    /// A replacement whose provenance leaves out what it replaces.
    #[error("provenance leaves out {seq}, which is replaced")]
    ShadowedNotNamed {
        /// The node that is left out.
        seq: u64,
    },
    /// A replacing tool result that takes the place of anything but one tool result.
    #[error("a tool result can only replace one tool result")]
    ReplacesOther,
    /// A replacing tool result that differs in more than its content.
    #[error("a replacing tool result can only change the content")]
    ReplacesMore,
}

/// Why nothing was appended. The log, its store and its next seq are as they were.
#[derive(Debug, Clone, thiserror::Error)]
pub enum AppendError {
    /// The event is refused.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The payload has no JSON form.
    #[error("`{kind}` can't be written: {source}")]
    Json {
        /// The type.
        kind: &'static str,
        /// Why.
        source: JsonError,
    },
    /// The store did not take it.
    #[error("the session log can't be written: {0}")]
    Sink(#[from] SinkError),
    /// Called by an observer or a store while it was told of another event. Append after it returned.
    #[error("an observer can't append while it is told of an event")]
    Reentrant,
}

/// Why a session can't be continued.
#[derive(Debug, Clone, thiserror::Error)]
pub enum SessionError {
    /// One of its events is refused.
    #[error("event {index}: {refusal}")]
    Event {
        /// Which one, from 0.
        index: usize,
        /// Why.
        refusal: Refusal,
    },
    /// What an earlier life left open could not be closed.
    #[error("failed to close what was left open: {0}")]
    Append(#[from] AppendError),
}
