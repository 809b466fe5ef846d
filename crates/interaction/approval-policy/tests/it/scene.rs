//! Agents, and what their logs say of policies.

use std::fmt::Write as _;
use std::sync::Arc;

use dsh_agent::{Agent, AgentParts, Hooks};
use dsh_approval_policy::{ApprovalPolicy, Policies, declare};
use dsh_lifecycle::{SeededIds, SteppingClock};
use dsh_scope::Scope;
use dsh_session::{Header, Session, SessionSpec, TurnStart, Vocabulary};

pub(crate) fn policies(default: ApprovalPolicy) -> Policies {
    Policies::new(Arc::new(SeededIds::new(7)), default)
}

pub(crate) fn spec(id: &str) -> SessionSpec {
    SessionSpec {
        header: Header::new(id, 0).unwrap(),
        vocabulary: Arc::new(declare(dsh_agent::declare(Vocabulary::core()).unwrap()).unwrap()),
        clock: Arc::new(SteppingClock::starting_at(0)),
        sink: None,
    }
}

/// An agent in a turn.
pub(crate) fn agent(id: &str) -> Agent {
    let session = Session::create(spec(id));
    session.append(&TurnStart { turn: 1 }).unwrap();
    Agent::with(Scope::root(), session, AgentParts { hooks: Hooks::default(), ..AgentParts::default() })
}

/// What the log has of policies, an event a line.
pub(crate) fn log(session: &Session) -> String {
    let mut shown = String::new();
    for event in session.events().iter().filter(|event| event.kind.starts_with("approval/")) {
        let _ = writeln!(shown, "{} {}", event.kind, event.data.to_text());
    }
    shown
}
