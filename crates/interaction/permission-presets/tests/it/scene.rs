//! A service with its two knobs, and sessions whose logs can be read in a line.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use dsh_agent::{Agent, AgentParts, Hooks, Target};
use dsh_approval_policy::{ApprovalPolicy, Policies, PolicyChanged};
use dsh_json::Json;
use dsh_lifecycle::{SeededIds, SteppingClock};
use dsh_llm::plain_text;
use dsh_permission_presets::{PresetChosen, Presets, PresetsConfig, PresetsError};
use dsh_sandbox_policy::{ModeChanged, SandboxMode, SandboxPolicy};
use dsh_scope::Scope;
use dsh_session::{Event, Header, Session, SessionSpec, Sink, SinkError, Vocabulary};
use dsh_session_permissions::SessionPermissions;
use parking_lot::Mutex;

/// What holds where nothing is said.
pub(crate) const COMPOSED: (SandboxMode, ApprovalPolicy) = (SandboxMode::ReadOnly, ApprovalPolicy::Ask);

/// A service with this configuration over these defaults.
pub(crate) fn presets_over(
    config: &str,
    (mode, policy): (SandboxMode, ApprovalPolicy),
) -> Result<Presets, PresetsError> {
    let config = Json::parse(config).unwrap().read::<PresetsConfig>().unwrap();
    let policies = Policies::new(Arc::new(SeededIds::new(1)), policy);
    let source = Arc::new(SandboxPolicy::new(mode, "/ws", []));
    Presets::new(config, SessionPermissions::new(policies, source))
}

pub(crate) fn presets(config: &str) -> Presets {
    presets_over(config, COMPOSED).unwrap()
}

pub(crate) fn vocabulary() -> Vocabulary {
    let vocabulary = dsh_agent::declare(Vocabulary::core()).unwrap();
    let vocabulary = dsh_approval_policy::declare(vocabulary).unwrap();
    dsh_permission_presets::declare(vocabulary.with::<ModeChanged>().unwrap()).unwrap()
}

/// Each session has an id of its own: what is known of a session is known by its id.
fn spec(sink: Option<Arc<dyn Sink>>) -> SessionSpec {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let id = format!("s{}", NEXT.fetch_add(1, Ordering::Relaxed));
    SessionSpec {
        header: Header::new(id, 0).unwrap(),
        vocabulary: Arc::new(vocabulary()),
        clock: Arc::new(SteppingClock::starting_at(0)),
        sink,
    }
}

pub(crate) fn session() -> Session {
    Session::create(spec(None))
}

pub(crate) fn session_in(sink: Arc<dyn Sink>) -> Session {
    Session::create(spec(Some(sink)))
}

/// The session that goes on after these events.
pub(crate) fn resumed(events: &[Arc<Event>]) -> Session {
    Session::resume(spec(None), events.iter().map(|event| Event::clone(event)).collect()).unwrap()
}

pub(crate) fn choose(session: &Session, preset: &str) {
    session.append(&PresetChosen { preset: preset.into() }).unwrap();
}

pub(crate) fn set_mode(session: &Session, mode: SandboxMode) {
    dsh_sandbox_policy::set_session_mode(session, mode, None).unwrap();
}

pub(crate) fn set_policy(session: &Session, policy: ApprovalPolicy) {
    session.append(&PolicyChanged { policy, source: None }).unwrap();
}

/// The events from `seq` on, a word for each.
pub(crate) fn log_from(session: &Session, seq: u64) -> Vec<String> {
    let word = |event: &Arc<Event>| {
        for (kind, field) in
            [("permission/preset", "preset"), ("sandbox/mode", "mode"), ("approval/policy", "policy")]
        {
            if *event.kind == *kind {
                let value = event.data.get(field).and_then(Json::as_str).unwrap();
                return format!("{field} {value}");
            }
        }
        event.kind.to_string()
    };
    session.events_from(seq).iter().map(word).collect()
}

pub(crate) fn log(session: &Session) -> Vec<String> {
    log_from(session, 0)
}

/// The knobs as the log says them.
pub(crate) fn knobs(session: &Session) -> (Option<SandboxMode>, Option<ApprovalPolicy>) {
    let (mut mode, mut policy) = (None, None);
    for event in session.events() {
        if let Some(changed) = event.read::<ModeChanged>() {
            mode = Some(changed.unwrap().mode);
        }
        if let Some(changed) = event.read::<PolicyChanged>() {
            policy = Some(changed.unwrap().policy);
        }
    }
    (mode, policy)
}

pub(crate) fn agent(session: Session, presets: &Presets) -> Agent {
    let hooks = Hooks::default();
    presets.register(&hooks).keep();
    Agent::with(Scope::root(), session, AgentParts { hooks, ..AgentParts::default() })
}

/// What the agent is told before its next step.
pub(crate) fn told(agent: &Agent) -> Vec<String> {
    let waits = agent.inbox().messages(Target::NextStep);
    waits
        .iter()
        .map(|message| format!("[{}] {}", message.source.to_json().to_text(), plain_text(&message.content)))
        .collect()
}

/// A store that refuses by the number of the write, from 0.
pub(crate) struct Store {
    writes: Mutex<usize>,
    refuses: Box<dyn Fn(usize) -> bool + Send + Sync>,
}

impl Store {
    pub(crate) fn refusing(refuses: impl Fn(usize) -> bool + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { writes: Mutex::default(), refuses: Box::new(refuses) })
    }
}

#[async_trait]
impl Sink for Store {
    fn write(&self, _: &Event) -> Result<(), SinkError> {
        let mut writes = self.writes.lock();
        let refused = (self.refuses)(*writes);
        *writes += 1;
        if refused { Err(SinkError::new(std::io::Error::other("disk full"))) } else { Ok(()) }
    }

    async fn flush(&self) -> Result<(), SinkError> {
        Ok(())
    }
}
