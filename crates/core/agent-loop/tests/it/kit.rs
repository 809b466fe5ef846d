//! A scene: an agent with two tools, a scripted model and a store, and the notes of all that happens on it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use dsh_agent::{Agent, AgentParts, Hooks, Notice, Target, TurnError};
use dsh_agent_loop::{AgentLoop, LoopConfig, LoopParts, TurnOutcome};
use dsh_lifecycle::{Cancel, Cause, Registration, SeededIds, Slot, SteppingClock};
use dsh_llm::{Chunk, Message, Model, ModelRequest, Role, Source, plain_text, text};
use dsh_llm_script::{Script, ScriptedModel, Step, ToolCall};
use dsh_scope::Scope;
use dsh_session::{Event, Header, Session, SessionObserver, SessionSpec, Sink, SinkError, Vocabulary};
use dsh_system_prompt::{AssembleContext, OfferedTools, SystemPrompt};
use dsh_tools_core::{Definition, Tools};
use futures_util::stream::BoxStream;
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::log::{assert_sound, line, told};
use crate::probe::Probe;

pub(crate) struct Scene {
    pub(crate) tools: Tools,
    pub(crate) prompt: SystemPrompt,
    pub(crate) agent: Agent,
    pub(crate) turns: AgentLoop,
    pub(crate) store: Arc<Store>,
    pub(crate) model: Arc<Recorded>,
    pub(crate) slot: Slot<dyn Model>,
    /// Cancels the turns that [`turn`](Self::turn) runs.
    pub(crate) cancel: Cancel,
    pub(crate) notes: Notes,
    /// The ids of the messages that were taken out of the inbox and reach no turn.
    pub(crate) dropped: Arc<Mutex<Vec<String>>>,
    plugged: Mutex<Option<Registration>>,
    kept: Mutex<Vec<Registration>>,
}

impl Scene {
    /// Tools `p`, which may overlap, and `x`, which may not; a model that says these steps.
    pub(crate) fn new(steps: impl IntoIterator<Item = Step>) -> Self {
        Self::with(LoopConfig::default(), steps)
    }

    pub(crate) fn with(config: LoopConfig, steps: impl IntoIterator<Item = Step>) -> Self {
        let notes = Notes::new();
        let store = Arc::new(Store::new(&notes));
        let sink: Arc<dyn Sink> = Arc::<Store>::clone(&store);
        Self::over(config, steps, notes, store, Session::create(spec(Some(sink))))
    }

    /// A scene whose session exists already, and is stored nowhere.
    pub(crate) fn continuing(session: Session, steps: impl IntoIterator<Item = Step>) -> Self {
        let notes = Notes::new();
        let store = Arc::new(Store::new(&notes));
        Self::over(LoopConfig::default(), steps, notes, store, session)
    }

