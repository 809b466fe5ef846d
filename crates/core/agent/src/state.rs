//! What changes in an agent.

use std::collections::BTreeSet;
use std::sync::Arc;

use dsh_lifecycle::{Cancel, Cause};
use dsh_llm::Message;
use dsh_session::{Session, SurfaceOp, UserMessage};
use parking_lot::{Mutex, ReentrantMutex};
use tokio::sync::{Notify, watch};

use crate::inbox::Lists;
use crate::{InboxSpliced, Status, Target};

pub(crate) struct Core {
    /// Held by whoever changes the inbox or who runs, with the events and notices of the change; taken before the
    /// session's own lock and never inside of it.
    pub(crate) gate: ReentrantMutex<()>,
    /// Held for a look or a step of a change, never while anybody is told of anything.
    pub(crate) state: Mutex<State>,
    pub(crate) status: watch::Sender<Status>,
    /// A turn was begun for the driver.
    pub(crate) begun: Notify,
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) lists: Lists,
    pub(crate) run: Option<Run>,
    /// What stops the driver, if there is one.
    pub(crate) driver: Option<Cancel>,
    /// The messages that want a turn which nobody has promised them.
    pub(crate) latched: BTreeSet<Arc<str>>,
    /// The messages that a cancellation discarded and that the log still has in the inbox.
    pub(crate) doomed: BTreeSet<Arc<str>>,
}

/// Somebody runs turns.
pub(crate) struct Run {
    /// The current turn's.
    pub(crate) cancel: Cancel,
    /// What stops all turns of this run.
    pub(crate) stop: Cancel,
    pub(crate) by: By,
}

/// Who runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    /// Somebody with a turn of their own, beside the driver.
    Guest,
    /// The driver.
    Driver,
    /// The driver, which has not heard yet of the turn that was begun for it.
    DriverToBe { turn: u32 },
}

impl Core {
    pub(crate) fn of(session: &Session) -> Self {
        let mut lists = Lists::default();
        for event in session.events_from(session.header().seed_length().unwrap_or(0)) {
            if let Some(Ok(spliced)) = event.read::<InboxSpliced>() {
                lists.apply(&spliced);
            } else if event.surface_op == Some(SurfaceOp::Append)
                && let Some(Ok(UserMessage(said))) = event.read()
            {
                lists.said(&said.id);
            }
        }
        Self {
            gate: ReentrantMutex::new(()),
            state: Mutex::new(State { lists, ..State::default() }),
            status: watch::Sender::new(Status::Idle),
            begun: Notify::new(),
        }
    }
}

impl State {
    /// What waits and was not discarded.
    pub(crate) fn pending(&self, target: Target) -> impl Iterator<Item = &Arc<Message>> {
        self.lists.messages(target).filter(|message| !self.doomed.contains(&message.id))
    }

    pub(crate) fn has_pending(&self, target: Target) -> bool {
        self.pending(target).next().is_some()
    }

    /// Whether a turn was cancelled and is not over yet.
    pub(crate) fn is_aborting(&self) -> bool {
        self.run.as_ref().is_some_and(|run| run.cancel.is_cancelled())
    }

    /// Notes that a message wants a turn, unless it will have one. Whether a driver has to be started for it.
    pub(crate) fn latch(&mut self, id: Arc<str>) -> bool {
        let settled = match &self.run {
            None => false,
            // It comes late; after the agent's end nothing is remembered.
            Some(run) if run.cancel.is_cancelled() => run.cancel.cause() == Some(Cause::Disposed),
            // The driver looks into the inbox before it ends.
            Some(run) => run.by != By::Guest,
        };
        if !settled {
            self.latched.insert(id);
        }
        self.run.is_none() && self.can_start()
    }

    /// Whether a driver is there and a message wants a turn.
    pub(crate) fn can_start(&self) -> bool {
        self.driver.as_ref().is_some_and(|stop| !stop.is_cancelled()) && self.is_wanted()
    }

    /// Whether a latched message still waits: one that was retracted wants nothing.
    pub(crate) fn is_wanted(&self) -> bool {
        self.latched.iter().any(|id| self.lists.holds(id) && !self.doomed.contains(id))
    }

    pub(crate) fn rename_latched(&mut self, old: &str, new: Arc<str>) {
        if self.latched.remove(old) {
            self.latched.insert(new);
        }
    }
}
