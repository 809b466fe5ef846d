//! The durable log of one conversation: events, surface, derivation, repair, verification.
//!
//! Whatever the model can see is rebuilt from the log; the history is derived, never stored (spec 03). The envelope
//! ([`Event`]) is closed, the set of event types is open: each crate declares its own through [`Payload`] and the
//! program collects them in a [`Vocabulary`]. What is appended and what is loaded meet the same rules.
//!
//! No I/O happens here: a [`Sink`] stores the events, a clock is passed in.
//!
//! ```
//! # use std::sync::Arc;
//! # use dsh_lifecycle::SteppingClock;
//! # use dsh_session::{Header, Session, SessionSpec, TurnEnd, TurnEndReason, TurnStart, Vocabulary, verify};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let session = Session::create(SessionSpec {
//!     header: Header::new("s1", 0)?,
//!     vocabulary: Arc::new(Vocabulary::core()),
//!     clock: Arc::new(SteppingClock::starting_at(0)),
//!     sink: None,
//! });
//! let turn = session.next_turn();
//! session.append(&TurnStart { turn })?;
//! session.append(&TurnEnd { turn, reason: TurnEndReason::Completed })?;
//! assert!(verify(session.header(), &session.events(), session.vocabulary()).is_ok());
//! # Ok(())
//! # }
//! ```

#[macro_use]
mod stored;

mod conversation;
mod core_event;
mod event;
mod fork;
mod header;
mod latest;
mod log;
mod observers;
mod payload;
mod refusal;
mod relations;
mod repair;
mod request;
mod session;
mod sink;
mod surface;
mod turn;
mod verify;
mod vocabulary;

pub use conversation::{AssistantChunk, AssistantMessage, CodedError, ToolCall, ToolResult, UserMessage};
pub use event::{Event, MAX_SAFE_INTEGER, SurfaceOp};
pub use fork::{Fork, ForkError};
pub use header::{Header, HeaderError};
pub use latest::Latest;
pub use observers::SessionObserver;
pub use payload::Payload;
pub use refusal::{AppendError, Refusal, SessionError};
pub use repair::{Closer, TOOL_NOT_STARTED, TOOL_OUTCOME_UNKNOWN, closers};
pub use request::{AdapterDefaults, HeaderReason, RequestConfig, RequestContext, RequestForm, RequestHeader};
pub use session::{Session, SessionSpec};
pub use sink::{Sink, SinkError};
pub use turn::{AbortReason, EndSeed, StepEnd, StepStart, TurnEnd, TurnEndReason, TurnStart};
pub use verify::{Problem, Verdict, Violation, verify};
pub use vocabulary::{Pair, Vocabulary, VocabularyError};
