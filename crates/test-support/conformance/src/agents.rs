//! Agents without a model, for kinds whose subject is a call.

use std::sync::Arc;

use dsh_agent::{Agent, AgentParts, Hooks};
use dsh_lifecycle::SteppingClock;
use dsh_scope::Scope;
use dsh_session::{Header, Session, SessionSpec, Vocabulary};

use crate::Fault;

/// An agent with a session in memory.
pub(crate) fn agent(hooks: &Hooks) -> Result<Agent, Fault> {
    let session = Session::create(SessionSpec {
        header: Header::new("vector", 0).map_err(Fault::scene)?,
        vocabulary: Arc::new(dsh_agent::declare(Vocabulary::core()).map_err(Fault::scene)?),
        clock: Arc::new(SteppingClock::starting_at(0)),
        sink: None,
    });
    let parts = AgentParts { hooks: hooks.clone(), ..AgentParts::default() };
    Ok(Agent::with(Scope::root(), session, parts))
}