    fn over(
        config: LoopConfig,
        steps: impl IntoIterator<Item = Step>,
        notes: Notes,
        store: Arc<Store>,
        session: Session,
    ) -> Self {
        let (tools, prompt, cancel) = (Tools::new(), SystemPrompt::default(), Cancel::new());
        let model = Arc::new(Recorded::new(steps, session.clone(), notes.clone()));
        let slot = Slot::empty();
        let parts = LoopParts {
            tools: tools.clone(),
            prompt: prompt.clone(),
            model: slot.clone(),
            ids: Arc::new(SeededIds::new(1)),
        };
        let parts_of_agent = AgentParts { hooks: Hooks::default(), inbox: config.inbox() };
        let agent = Agent::with(Scope::root(), session, parts_of_agent);
        let scene = Self {
            tools,
            prompt,
            agent,
            turns: AgentLoop::new(parts, config),
            store,
            model,
            slot,
            cancel,
            notes,
            dropped: Arc::default(),
            plugged: Mutex::default(),
            kept: Mutex::default(),
        };
        let model: Arc<dyn Model> = Arc::<Recorded>::clone(&scene.model);
        *scene.plugged.lock() = Some(scene.slot.provide(model).unwrap());
        scene.keep(scene.session().observe(Arc::new(scene.notes.clone())));
        let (notes, dropped) = (scene.notes.clone(), Arc::clone(&scene.dropped));
        let observer = move |_: &Agent, notice: &Notice<'_>| {
            notes.note(told(notice));
            if let Notice::Discarded(message) = notice {
                dropped.lock().push(message.id.to_string());
            }
        };
        scene.keep(scene.hooks().observe(None, Arc::new(observer)));
        scene.register(&scene.probe(true).named("p"));
        scene.register(&scene.probe(false).named("x"));
        let tools = scene.tools.clone();
        scene.keep(scene.prompt.tools(
            None,
            Arc::new(move |cx: &AssembleContext| {
                let schemas = Arc::clone(tools.view(cx.effective_scope()).schemas());
                Ok(OfferedTools { schemas, known_names: None })
            }),
        ));
        scene
    }

    pub(crate) fn probe(&self, parallel: bool) -> Probe {
        Probe { parallel, notes: self.notes.clone(), cancel: self.cancel.clone() }
    }

    pub(crate) fn register(&self, definition: &Definition) {
        self.keep(self.tools.register(None, definition.clone()).unwrap());
    }

    /// Takes the model away.
    pub(crate) fn unplug(&self) {
        self.plugged.lock().take();
    }

    pub(crate) fn keep(&self, registration: Registration) {
        self.kept.lock().push(registration);
    }

    pub(crate) fn session(&self) -> &Session {
        self.agent.session()
    }

    /// Drives the agent while `act` goes on and until it is idle afterwards, and finds the log sound.
    pub(crate) async fn driven(&self, act: impl AsyncFnOnce()) {
        self.driven_anyhow(act).await;
        self.assert_sound();
    }

    /// The same, whatever becomes of the log.
    pub(crate) async fn driven_anyhow(&self, act: impl AsyncFnOnce()) {
        let stop = Cancel::new();
        let acting = async {
            act().await;
            self.agent.when_idle().await;
            stop.cancel(Cause::Disposed);
        };
        // The driver is polled first, so that it is there.
        let (driven, ()) = tokio::join!(self.turns.drive(&self.agent, &stop), acting);
        driven.unwrap();
    }

    pub(crate) fn followup(&self, words: &str) {
        self.agent.inbox().followup(message(words)).unwrap();
    }

    pub(crate) fn steer(&self, words: &str) {
        self.agent.inbox().steer(message(words)).unwrap();
    }

    pub(crate) fn inject(&self, words: &str) {
        self.agent.inbox().inject(message(words)).unwrap();
    }

    /// `[next step] [next turn]`
    pub(crate) fn waits(&self) -> String {
        let words = |target| {
            let messages = self.agent.inbox().messages(target);
            messages.iter().map(|message| plain_text(&message.content)).collect::<Vec<_>>().join(", ")
        };
        format!("[{}] [{}]", words(Target::NextStep), words(Target::NextTurn))
    }

    pub(crate) fn hooks(&self) -> &Hooks {
        self.agent.hooks()
    }

    /// Runs a turn, and finds the log sound afterwards.
    pub(crate) async fn turn(&self, prompt: &str) -> TurnOutcome {
        self.turn_under(&self.cancel, prompt).await
    }

    /// The same, under a cancellation of its own.
    pub(crate) async fn turn_under(&self, cancel: &Cancel, prompt: &str) -> TurnOutcome {
        let outcome = self.turns.run_turn(&self.agent, text(prompt), cancel).await.unwrap();
        self.assert_sound();
        outcome
    }

    /// A turn that can't be closed, and why.
    pub(crate) async fn broken_turn(&self, prompt: &str) -> TurnError {
        self.turns.run_turn(&self.agent, text(prompt), &self.cancel).await.unwrap_err()
    }

    pub(crate) fn assert_sound(&self) {
        assert_sound(self.session(), &self.model.requests.lock());
    }

    /// The events, without chunks and without those of the inbox.
    pub(crate) fn log(&self) -> Vec<String> {
        self.whole_log().into_iter().filter(|line| !line.starts_with("inbox ")).collect()
    }

    /// The events without chunks.
    pub(crate) fn whole_log(&self) -> Vec<String> {
        self.session().events().iter().map(|event| line(event)).filter(|line| line != "chunk").collect()
    }

    /// The events that begin with one of these words.
    pub(crate) fn log_of(&self, words: &[&str]) -> Vec<String> {
        self.log().into_iter().filter(|line| starts_with(line, words)).collect()
    }

    /// The notes that begin with one of these words, each with its time.
    pub(crate) fn noted(&self, words: &[&str]) -> Vec<String> {
        let notes = self.notes.rows.lock();
        let rows = notes.iter().filter(|(_, what)| starts_with(what, words));
        rows.map(|(at, what)| format!("{at} {what}")).collect()
    }

    /// What the model was asked, without the places in the log.
    pub(crate) fn requests(&self) -> Vec<ModelRequest> {
        self.model.requests.lock().iter().map(|(_, request)| request.clone()).collect()
    }
}

fn starts_with(line: &str, words: &[&str]) -> bool {
    words.iter().any(|word| line.split(' ').next() == Some(word))
}

pub(crate) fn spec(sink: Option<Arc<dyn Sink>>) -> SessionSpec {
    SessionSpec {
        header: Header::new("s", 0).unwrap(),
        vocabulary: Arc::new(dsh_agent::declare(Vocabulary::core()).unwrap()),
        clock: Arc::new(SteppingClock::starting_at(0)),
        sink,
    }
}

/// A person's message; its words are its id.
pub(crate) fn message(words: &str) -> Message {
    Message { id: words.into(), role: Role::User, content: text(words), source: Source::User }
}

