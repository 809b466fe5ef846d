//! Who runs turns of an agent: one at a time, begun by a wake, ended by a cancellation or for want of input
//! (spec 02 §C.1, §C.6).

use std::sync::Arc;

use dsh_lifecycle::Cause;
use dsh_llm::ErrorFacts;
use dsh_session::{AppendError, TurnEndReason, TurnStart};

use crate::inbox::Removal;
use crate::state::{By, Run, State};
use crate::{Agent, InboxError, Notice, Status};

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
                let State { lists, latched, doomed, .. } = &mut *state;
                latched.clear();
                doomed.extend(lists.ids().cloned());
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

    /// A message wants a turn. The gate is held.
    pub(crate) fn want(&self, id: Arc<str>) {
        if self.core().state.lock().latch(id) {
            self.start();
        }
    }

    /// Begins a turn for the driver, so that whoever woke the agent finds it running. The gate is held.
    pub(crate) fn start(&self) {
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
    pub(crate) fn open_turn(&self) -> Result<u32, AppendError> {
        let session = self.session();
        session.close_open(TurnEndReason::Interrupted)?;
        let turn = session.next_turn();
        session.append(&TurnStart { turn })?;
        Ok(turn)
    }

    /// Makes the discarding of a cancellation durable. The gate is held.
    fn discard(&self) -> Result<(), InboxError> {
        let doomed = self.core().state.lock().doomed.clone();
        if !doomed.is_empty() {
            self.inbox().take(&doomed, Removal::Canceled)?;
            // Another cancellation may have named more meanwhile.
            self.core().state.lock().doomed.retain(|id| !doomed.contains(id));
        }
        Ok(())
    }

    pub(crate) fn discard_or_report(&self) {
        if let Err(error) = self.discard() {
            let error = ErrorFacts::new("UNKNOWN", format!("failed to discard what waited: {error}"));
            self.tell(&Notice::Failed { turn: None, step: 0, error: &error });
        }
    }

    /// The run is over. Whoever is wanted meanwhile takes its place without a pause. The gate is held.
    pub(crate) fn end_run(&self) {
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

    pub(crate) fn becomes(&self, status: Status) {
        let changed = self.core().status.send_if_modified(|held| std::mem::replace(held, status) != status);
        if changed {
            self.tell(&Notice::Status(status));
        }
    }
}
