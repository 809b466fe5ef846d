//! An agent in a turn, and people of all kinds.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use dsh_agent::{Agent, AgentParts, Hooks};
use dsh_lifecycle::{Cancel, SeededIds, SteppingClock};
use dsh_scope::Scope;
use dsh_session::{
    Event, Header, Session, SessionSpec, Sink, SinkError, TurnEnd, TurnEndReason, TurnStart, Vocabulary,
};
use dsh_tools_core::Approval;
use dsh_user_approval::{
    Answer, AnswerError, Answerer, ApprovalConfig, ApprovalError, Approvals, Question, Request, declare,
};
use parking_lot::Mutex;

pub(crate) struct Scene {
    pub(crate) approvals: Approvals,
    pub(crate) agent: Agent,
    pub(crate) cancel: Cancel,
}

pub(crate) fn vocabulary() -> Vocabulary {
    declare(dsh_agent::declare(Vocabulary::core()).unwrap()).unwrap()
}

pub(crate) fn spec(id: &str, sink: Option<Arc<dyn Sink>>) -> SessionSpec {
    SessionSpec {
        header: Header::new(id, 0).unwrap(),
        vocabulary: Arc::new(vocabulary()),
        clock: Arc::new(SteppingClock::starting_at(0)),
        sink,
    }
}

pub(crate) fn agent(scope: Scope, session: Session) -> Agent {
    let parts = AgentParts { hooks: Hooks::default(), ..AgentParts::default() };
    Agent::with(scope, session, parts)
}

pub(crate) fn begin(session: &Session) {
    session.append(&TurnStart { turn: session.next_turn() }).unwrap();
}

pub(crate) fn end(session: &Session) {
    let turn = session.open_turn().unwrap();
    session.append(&TurnEnd { turn, reason: TurnEndReason::Completed }).unwrap();
}

pub(crate) fn approvals(config: ApprovalConfig) -> Approvals {
    Approvals::new(Arc::new(SeededIds::new(7)), config)
}

impl Scene {
    /// An agent in a turn, and nobody to answer.
    pub(crate) fn new() -> Self {
        Self::with(None)
    }

    pub(crate) fn with(sink: Option<Arc<dyn Sink>>) -> Self {
        let agent = agent(Scope::root(), Session::create(spec("s", sink)));
        begin(agent.session());
        Self { approvals: approvals(ApprovalConfig::default()), agent, cancel: Cancel::new() }
    }

    pub(crate) async fn ask(&self) -> Result<Approval, ApprovalError> {
        self.ask_as(&self.agent).await
    }

    pub(crate) async fn ask_as(&self, agent: &Agent) -> Result<Approval, ApprovalError> {
        let (tool, cancel) = ("bash".into(), &self.cancel);
        let request = Request { agent, tool: &tool, call: None, definition: None, reason: None, cancel };
        self.approvals.request(request).await
    }

    /// What the log has of questions, an event a line; ids are numbered.
    pub(crate) fn log(&self) -> String {
        log(self.agent.session())
    }
}

pub(crate) fn log(session: &Session) -> String {
    let (mut shown, mut ids) = (String::new(), Vec::new());
    for event in session.events().iter().filter(|event| event.kind.starts_with("approval/")) {
        let mut text = event.data.to_text();
        if let Some(id) = event.data.get("id").and_then(dsh_json::Json::as_str) {
            let at = ids.iter().position(|known| known == id).unwrap_or_else(|| {
                ids.push(id.to_owned());
                ids.len() - 1
            });
            text = text.replace(id, &format!("q{}", at + 1));
        }
        let _ = writeln!(shown, "{} {text}", event.kind);
    }
    shown
}

/// What somebody does who is asked.
#[derive(Clone)]
pub(crate) enum Does {
    Says(Approval),
    SaysNever,
    Passes,
    Fails,
    Panics,
    Hangs,
}

/// Somebody, and how often they were asked and withdrawn from.
pub(crate) struct Person {
    does: Does,
    pub(crate) asked: AtomicUsize,
    pub(crate) seen: Mutex<Vec<Question>>,
}

impl Person {
    pub(crate) fn who(does: Does) -> Arc<Self> {
        Arc::new(Self { does, asked: AtomicUsize::new(0), seen: Mutex::default() })
    }

    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

#[async_trait]
impl Answerer for Person {
    fn name(&self) -> &'static str {
        "person"
    }

    async fn answer(&self, question: &Question) -> Result<Option<Answer>, AnswerError> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.seen.lock().push(question.clone());
        match self.does {
            Does::Says(answer) => Ok(Some(answer.into())),
            Does::SaysNever => Ok(Some(Answer::NEVER)),
            Does::Passes => Ok(None),
            Does::Fails => Err("the line is dead".into()),
            Does::Panics => panic!("on purpose"),
            Does::Hangs => std::future::pending().await,
        }
    }
}

/// Takes so many events of approvals, and then no more.
pub(crate) struct Shelf(pub(crate) AtomicUsize);

#[derive(Debug, thiserror::Error)]
#[error("no room")]
pub(crate) struct Full;

#[async_trait]
impl Sink for Shelf {
    fn write(&self, event: &Event) -> Result<(), SinkError> {
        if !event.kind.starts_with("approval/") {
            return Ok(());
        }
        let left = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        left.map(drop).map_err(|_| SinkError::new(Full))
    }

    async fn flush(&self) -> Result<(), SinkError> {
        Ok(())
    }
}
