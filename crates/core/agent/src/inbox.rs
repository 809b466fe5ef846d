//! What waits for an agent: two durable lists (spec 02 §B).

mod lists;
mod spliced;

use std::collections::BTreeSet;
use std::sync::Arc;

use dsh_llm::Message;
use dsh_session::{AppendError, UserMessage};
use parking_lot::ReentrantMutexGuard;

pub use lists::{InboxLimits, Splice};
pub use spliced::{InboxSpliced, SpliceOutcome, Target, declare};

pub(crate) use lists::Lists;

use crate::{Agent, Notice};

/// The inbox of an agent. Each change appends one `agent/inbox/spliced` and then changes memory, so that observers of
/// the event still see the lists as they were; a change that changes nothing appends nothing. What the log does not take
/// has not happened. A message that is said leaves with its `user/message`. Ids are unique across both lists.
///
/// Any thread may use it, but for an observer or a store while it is told of an event of the session. There a change is
/// refused with [`AppendError::Reentrant`]: hand it on instead.
#[derive(Debug, Clone, Copy)]
pub struct Inbox<'a> {
    agent: &'a Agent,
}

/// Why a message is not in an inbox. Nothing has changed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum InboxError {
    /// A message of this id waits already.
    #[error("a message of the id `{id}` waits already")]
    Duplicate {
        /// The id.
        id: Arc<str>,
    },
    /// As many messages wait as may.
    #[error(
        "{limit} messages wait already (`maxInboxMessages`); let the agent take some first, or retract one"
    )]
    TooMany {
        /// The limit.
        limit: usize,
    },
    /// The messages would be too large together.
    #[error(
        "the messages that wait would have more than {limit} bytes together (`maxInboxBytes`); send a shorter one, or let the agent take some first"
    )]
    TooLarge {
        /// The limit.
        limit: usize,
    },
    /// The log refused the event or could not be written.
    #[error("failed to write the session log: {0}")]
    Log(#[from] AppendError),
}

/// What became of messages that were taken out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Removal {
    Claimed { turn: u32 },
    Canceled,
}

impl<'a> Inbox<'a> {
    pub(crate) fn of(agent: &'a Agent) -> Self {
        Self { agent }
    }

    /// Queues a prompt, which gets a turn of its own, and wakes the agent.
    pub fn followup(self, message: Message) -> Result<(), InboxError> {
        self.send(Target::NextTurn, message)
    }

    /// Adds a message to the next step and wakes the agent: a running turn reads it before it ends. While a cancelled
    /// turn comes to its end the message is queued as a prompt instead (spec 02 §C.6).
    pub fn steer(self, message: Message) -> Result<(), InboxError> {
        self.send(Target::NextStep, message)
    }

    /// Adds a message to the next step, whenever there is one.
    pub fn inject(self, message: Message) -> Result<(), InboxError> {
        self.push(Target::NextStep, message)
    }

    /// Queues a prompt without waking the agent.
    pub fn queue(self, message: Message) -> Result<(), InboxError> {
        self.push(Target::NextTurn, message)
    }

    /// Takes a message out that no turn has claimed yet. Returns it, or `None` when it does not wait.
    pub fn retract(self, id: &str) -> Result<Option<Arc<Message>>, InboxError> {
        let _gate = self.gate()?;
        let Some((target, at)) = self.place(id) else { return Ok(None) };
        let splice = Splice { target, start: at, remove: 1, insert: Vec::new() };
        Ok(self.change(splice, Removal::Canceled)?.pop())
    }

    /// Puts another message in the place of one that no turn has claimed yet, and returns the old one; `None`, and
    /// nothing changed, when it does not wait. The new one inherits the wake of the old one.
    pub fn replace(self, id: &str, message: Message) -> Result<Option<Arc<Message>>, InboxError> {
        let _gate = self.gate()?;
        let Some((target, at)) = self.place(id) else { return Ok(None) };
        let new = Arc::clone(&message.id);
        let splice = Splice { target, start: at, remove: 1, insert: vec![message] };
        let old = self.change(splice, Removal::Canceled)?.pop();
        self.agent.core().state.lock().rename_latched(id, new);
        Ok(old)
    }

    /// Changes a list anywhere, and returns what was taken out. Nobody is woken.
    pub fn splice(self, splice: Splice) -> Result<Vec<Arc<Message>>, InboxError> {
        self.change(splice, Removal::Canceled)
    }

    /// The messages of one list, oldest first.
    pub fn messages(self, target: Target) -> Vec<Arc<Message>> {
        self.agent.core().state.lock().lists.messages(target).cloned().collect()
    }

    /// Whether nothing waits.
    pub fn is_empty(self) -> bool {
        [Target::NextTurn, Target::NextStep].into_iter().all(|target| self.messages(target).is_empty())
    }

    /// Whether a message waits.
    pub fn holds(self, id: &str) -> bool {
        self.agent.core().state.lock().lists.holds(id)
    }