/// Waits in virtual time.
pub(crate) async fn pass(ms: u64) {
    tokio::time::sleep(Duration::from_millis(ms)).await;
}

/// A model that thinks for so long before it says this.
pub(crate) fn thinks(ms: u64, step: Step) -> Step {
    Step { delay: Duration::from_millis(ms), ..step }
}

pub(crate) fn says(words: &str) -> Step {
    Step::text(words)
}

/// A step that calls tools: id, name, arguments.
pub(crate) fn calls<const N: usize>(rows: [(&str, &str, &str); N]) -> Step {
    Step::calls("", rows.map(|(id, name, arguments)| call(id, name, arguments)).into())
}

pub(crate) fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall { id: id.into(), name: name.into(), arguments: arguments.into() }
}

/// What happened, in order, with the virtual time in milliseconds.
#[derive(Clone)]
pub(crate) struct Notes {
    began: Instant,
    rows: Arc<Mutex<Vec<(u64, String)>>>,
}

impl Notes {
    fn new() -> Self {
        Self { began: Instant::now(), rows: Arc::default() }
    }

    pub(crate) fn note(&self, what: impl Into<String>) {
        let at = u64::try_from(self.began.elapsed().as_millis()).unwrap();
        self.rows.lock().push((at, what.into()));
    }
}

impl SessionObserver for Notes {
    fn appended(&self, event: &Arc<Event>) {
        self.note(line(event));
    }
}

/// A store that notes when it is flushed, and fails when it is told to.
pub(crate) struct Store {
    notes: Notes,
    /// The lines that it refuses to write, each once.
    pub(crate) refuses: Mutex<Vec<&'static str>>,
    /// The lines at which it panics, each once.
    pub(crate) panics: Mutex<Vec<&'static str>>,
    /// Refuses everything.
    pub(crate) down: AtomicBool,
    /// How many writes and flushes succeed before one fails.
    pub(crate) fails_after: Mutex<Option<usize>>,
    /// Whether it refuses everything from there on.
    pub(crate) stays_down: AtomicBool,
    /// What the next process would find.
    pub(crate) written: Mutex<Vec<Event>>,
}

#[derive(Debug, thiserror::Error)]
#[error("disk full")]
struct DiskFull;

impl Store {
    fn new(notes: &Notes) -> Self {
        Self {
            notes: notes.clone(),
            refuses: Mutex::default(),
            panics: Mutex::default(),
            down: AtomicBool::new(false),
            fails_after: Mutex::default(),
            stays_down: AtomicBool::new(false),
            written: Mutex::default(),
        }
    }

    fn fails_now(&self) -> bool {
        let mut left = self.fails_after.lock();
        let due = *left == Some(0);
        *left = left.and_then(|left| left.checked_sub(1));
        if due && self.stays_down.load(Ordering::Relaxed) {
            self.down.store(true, Ordering::Relaxed);
        }
        due || self.down.load(Ordering::Relaxed)
    }
}

#[async_trait]
impl Sink for Store {
    fn write(&self, event: &Event) -> Result<(), SinkError> {
        let mut refuses = self.refuses.lock();
        if let Some(at) = refuses.iter().position(|refused| *refused == line(event)) {
            refuses.remove(at);
            return Err(SinkError::new(DiskFull));
        }
        let panics = self.panics.lock().extract_if(.., |at| *at == line(event)).count();
        assert!(panics == 0, "on purpose");
        if self.fails_now() {
            return Err(SinkError::new(DiskFull));
        }
        self.written.lock().push(event.clone());
        Ok(())
    }

    async fn flush(&self) -> Result<(), SinkError> {
        self.notes.note("flush");
        tokio::task::yield_now().await;
        let mut refuses = self.refuses.lock();
        if let Some(at) = refuses.iter().position(|refused| *refused == "flush") {
            refuses.remove(at);
            return Err(SinkError::new(DiskFull));
        }
        if self.fails_now() { Err(SinkError::new(DiskFull)) } else { Ok(()) }
    }
}

/// A scripted model that keeps what it is asked, with the length of the log at that moment.
pub(crate) struct Recorded {
    script: ScriptedModel,
    session: Session,
    notes: Notes,
    pub(crate) requests: Mutex<Vec<(u64, ModelRequest)>>,
}

impl Recorded {
    fn new(steps: impl IntoIterator<Item = Step>, session: Session, notes: Notes) -> Self {
        let script = ScriptedModel::new(Script { steps: steps.into_iter().collect() });
        Self { script, session, notes, requests: Mutex::default() }
    }
}

impl Model for Recorded {
    fn provider(&self) -> &str {
        self.script.provider()
    }

    fn model(&self) -> &str {
        self.script.model()
    }

    fn stream(&self, request: ModelRequest, cancel: Cancel) -> BoxStream<'static, Chunk> {
        self.notes.note("request");
        self.requests.lock().push((self.session.len(), request.clone()));
        self.script.stream(request, cancel)
    }
}
