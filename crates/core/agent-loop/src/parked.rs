//! Messages for an agent's next step, in this turn or a later one, and who is in a turn.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use dsh_agent::{Agent, TurnError};
use dsh_tools_core::Context;
use parking_lot::Mutex;

/// Which agents are in a turn, and what waits for them. An agent is known by its session: that is what a second turn
/// would damage.
#[derive(Debug, Default)]
pub(crate) struct Agents(Mutex<BTreeMap<Arc<str>, State>>);

#[derive(Debug, Default)]
struct State {
    in_turn: bool,
    parked: VecDeque<Context>,
}

/// The right to run a turn of one agent. There is one at a time.
#[derive(Debug)]
pub(crate) struct Occupied<'a> {
    agents: &'a Agents,
    session: Arc<str>,
}

impl Agents {
    pub(crate) fn occupy(&self, agent: &Agent) -> Result<Occupied<'_>, TurnError> {
        let session = Arc::clone(agent.session().id());
        let mut agents = self.0.lock();
        let state = agents.entry(Arc::clone(&session)).or_default();
        if state.in_turn {
            return Err(TurnError::Busy);
        }
        state.in_turn = true;
        Ok(Occupied { agents: self, session })
    }
}

impl Occupied<'_> {
    /// Leaves messages for the next step. They wait here however this turn ends.
    pub(crate) fn park(&self, contexts: impl IntoIterator<Item = Context>) {
        self.with(|parked| parked.extend(contexts));
    }

    pub(crate) fn has_parked(&self) -> bool {
        self.with(|parked| !parked.is_empty()).unwrap_or(false)
    }

    /// The message that has waited longest. It waits on until it is [`delivered`](Self::delivered).
    pub(crate) fn first_parked(&self) -> Option<Context> {
        self.with(|parked| parked.front().cloned()).flatten()
    }

    pub(crate) fn delivered(&self) {
        self.with(VecDeque::pop_front);
    }

    fn with<T>(&self, act: impl FnOnce(&mut VecDeque<Context>) -> T) -> Option<T> {
        self.agents.0.lock().get_mut(&self.session).map(|state| act(&mut state.parked))
    }
}

impl Drop for Occupied<'_> {
    fn drop(&mut self) {
        let mut agents = self.agents.0.lock();
        if let Some(state) = agents.get_mut(&self.session) {
            state.in_turn = false;
            if state.parked.is_empty() {
                agents.remove(&self.session);
            }
        }
    }
}
