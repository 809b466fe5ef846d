//! What all live agents called, each for itself.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use dsh_agent::Agent;
use dsh_scope::{ScopeId, WeakScope};
use dsh_tools_core::CallToken;
use parking_lot::Mutex;

use crate::chain::Chain;

/// The chains of all live agents.
#[derive(Default)]
pub(crate) struct Chains(Mutex<State>);

#[derive(Default)]
struct State {
    lives: HashMap<Key, Life>,
    /// Calls that were counted and whose results are not published yet.
    counted: HashSet<CallToken>,
    /// Calls that were denied here and are not counted yet.
    denied: HashSet<CallToken>,
}

/// An agent, by its scope and its session.
#[derive(PartialEq, Eq, Hash)]
struct Key(ScopeId, Arc<str>);

/// What one agent called since a person last said something.
pub(crate) struct Life {
    scope: WeakScope,
    own: Chain,
    programs: Chain,
}

impl Chains {
    /// Remembers that a call was counted before its result is published.
    pub(crate) fn note(&self, call: CallToken) {
        self.0.lock().counted.insert(call);
    }

    /// Whether a call, whose result is published now, was counted before.
    pub(crate) fn was_noted(&self, call: CallToken) -> bool {
        self.0.lock().counted.remove(&call)
    }

    /// Remembers that a call was denied here.
    pub(crate) fn deny(&self, call: CallToken) {
        self.0.lock().denied.insert(call);
    }

    /// Whether a call, which is counted now, was denied here.
    pub(crate) fn was_denied(&self, call: CallToken) -> bool {
        self.0.lock().denied.remove(&call)
    }

    /// Looks at the chains of an agent. `begun` makes them the first time.
    pub(crate) fn with<T>(
        &self,
        agent: &Agent,
        begun: impl FnOnce() -> Life,
        look: impl FnOnce(&mut Life) -> T,
    ) -> T {
        let key = Key::of(agent);
        if let Some(life) = self.0.lock().lives.get_mut(&key) {
            return look(life);
        }
        // Without the lock: an earlier life takes its time to read, and other agents go on.
        let life = begun();
        let mut state = self.0.lock();
        // Agents come seldom; that is when the chains of those that are gone go.
        state.lives.retain(|_, life| life.scope.is_alive());
        look(state.lives.entry(key).or_insert(life))
    }

    /// Forgets what an agent and its programs called, in an earlier life, too.
    pub(crate) fn forget(&self, agent: &Agent) {
        let (key, mut state) = (Key::of(agent), self.0.lock());
        if agent.session().first_live_seq() == 0 {
            state.lives.remove(&key);
        } else {
            state.lives.insert(key, Life::of(agent));
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

impl Key {
    fn of(agent: &Agent) -> Self {
        Self(agent.scope().id(), Arc::clone(agent.session().id()))
    }
}
