//! Runs of same calls, by agent.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use dsh_agent::Agent;
use dsh_json::Json;
use dsh_scope::{ScopeId, WeakScope};
use dsh_tools_core::CallToken;
use parking_lot::Mutex;

/// The chains of all live agents.
#[derive(Default)]
pub(crate) struct Chains(Mutex<State>);

#[derive(Default)]
struct State {
    chains: HashMap<Key, Chain>,
    /// Calls that were counted and whose results are not published yet.
    counted: HashSet<CallToken>,
}

/// An agent, by its scope and its session, and whether the calls are made by its programs.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    scope: ScopeId,
    session: Arc<str>,
    nested: bool,
}

struct Chain {
    scope: WeakScope,
    tool: Arc<str>,
    /// The arguments themselves, which are shared with the call: comparing them takes no text of them.
    arguments: Json,
    count: usize,
}

/// A call, as far as it matters here.
pub(crate) struct Seen<'a> {
    pub(crate) agent: &'a Agent,
    pub(crate) nested: bool,
    pub(crate) tool: &'a Arc<str>,
    pub(crate) arguments: &'a Json,
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

    /// Counts a call, and says how many same ones there were in a row with it.
    pub(crate) fn count(&self, seen: &Seen<'_>) -> usize {
        let mut state = self.0.lock();
        let key = Key::new(seen.agent, seen.nested);
        if let Some(chain) = state.chains.get_mut(&key) {
            if chain.tool == *seen.tool && chain.arguments == *seen.arguments {
                chain.count += 1;
            } else {
                chain.tool = Arc::clone(seen.tool);
                chain.arguments = seen.arguments.clone();
                chain.count = 1;
            }
            return chain.count;
        }
        // Agents come seldom; that is when the chains of those that are gone go.
        state.chains.retain(|_, chain| chain.scope.is_alive());
        let chain = Chain {
            scope: seen.agent.scope().downgrade(),
            tool: Arc::clone(seen.tool),
            arguments: seen.arguments.clone(),
            count: 1,
        };
        state.chains.insert(key, chain);
        1
    }

    /// Forgets what an agent and its programs called.
    pub(crate) fn forget(&self, agent: &Agent) {
        let mut state = self.0.lock();
        for nested in [false, true] {
            state.chains.remove(&Key::new(agent, nested));
        }
    }
}

impl Key {
    fn new(agent: &Agent, nested: bool) -> Self {
        Self { scope: agent.scope().id(), session: Arc::clone(agent.session().id()), nested }
    }
}
