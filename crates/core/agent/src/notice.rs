//! What observers of an agent are told.

use std::sync::Arc;
use std::time::Duration;

use dsh_llm::{ErrorFacts, Message};

use crate::{Agent, Target};

/// Whether somebody runs turns of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Nobody does.
    Idle,
    /// Somebody does, in one turn or several without a pause.
    Running,
}

/// Where a session comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionSource {
    /// It is new.
    Startup,
    /// Its log has an earlier life.
    Resume,
}

/// Something happened to an agent that its log does not say, or says in less detail (spec 02 §C.7).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Notice<'a> {
    /// Its session begins or goes on. Told once, before its first turn.
    SessionStarted(SessionSource),
    /// It began or stopped to run turns. Told of real transitions only.
    Status(Status),
    /// A message waits for it.
    Inserted {
        /// In which list.
        target: Target,
        /// The message.
        message: &'a Arc<Message>,
    },
    /// A turn took a message from the inbox.
    Claimed {
        /// The turn.
        turn: u32,
        /// The message.
        message: &'a Arc<Message>,
    },
    /// A message was taken out of the inbox and reaches no turn.
    Discarded(&'a Arc<Message>),
    /// A hook refused a step; the turn ends as blocked, and the messages that were proposed with it are spent.
    Blocked {
        /// The turn.
        turn: u32,
        /// The hook's reason.
        reason: &'a str,
    },
    /// A turn failed, could not be begun, or could not be closed. Told once for each failure, not for cancellations.
    Failed {
        /// The turn, if one had begun.
        turn: Option<u32>,
        /// Its step; 0 before the first.
        step: u32,
        /// What is known of the failure.
        error: &'a ErrorFacts,
    },
    /// A turn that was cancelled is still not over: something in it does not listen. It is awaited all the same.
    Overdue {
        /// The turn.
        turn: u32,
        /// How long ago it was cancelled.
        waited: Duration,
    },
}

/// Somebody who is told of notices. What it does changes nothing for the turn.
pub trait AgentObserver: Send + Sync {
    /// Takes note; short, and without waiting for anyone. A panic is reported and contained.
    ///
    /// It may use the agent: send messages, cancel.
    fn notice(&self, agent: &Agent, notice: &Notice<'_>);
}

impl<F: Fn(&Agent, &Notice<'_>) + Send + Sync> AgentObserver for F {
    fn notice(&self, agent: &Agent, notice: &Notice<'_>) {
        self(agent, notice);
    }
}
