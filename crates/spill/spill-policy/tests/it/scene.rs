//! Tools that say what they are told, an agent, a store, and the policy.

use std::io::Write;
use std::sync::Arc;

use dsh_agent::Agent;
use dsh_json::{Json, object};
use dsh_json_schema::Schema;
use dsh_lifecycle::{Registration, Registrations, Slot, SteppingClock};
use dsh_scope::Scope;
use dsh_session::{Header, Session, SessionSpec, Sink, Vocabulary};
use dsh_spill::SpillStore;
use dsh_spill_policy::{SpillConfig, SpillPolicy};
use dsh_tools_core::{
    AnyTool, BoxFuture, CallInput, Content, ContentBlock, Definition, RunContext, ToolError, ToolResult,
    Tools, with_dispatches,
};
use parking_lot::Mutex;
use tracing::subscriber::DefaultGuard;

use crate::shelf::{Does, Handle, Shelf};

pub(crate) struct Scene {
    pub(crate) tools: Tools,
    pub(crate) agent: Agent,
    pub(crate) shelf: Arc<Shelf>,
    pub(crate) slot: Slot<dyn SpillStore>,
    pub(crate) store: Option<Registration>,
    pub(crate) policy: Option<Registrations>,
    pub(crate) kept: Registrations,
    warnings: Log,
    _heard: DefaultGuard,
}

/// A tool that gives this content, or fails with these words.
pub(crate) enum Gives {
    Content(Content),
    Failure(String),
}

impl AnyTool for Gives {
    fn execute<'a>(&'a self, _: &'a Json, _: &'a RunContext) -> BoxFuture<'a, Result<Json, ToolError>> {
        Box::pin(async move {
            match self {
                Self::Content(_) => Ok(object! { "true": "value" }),
                Self::Failure(words) => Err(ToolError::new("OddError", "ODD", words.clone())),
            }
        })
    }

    fn render(&self, _: &Json, _: &Json) -> Result<Content, ToolError> {
        match self {
            Self::Content(content) => Ok(Arc::clone(content)),
            Self::Failure(_) => Err(ToolError::plain("it has no value")),
        }
    }

    fn meta(&self, _: &Json, _: &Json) -> Result<Option<Json>, ToolError> {
        Ok(Some(object! { "for": "the screen" }))
    }
}

pub(crate) fn tool(name: &str, tool: impl AnyTool + 'static) -> Definition {
    let any = || Schema::object().open().build().unwrap();
    Definition::raw(name, "Says what it is told.", any(), any(), tool).unwrap()
}

pub(crate) fn agent(sink: Option<Arc<dyn Sink>>) -> Agent {
    agent_of("s", sink)
}

pub(crate) fn agent_of(session: &str, sink: Option<Arc<dyn Sink>>) -> Agent {
    let session = Session::create(SessionSpec {
        header: Header::new(session, 0).unwrap(),
        vocabulary: Arc::new(with_dispatches(Vocabulary::core()).unwrap()),
        clock: Arc::new(SteppingClock::starting_at(0)),
        sink,
    });
    Agent::new(Scope::root(), session)
}

impl Scene {
    /// A policy with this cap over a store that keeps everything.
    pub(crate) fn capped(cap: usize) -> Self {
        Self::with(&format!(r#"{{"maxInlineBytes": {cap}}}"#), Does::Keep)
    }

    pub(crate) fn with(config: &str, does: Does) -> Self {
        let (tools, shelf, slot) = (Tools::new(), Shelf::new(does), Slot::<dyn SpillStore>::empty());
        let store = slot.provide(Arc::new(Handle(Arc::clone(&shelf)))).unwrap();
        let config = Json::parse(config).unwrap().read::<SpillConfig>().unwrap();
        let policy = SpillPolicy::new(tools.clone(), slot.clone(), config).register().unwrap();
        let warnings = Log::default();
        let writer = warnings.clone();
        let subscriber = tracing_subscriber::fmt()
            .without_time()
            .with_ansi(false)
            .with_target(false)
            .with_max_level(tracing::Level::WARN)
            .with_writer(move || writer.clone())
            .finish();
        Self {
            tools,
            agent: agent(None),
            shelf,
            slot,
            store: Some(store),
            policy: Some(policy),
            kept: Registrations::new(),
            warnings,
            _heard: tracing::subscriber::set_default(subscriber),
        }
    }

    /// Adds a tool.
    pub(crate) fn tool(&mut self, definition: Definition) {
        self.kept.push(self.tools.register(None, definition).unwrap());
    }

    /// Calls a tool `t` that gives this content.
    pub(crate) async fn gives(&mut self, content: Content) -> Arc<ToolResult> {
        let given = self.tools.register(None, tool("t", Gives::Content(content))).unwrap();
        let result = self.call("t").await;
        drop(given);
        result
    }

    /// The same of one text, and what the model reads.
    pub(crate) async fn says(&mut self, text: &str) -> String {
        let result = self.gives(dsh_llm::text(text)).await;
        assert!(!result.is_error() && result.value() == Some(&object! { "true": "value" }));
        assert_eq!(result.meta, Some(object! { "for": "the screen" }));
        only_text(&result.content)
    }

    pub(crate) async fn call(&self, name: &str) -> Arc<ToolResult> {
        self.tools.execute(self.input(name)).await
    }

    pub(crate) fn input(&self, name: &str) -> CallInput {
        CallInput { agent: Some(self.agent.clone()), ..CallInput::new("c1", name, object! {}) }
    }

    /// What the operator was told since the last time.
    pub(crate) fn warned(&self) -> String {
        let bytes = std::mem::take(&mut *self.warnings.0.lock());
        String::from_utf8(bytes).unwrap().trim_end().to_owned()
    }
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

pub(crate) fn block(text: &str) -> ContentBlock {
    ContentBlock::Text { text: text.into() }
}

pub(crate) fn image(id: &str) -> ContentBlock {
    ContentBlock::Image { attachment: object! { "id": id } }
}

/// The text of content that is one block of text.
pub(crate) fn only_text(content: &[ContentBlock]) -> String {
    let [only] = content else { panic!("{content:?}") };
    only.as_text().unwrap().to_owned()
}
