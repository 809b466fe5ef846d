//! Who runs turns of an agent: one at a time, begun by a wake, ended by a cancellation or for want of input
//! (spec 02 §C.1, §C.6).

use std::sync::Arc;

use dsh_lifecycle::{Cancel, Cause};
use dsh_llm::ErrorFacts;
use dsh_session::{AppendError, TurnEndReason, TurnStart};

use crate::core::{By, Run, State};
use crate::inbox::Removal;
use crate::{Agent, Notice, Status, Target, TurnError};

/// What a cancellation does with what waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Queued {
    /// It is discarded, and so is the wish for another turn.
    Discard,
    /// It waits on.
    Keep,
}

impl Agent {
    /// Whether somebody runs its turns.
    pub fn status(&self) -> Status {
        *self.core().status.borrow()
    }

    /// Waits until nobody runs its turns, through all the turns that follow without a pause. However they end.
    pub async fn when_idle(&self) {
        // The sender lives as long as the agent.
        let _ = self.core().status.subscribe().wait_for(|status| *status == Status::Idle).await;
    }

    /// Stops the turn that runs; the first cause counts. An idle agent stays as it is, with all that waits.
    ///
    /// May be called from anywhere, also by an observer of the session: what can't be discarded at once is discarded
    /// before the turn is over, and no step is given it meanwhile.
    pub fn cancel(&self, cause: Cause, queued: Queued) {
        let running = {
            let mut state = self.core().state.lock();
            let Some(run) = &state.run else { return };
            let running = run.cancel.clone();
            if queued == Queued::Discard {
                state.latched.clear();
                let lists = [Target::NextStep, Target::NextTurn];
                let all: Vec<_> = lists
                    .into_iter()
                    .flat_map(|target| state.lists.messages(target).map(|message| Arc::clone(&message.id)))
                    .collect();
                state.doomed.extend(all);
            }
            running
        };
        // Whoever has the gate may be waiting for the session, which the caller may be holding.
        if let Some(_gate) = self.core().gate.try_lock() {
            // It is tried again at the end of the turn.
            let _ = self.discard();
        }
        running.cancel(cause);
    }

    /// Lets what waits have its turns, as a fresh message would. Without a driver it is remembered for the next one.
    pub fn wake(&self) {
        let _gate = self.core().gate.lock();
        let waiting = self.inbox().proposal(true);
        for message in waiting {
            self.want(Arc::clone(&message.id));
        }
    }

    /// Takes the right to run turns, to be stopped by `cancel`; refused with [`TurnError::Busy`] while somebody has it.
    pub fn occupy(&self, cancel: &Cancel) -> Result<Running, TurnError> {
        let _gate = self.core().gate.lock();
        {
            let mut state = self.core().state.lock();
            if state.run.is_some() {
                return Err(TurnError::Busy);
            }
            state.run = Some(Run { cancel: cancel.child(), stop: cancel.clone(), by: By::Guest });
        }
        self.becomes(Status::Running);
        Ok(Running { agent: self.clone(), over: false })
    }

    /// Becomes the one whom waking messages start, until `stop` is cancelled; refused with [`TurnError::Busy`] while
    /// there is another. Messages that woke the agent earlier start it at once.
    pub fn attach(&self, stop: &Cancel) -> Result<Driving, TurnError> {
        let _gate = self.core().gate.lock();
        let start = {
            let mut state = self.core().state.lock();
            if state.driver.is_some() {
                return Err(TurnError::Busy);
            }
            state.driver = Some(stop.clone());
            state.run.is_none() && state.can_start()
        };
        if start {
            self.start();
        }
        Ok(Driving { agent: self.clone(), stop: stop.clone() })
    }

    /// A message wants a turn. The gate is held.
    pub(crate) fn want(&self, id: Arc<str>) {
        if self.core().state.lock().latch(id) {
            self.start();
        }
    }

    /// Begins a turn for the driver, so that whoever woke the agent finds it running. The gate is held.
    fn start(&self) {
        {
            let mut state = self.core().state.lock();
            let Some(stop) = state.driver.clone() else { return };
            state.latched.clear();
            state.run = Some(Run { cancel: stop.child(), stop, by: By::Driver });
        }
        self.becomes(Status::Running);
        match self.open_turn() {
            Ok(turn) => {
                if let Some(run) = &mut self.core().state.lock().run {
                    run.by = By::DriverToBe { turn };
                }
                self.core().begun.notify_one();
            }
            Err(error) => {
                let error = ErrorFacts::new("UNKNOWN", format!("failed to begin a turn: {error}"));
                self.tell(&Notice::Failed { turn: None, step: 0, error: &error });
                self.core().state.lock().run = None;
                self.becomes(Status::Idle);
            }
        }
    }

    /// Appends `turn/start`. An earlier turn that was dropped, or whose log failed, is closed first.
    fn open_turn(&self) -> Result<u32, AppendError> {
        let session = self.session();
        session.close_open(TurnEndReason::Interrupted)?;
        let turn = session.next_turn();
        session.append(&TurnStart { turn })?;
        Ok(turn)
    }

