//! An agent without files.

use std::sync::Arc;

use dsh_agent::Agent;
use dsh_lifecycle::SteppingClock;
use dsh_scope::Scope;
use dsh_session::{Header, HeaderError, Session, SessionSpec, Vocabulary};

/// An agent of its own scope with an empty log in memory.
pub fn agent() -> Result<Agent, HeaderError> {
    let session = Session::create(SessionSpec {
        header: Header::new("bench", 0)?,
        vocabulary: Arc::new(Vocabulary::core()),
        clock: Arc::new(SteppingClock::starting_at(0)),
        sink: None,
    });
    Ok(Agent::new(Scope::root(), session))
}
