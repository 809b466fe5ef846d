//! Running calls as a turn.

use std::sync::Arc;

use async_trait::async_trait;
use dsh_lifecycle::Cancel;
use dsh_session::{AppendError, ToolResult, TurnEndReason};
use futures_util::stream::BoxStream;
use tokio::sync::oneshot;

use crate::{Agent, InboxError};

/// A call that somebody asks for, as a model would: everything in it is text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestedCall {
    /// The id under which its result will be found; if it is empty or was used before, the log has a fresh one in its
    /// place and keeps this one beside it (design §5).
    pub id: Arc<str>,
    /// The name of the tool.
    pub name: Arc<str>,
    /// The arguments: JSON text, not checked yet.
    pub arguments: Arc<str>,
}

/// A turn without a model: the calls that it makes and who makes them.
#[derive(Debug, Clone)]
pub struct CallTurn {
    /// Who makes the calls, as the log will say it.
    pub origin: Arc<str>,
    /// One sentence for the assistant message that carries the calls.
    pub note: Arc<str>,
    /// The calls, in order.
    pub calls: Vec<RequestedCall>,
}

/// Who makes calls that arrive one by one, as the log will say it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallOrigin {
    /// Who makes them.
    pub origin: Arc<str>,
    /// One sentence for the assistant message that carries each of them.
    pub note: Arc<str>,
}

/// A call that arrives while others may run.
#[derive(Debug)]
pub struct ArrivingCall {
    /// What is called.
    pub call: RequestedCall,
    /// Stops this call and no other. It is stopped with its turn, too.
    pub cancel: Cancel,
    /// Is sent the result after the log holds it and it is published. Dropped without one if the log could not be written.
    pub settled: oneshot::Sender<ToolResult>,
}

/// The port through which calls become a turn of an agent.
#[async_trait]
pub trait TurnRunner: Send + Sync {
    /// Opens a turn, runs the calls on the lane as one step, and closes the turn.
    ///
    /// Returns how the turn ended; the results are in the session's log, one for each call. Cancelling `cancel` ends
    /// the turn as aborted, with a result for every call.
    async fn run_calls(
        &self,
        agent: &Agent,
        turn: CallTurn,
        cancel: &Cancel,
    ) -> Result<TurnEndReason, TurnError>;

    /// Opens a turn, runs calls on the lane as one step while they arrive, and closes the turn when `calls` has ended and
    /// each that it brought has its result.
    ///
    /// A call joins the step when it starts: its own assistant message, then the call. They start in the order of
    /// arrival, bodies overlap, and an exclusive one is a barrier, as within a batch. Cancelling a call's own
    /// cancellation stops that call. Cancelling `cancel` ends the turn as aborted: `calls` is asked for no more, and what it
    /// brought has a result each.
    async fn run_arriving(
        &self,
        agent: &Agent,
        origin: CallOrigin,
        calls: BoxStream<'_, ArrivingCall>,
        cancel: &Cancel,
    ) -> Result<TurnEndReason, TurnError>;
}

/// Why a turn could not be run or closed. What a call or a model did wrong is not here: it is in the log.
#[derive(Debug, thiserror::Error)]
pub enum TurnError {
    /// The log refused an event or could not be written.
    #[error("failed to write the session log: {0}")]
    Log(#[from] AppendError),
    /// The log could not be brought to the device.
    #[error("failed to flush the session log: {0}")]
    Flush(#[source] dsh_session::SinkError),
    /// Another turn of this agent is running.
    #[error("the agent is busy with another turn; wait for it to end")]
    Busy,
    /// The prompt could not be queued.
    #[error("failed to queue the prompt: {0}")]
    Inbox(#[source] InboxError),
}

impl From<InboxError> for TurnError {
    fn from(error: InboxError) -> Self {
        match error {
            InboxError::Log(error) => Self::Log(error),
            InboxError::Duplicate { .. } | InboxError::TooMany { .. } | InboxError::TooLarge { .. } => {
                Self::Inbox(error)
            }
        }
    }
}
