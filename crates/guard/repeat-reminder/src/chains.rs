//! What all live agents called, each for itself.

use std::collections::HashMap;
use std::sync::Arc;

use dsh_agent::Agent;
use dsh_scope::{ScopeId, WeakScope};
use parking_lot::Mutex;

use crate::chain::Chain;

/// The chains of all live agents.
#[derive(Default)]
pub(crate) struct Chains(Mutex<HashMap<Key, Life>>);

/// An agent, by its scope and its session.
type Key = (ScopeId, Arc<str>);

/// What one agent called since a person last said something.
pub(crate) struct Life {
    scope: WeakScope,
    own: Chain,
    programs: Chain,
}

impl Chains {
    /// Looks at the chains of an agent, which `new` makes the first time.
    pub(crate) fn with<T>(&self, agent: &Agent, new: impl Fn() -> Life, look: impl Fn(&mut Life) -> T) -> T {
        let key = key(agent);
        if let Some(life) = self.0.lock().get_mut(&key) {
            return look(life);
        }
        // Without the lock: an earlier life takes its time to read, and other agents go on.
        let life = new();
        let mut lives = self.0.lock();
        // Agents come seldom; that is when the chains of those that are gone go.
        lives.retain(|_, life| life.scope.is_alive());
        look(lives.entry(key).or_insert(life))
    }

    /// Forgets what an agent and its programs called, in an earlier life, too.
    pub(crate) fn forget(&self, agent: &Agent) {
        if agent.session().first_live_seq() == 0 {
            self.0.lock().remove(&key(agent));
        } else {
            self.0.lock().insert(key(agent), Life::of(agent));
        }
    }
}

impl Life {
    /// An agent that called nothing.
    pub(crate) fn of(agent: &Agent) -> Self {
        Self { scope: agent.scope().downgrade(), own: Chain::default(), programs: Chain::default() }
    }

    /// The chain of its own calls, or of those that its programs make.
    pub(crate) fn chain(&mut self, nested: bool) -> &mut Chain {
        if nested { &mut self.programs } else { &mut self.own }
    }
}

fn key(agent: &Agent) -> Key {
    (agent.scope().id(), Arc::clone(agent.session().id()))
}