    /// Makes the discarding of a cancellation durable. The gate is held.
    fn discard(&self) -> Result<(), crate::InboxError> {
        let doomed = self.core().state.lock().doomed.clone();
        if !doomed.is_empty() {
            self.inbox().take(&doomed, Removal::Canceled)?;
            self.core().state.lock().doomed.clear();
        }
        Ok(())
    }

    fn discard_or_report(&self) {
        if let Err(error) = self.discard() {
            let error = ErrorFacts::new("UNKNOWN", format!("failed to discard what waited: {error}"));
            self.tell(&Notice::Failed { turn: None, step: 0, error: &error });
        }
    }

    /// The run is over. Whoever is wanted meanwhile takes its place without a pause. The gate is held.
    fn end_run(&self) {
        self.discard_or_report();
        let start = {
            let mut state = self.core().state.lock();
            let State { lists, latched, .. } = &mut *state;
            latched.retain(|id| lists.holds(id));
            state.run = None;
            state.can_start()
        };
        if start {
            self.start();
        } else {
            self.becomes(Status::Idle);
        }
    }

    fn becomes(&self, status: Status) {
        let changed = self.core().status.send_if_modified(|held| std::mem::replace(held, status) != status);
        if changed {
            self.tell(&Notice::Status(status));
        }
    }
}

/// The right to run turns of an agent. Dropping it lets the agent be idle.
#[derive(Debug)]
#[must_use = "dropping it ends the run"]
pub struct Running {
    agent: Agent,
    over: bool,
}

impl Running {
    /// The agent.
    pub fn agent(&self) -> &Agent {
        &self.agent
    }

    /// What stops the current turn.
    pub fn cancel(&self) -> Cancel {
        let state = self.agent.core().state.lock();
        // There is a run as long as this value lives.
        state.run.as_ref().map(|run| run.cancel.clone()).unwrap_or_default()
    }

    /// Begins a turn in the log, and returns its number. What an earlier one left open is closed as interrupted.
    pub fn open_turn(&self) -> Result<u32, AppendError> {
        self.agent.open_turn()
    }

    /// What follows a turn that ended for this reason, `None` when it could not be closed: the right to run the next
    /// one, with a cancellation of its own, or nothing, and the agent is idle.
    ///
    /// After an ordinary end everything that waits gets a turn; after `blocked` and `step-limit` the prompts do, since
    /// they are other people's (spec 02 §E.10). After an error everything waits for the next wake, so that what failed
    /// once does not use up the queue. After a cancellation the driver is started anew, without a pause, for a message
    /// that came since then.
    #[must_use]
    pub fn next(mut self, ended: Option<&TurnEndReason>) -> Option<Self> {
        let agent = self.agent.clone();
        let _gate = agent.core().gate.lock();
        agent.discard_or_report();
        let goes_on = {
            let mut state = agent.core().state.lock();
            let prompts = state.has_pending(Target::NextTurn);
            let waits = prompts || state.has_pending(Target::NextStep);
            let goes_on = !state.is_aborting()
                && match ended {
                    Some(TurnEndReason::Completed | TurnEndReason::MaxTokens) => waits,
                    Some(TurnEndReason::StepLimit | TurnEndReason::Blocked) => prompts,
                    Some(
                        TurnEndReason::Aborted { .. }
                        | TurnEndReason::Error { .. }
                        | TurnEndReason::Interrupted,
                    )
                    | None => false,
                };
            if goes_on && let Some(run) = &mut state.run {
                run.cancel = run.stop.child();
            }
            goes_on
        };
        if goes_on {
            return Some(self);
        }
        self.over = true;
        agent.end_run();
        None
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.over {
            let _gate = self.agent.core().gate.lock();
            self.agent.end_run();
        }
    }
}

/// The one whom waking messages start. Dropping it leaves messages to wait for the next one.
#[derive(Debug)]
#[must_use = "dropping it leaves the agent without a driver"]
pub struct Driving {
    agent: Agent,
    stop: Cancel,
}

impl Driving {
    /// Waits for a turn that a message has begun: the right to run it, and its number. `None` once it is stopped.
    /// Dropping the future loses nothing.
    pub async fn begun(&self) -> Option<(Running, u32)> {
        loop {
            if let Some(turn) = self.take() {
                return Some((Running { agent: self.agent.clone(), over: false }, turn));
            }
            if self.stop.is_cancelled() {
                return None;
            }
            tokio::select! {
                biased;
                () = self.agent.core().begun.notified() => {}
                () = self.stop.cancelled() => {}
            }
        }
    }

    fn take(&self) -> Option<u32> {
        let mut state = self.agent.core().state.lock();
        let run = state.run.as_mut()?;
        let By::DriverToBe { turn } = run.by else { return None };
        run.by = By::Driver;
        Some(turn)
    }
}

impl Drop for Driving {
    fn drop(&mut self) {
        let agent = &self.agent;
        let _gate = agent.core().gate.lock();
        agent.core().state.lock().driver = None;
        // A turn that was begun for it and that it never took: its log is closed before the next one.
        if self.take().is_some() {
            agent.end_run();
        }
    }
}
