//! The right to run turns, and the wait for it.

use dsh_lifecycle::Cancel;
use dsh_session::{AppendError, TurnEndReason};

use crate::state::{By, Run};
use crate::{Agent, Status, Target, TurnError};

impl Agent {
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
        // A turn that was begun for it and that it never took: its log is closed before the next one, and what it was
        // begun for wants another.
        if self.take().is_some() {
            agent.end_run();
            agent.wake();
        }
    }
}
