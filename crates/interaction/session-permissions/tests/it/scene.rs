//! The permissions of sessions whose logs can be read in a line.

use std::sync::Arc;

use dsh_agent::{Agent, AgentParts, Hooks, Target};
use dsh_approval_policy::{ApprovalPolicy, Policies};
use dsh_lifecycle::{SeededIds, SteppingClock};
use dsh_llm::plain_text;
use dsh_sandbox_policy::{ModeChanged, SandboxMode, SandboxPolicy};
use dsh_scope::Scope;
use dsh_session::{Header, Session, SessionSpec, Vocabulary};
use dsh_session_permissions::{Permissions, SessionPermissions};

/// What holds where nothing is said.
pub(crate) const COMPOSED: Permissions =
    Permissions { sandbox: SandboxMode::ReadOnly, approval: ApprovalPolicy::Ask };

pub(crate) fn permissions() -> SessionPermissions {
    let policies = Policies::new(Arc::new(SeededIds::new(1)), COMPOSED.approval);
    SessionPermissions::new(policies, Arc::new(SandboxPolicy::new(COMPOSED.sandbox, "/ws", [])))
}

pub(crate) fn session() -> Session {
    let vocabulary = dsh_agent::declare(Vocabulary::core()).unwrap();
    let vocabulary = dsh_approval_policy::declare(vocabulary.with::<ModeChanged>().unwrap()).unwrap();
    Session::create(SessionSpec {
        header: Header::new("s", 0).unwrap(),
        vocabulary: Arc::new(vocabulary),
        clock: Arc::new(SteppingClock::starting_at(0)),
        sink: None,
    })
}

pub(crate) fn agent() -> Agent {
    Agent::with(Scope::root(), session(), AgentParts { hooks: Hooks::default(), ..AgentParts::default() })
}

/// The events of the knobs, a line for each.
pub(crate) fn log(session: &Session) -> Vec<String> {
    let events = session.events();
    let knobs = events.iter().filter(|event| !event.kind.starts_with("agent/"));
    knobs.map(|event| format!("{} {}", event.kind, event.data.to_text())).collect()
}

/// What the agent is told before its next step.
pub(crate) fn told(agent: &Agent) -> Vec<String> {
    let waits = agent.inbox().messages(Target::NextStep);
    waits.iter().map(|message| plain_text(&message.content)).collect()
}