    /// What a step would be given now: everything for the next step, then, if it is the first of its turn, one prompt.
    /// It all waits on until it is claimed. For whoever runs turns.
    pub fn proposal(self, first_step: bool) -> Vec<Arc<Message>> {
        let state = self.agent.core().state.lock();
        let mut proposed: Vec<_> = state.pending(Target::NextStep).cloned().collect();
        proposed.extend(state.pending(Target::NextTurn).take(usize::from(first_step)).cloned());
        proposed
    }

    /// Gives a step its messages: appends a `user/message` for each, but for those of `proposed` that were taken out
    /// meanwhile. A message that waits leaves the inbox with the `user/message` of its id and by no event of its own, so
    /// that a process killed anywhere here has said it or has it waiting, and never both or neither. What was proposed
    /// and not said is claimed after that. For whoever runs turns.
    ///
    /// Stops at the first event that the log does not take; what was not said by then waits on.
    pub fn deliver(
        self,
        turn: u32,
        proposed: &[Arc<Message>],
        messages: Vec<Message>,
    ) -> Result<(), InboxError> {
        let _gate = self.gate()?;
        for message in messages {
            let proposed = proposed.iter().any(|waiting| waiting.id == message.id);
            if !proposed || self.holds(&message.id) {
                self.say(turn, message)?;
            }
        }
        self.claim(turn, proposed)
    }

    /// Takes out what a step was proposed and will not say, as far as it still waits. For whoever runs turns.
    pub fn claim(self, turn: u32, messages: &[Arc<Message>]) -> Result<(), InboxError> {
        self.take(
            &messages.iter().map(|message| Arc::clone(&message.id)).collect(),
            Removal::Claimed { turn },
        )
    }

    /// Takes the messages of these ids out, each run of neighbours in one event, the next step's first.
    pub(crate) fn take(self, ids: &BTreeSet<Arc<str>>, why: Removal) -> Result<(), InboxError> {
        let _gate = self.gate()?;
        for target in [Target::NextStep, Target::NextTurn] {
            while let Some((start, remove)) = self.run_of(target, ids) {
                self.change(Splice { target, start, remove, insert: Vec::new() }, why)?;
            }
        }
        Ok(())
    }

    /// The gate is held.
    fn say(self, turn: u32, message: Message) -> Result<(), InboxError> {
        let said = UserMessage(message);
        self.agent.session().append(&said)?;
        let waited = self.agent.core().state.lock().lists.said(&said.0.id);
        if let Some(message) = &waited {
            self.agent.tell(&Notice::Claimed { turn, message });
        }
        Ok(())
    }

    fn send(self, target: Target, message: Message) -> Result<(), InboxError> {
        let _gate = self.gate()?;
        let id = Arc::clone(&message.id);
        let late = self.agent.core().state.lock().is_aborting();
        self.push(if late { Target::NextTurn } else { target }, message)?;
        self.agent.want(id);
        Ok(())
    }

    fn push(self, target: Target, message: Message) -> Result<(), InboxError> {
        let splice = Splice { target, start: i64::MAX, remove: 0, insert: vec![message] };
        self.change(splice, Removal::Canceled).map(drop)
    }

    /// The one way to change the lists: planned, appended, applied, told.
    fn change(self, splice: Splice, why: Removal) -> Result<Vec<Arc<Message>>, InboxError> {
        let (agent, core) = (self.agent, self.agent.core());
        let _gate = self.gate()?;
        let outcome = (why == Removal::Canceled).then_some(SpliceOutcome::Canceled);
        let plan = core.state.lock().lists.plan(splice, outcome, agent.limits())?;
        let Some(event) = plan else { return Ok(Vec::new()) };
        agent.session().append(&event)?;
        let (removed, inserted) = core.state.lock().lists.apply(&event);
        for message in &removed {
            agent.tell(&match why {
                Removal::Claimed { turn } => Notice::Claimed { turn, message },
                Removal::Canceled => Notice::Discarded(message),
            });
        }
        for message in &inserted {
            agent.tell(&Notice::Inserted { target: event.target, message });
        }
        Ok(removed)
    }

    /// The right to change the lists. Whoever has it may be waiting for the session, so an observer of the session does
    /// not wait for it.
    fn gate(self) -> Result<ReentrantMutexGuard<'a, ()>, InboxError> {
        if self.agent.session().is_telling() {
            return Err(AppendError::Reentrant.into());
        }
        Ok(self.agent.core().gate.lock())
    }

    fn place(self, id: &str) -> Option<(Target, i64)> {
        let state = self.agent.core().state.lock();
        [Target::NextStep, Target::NextTurn].into_iter().find_map(|target| {
            let at = state.lists.messages(target).position(|message| *message.id == *id)?;
            Some((target, i64::try_from(at).ok()?))
        })
    }

    /// The first run of neighbours that have these ids.
    fn run_of(self, target: Target, ids: &BTreeSet<Arc<str>>) -> Option<(i64, u64)> {
        let state = self.agent.core().state.lock();
        let mut list = state.lists.messages(target).map(|message| ids.contains(&message.id));
        let start = list.position(|named| named)?;
        let run = 1 + list.take_while(|named| *named).count();
        Some((i64::try_from(start).ok()?, run as u64))
    }
}
