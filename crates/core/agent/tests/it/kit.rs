//! An agent on a stage.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use dsh_agent::{Agent, AgentParts, Hooks, InboxLimits, InboxSpliced, Notice, Target, declare};
use dsh_lifecycle::SteppingClock;
use dsh_llm::{Message, Role, Source, plain_text, text};
use dsh_scope::Scope;
use dsh_session::{Event, Header, Session, SessionSpec, Sink, SinkError, Vocabulary};
use parking_lot::Mutex;

pub(crate) struct Stage {
    pub(crate) agent: Agent,
    pub(crate) store: Arc<Store>,
    told: Arc<Mutex<Vec<String>>>,
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self::with(InboxLimits::default())
    }

    pub(crate) fn with(inbox: InboxLimits) -> Self {
        let store = Arc::new(Store::default());
        let session = Session::create(spec(header(), Some(Arc::clone(&store) as _)));
        Self::of(session, store, inbox)
    }

    /// The same log in another process.
    pub(crate) fn resumed(&self) -> Self {
        let events = self.agent.session().events().iter().map(|event| (**event).clone()).collect();
        let session = Session::resume(spec(header(), None), events).unwrap();
        Self::of(session, Arc::default(), InboxLimits::default())
    }

    pub(crate) fn of(session: Session, store: Arc<Store>, inbox: InboxLimits) -> Self {
        let agent = Agent::with(Scope::root(), session, AgentParts { hooks: Hooks::default(), inbox });
        let told: Arc<Mutex<Vec<String>>> = Arc::default();
        let noting = Arc::clone(&told);
        let observer = move |_: &Agent, notice: &Notice<'_>| noting.lock().push(words(notice));
        agent.hooks().observe(None, Arc::new(observer)).keep();
        Self { agent, store, told }
    }

    /// `[next step] [next turn]`
    pub(crate) fn waits(&self) -> String {
        let words = |target| {
            let messages = self.agent.inbox().messages(target);
            messages.iter().map(|message| message.id.to_string()).collect::<Vec<_>>().join(" ")
        };
        format!("[{}] [{}]", words(Target::NextStep), words(Target::NextTurn))
    }

    /// The inbox's events, as their JSON without the messages' contents.
    pub(crate) fn log(&self) -> Vec<String> {
        let events = self.agent.session().events();
        events
            .iter()
            .filter_map(|event| event.read::<InboxSpliced>())
            .map(|event| spliced(&event.unwrap()))
            .collect()
    }

    /// What observers were told since this was asked last.
    pub(crate) fn told(&self) -> Vec<String> {
        std::mem::take(&mut self.told.lock())
    }
}

pub(crate) fn header() -> Header {
    Header::new("s", 0).unwrap()
}

pub(crate) fn spec(header: Header, sink: Option<Arc<dyn Sink>>) -> SessionSpec {
    SessionSpec {
        header,
        vocabulary: Arc::new(declare(Vocabulary::core()).unwrap()),
        clock: Arc::new(SteppingClock::starting_at(0)),
        sink,
    }
}

/// A message whose words are its id.
pub(crate) fn message(id: &str) -> Message {
    Message { id: id.into(), role: Role::User, content: text(id), source: Source::User }
}

/// `TARGET@START -REMOVED canceled +ids`
fn spliced(event: &InboxSpliced) -> String {
    let InboxSpliced { target, start, removed_count, inserted, outcome } = event;
    let removed = if *removed_count > 0 { format!(" -{removed_count}") } else { String::new() };
    let outcome = if outcome.is_some() { " canceled" } else { "" };
    let inserted: String = inserted.iter().flat_map(|message| [" +", &*message.id]).collect();
    format!("{target:?}@{start}{removed}{outcome}{inserted}")
}

fn words(notice: &Notice<'_>) -> String {
    match notice {
        Notice::Inserted { message, .. } => format!("inserted {}", plain_text(&message.content)),
        Notice::Claimed { turn, message } => format!("claimed {turn} {}", plain_text(&message.content)),
        Notice::Discarded(message) => format!("discarded {}", plain_text(&message.content)),
        Notice::Status(status) => format!("{status:?}").to_lowercase(),
        Notice::SessionStarted(source) => format!("{source:?}").to_lowercase(),
        Notice::Failed { error, .. } => error.message.to_string(),
        Notice::Blocked { .. } | Notice::Overdue { .. } => format!("{notice:?}"),
    }
}

/// A store that takes everything until it is told to refuse.
#[derive(Default)]
pub(crate) struct Store {
    full: AtomicBool,
}

impl Store {
    pub(crate) fn is_full(&self, full: bool) {
        self.full.store(full, Ordering::Relaxed);
    }
}

#[async_trait]
impl Sink for Store {
    fn write(&self, _: &Event) -> Result<(), SinkError> {
        if self.full.load(Ordering::Relaxed) {
            return Err(SinkError::new(std::io::Error::other("disk full")));
        }
        Ok(())
    }

    async fn flush(&self) -> Result<(), SinkError> {
        Ok(())
    }
}
