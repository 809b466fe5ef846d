//! A small stage: tools and listeners that note what happens, and one place that makes calls.

use std::sync::Arc;

use async_trait::async_trait;
use dsh_agent::Agent;
use dsh_json::{Json, object};
use dsh_json_schema::Schema;
use dsh_lifecycle::{Cancel, Registration, SteppingClock};
use dsh_scope::Scope;
use dsh_session::{Header, Session, SessionSpec, Vocabulary};
use dsh_tools_core::{
    Answer, AnyTool, Attempt, CallInput, Content, Context, Definition, Execution, Layer, Next, Observer,
    Post, PostDecision, PreDecision, RunContext, ToolError, ToolResult, Tools, text,
};
use futures_util::future::BoxFuture;
use parking_lot::Mutex;

pub(crate) type Notes = Arc<Mutex<Vec<String>>>;

/// What a body does. It is given its arguments and its context.
type Body =
    Arc<dyn for<'a> Fn(&'a Json, &'a RunContext) -> BoxFuture<'a, Result<Json, ToolError>> + Send + Sync>;

pub(crate) struct Probe {
    pub(crate) body: Body,
    pub(crate) render: fn(&Json) -> Result<Content, ToolError>,
    pub(crate) parallel: fn(&Json) -> bool,
    pub(crate) finalize: fn(&ToolResult) -> Option<Content>,
    pub(crate) needs_approval: fn(&Execution) -> Result<Option<Arc<str>>, ToolError>,
}

impl Probe {
    pub(crate) fn new(
        body: impl for<'a> Fn(&'a Json, &'a RunContext) -> BoxFuture<'a, Result<Json, ToolError>>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        Self {
            body: Arc::new(body),
            render: |value| Ok(text(value.to_text())),
            parallel: |_| false,
            finalize: |_| None,
            needs_approval: |_| Ok(None),
        }
    }

    /// A body that returns this at once.
    pub(crate) fn returning(value: impl Into<Json>) -> Self {
        let value = value.into();
        Self::new(move |_, _| {
            let value = value.clone();
            Box::pin(async move { Ok(value) })
        })
    }
}

impl AnyTool for Probe {
    fn execute<'a>(
        &'a self,
        arguments: &'a Json,
        cx: &'a RunContext,
    ) -> BoxFuture<'a, Result<Json, ToolError>> {
        (self.body)(arguments, cx)
    }

    fn render(&self, _: &Json, value: &Json) -> Result<Content, ToolError> {
        (self.render)(value)
    }

    fn meta(&self, _: &Json, value: &Json) -> Result<Option<Json>, ToolError> {
        Ok(Some(object! { "shown": value.clone() }))
    }

    fn parallel(&self, arguments: &Json) -> bool {
        (self.parallel)(arguments)
    }

    fn needs_approval(&self, execution: &Execution) -> Result<Option<Arc<str>>, ToolError> {
        (self.needs_approval)(execution)
    }

    fn finalize_content(&self, _: &Json, result: &ToolResult) -> Option<Content> {
        (self.finalize)(result)
    }
}

/// A tool that takes anything and returns a string or, when asked to, breaks that promise.
pub(crate) fn tool(name: &str, probe: Probe) -> Definition {
    let any = Schema::new(&object! { "type": "object" }).unwrap();
    let string = Schema::new(&object! { "type": "string" }).unwrap();
    Definition::raw(name, "A probe.", any, string, probe).unwrap()
}

pub(crate) fn agent(scope: &Scope) -> Agent {
    let session = Session::create(SessionSpec {
        header: Header::new("s", 0).unwrap(),
        vocabulary: Arc::new(Vocabulary::core()),
        clock: Arc::new(SteppingClock::starting_at(0)),
        sink: None,
    });
    Agent::new(scope.clone(), session)
}

pub(crate) struct Stage {
    pub(crate) tools: Tools,
    pub(crate) notes: Notes,
    kept: Vec<Registration>,
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self::noting(&Notes::default())
    }

    /// An empty stage that notes into these notes.
    pub(crate) fn noting(notes: &Notes) -> Self {
        Self { tools: Tools::new(), notes: Arc::clone(notes), kept: Vec::new() }
    }

    /// A stage with one tool `t` that notes its run and returns `"value"`.
    pub(crate) fn with_tool() -> Self {
        Self::with_tool_that_needs(|_| Ok(None))
    }

    /// The same with a tool that says what has to be allowed.
    pub(crate) fn with_tool_that_needs(
        needs_approval: fn(&Execution) -> Result<Option<Arc<str>>, ToolError>,
    ) -> Self {
        let notes = Notes::default();
        let noting = Arc::clone(&notes);
        let probe = Probe::new(move |_, _| {
            noting.lock().push("body".to_owned());
            Box::pin(async { Ok("value".into()) })
        });
        let probe = Probe { needs_approval, ..probe };
        let mut stage = Self::noting(&notes);
        stage.register(tool("t", probe));
        stage
    }

    pub(crate) fn register(&mut self, definition: Definition) {
        self.kept.push(self.tools.register(None, definition).unwrap());
    }

    pub(crate) fn keep(&mut self, registration: Registration) {
        self.kept.push(registration);
    }

    pub(crate) fn pre(&mut self, decide: impl Fn(&Execution) -> Option<PreDecision> + Send + Sync + 'static) {
        let layer = Pre { notes: Arc::clone(&self.notes), decide: Box::new(decide) };
        self.kept.push(self.tools.on_pre_execute(None, Arc::new(layer)));
    }

    pub(crate) fn around(&mut self, layer: impl Layer<Attempt, Answer> + 'static) {
        self.kept.push(self.tools.on_execute(None, Arc::new(layer)));
    }

    pub(crate) fn post(
        &mut self,
        decide: impl Fn(&Post) -> Result<PostDecision, ToolError> + Send + Sync + 'static,
    ) {
        let layer = PostLayer { notes: Arc::clone(&self.notes), decide: Box::new(decide) };
        self.kept.push(self.tools.on_post_execute(None, Arc::new(layer)));
    }

    pub(crate) fn observe(&mut self) {
        self.kept.push(self.tools.on_result(None, Arc::new(Noting(Arc::clone(&self.notes)))));
    }

    pub(crate) fn guard(&mut self, reason: Option<&'static str>) {
        let guard = Veto { notes: Arc::clone(&self.notes), reason };
        self.kept.push(self.tools.guard(None, Arc::new(guard)));
    }

    pub(crate) async fn call(&self, input: CallInput) -> Arc<ToolResult> {
        self.tools.execute(input).await
    }

    pub(crate) fn noted(&self) -> Vec<String> {
        self.notes.lock().clone()
    }
}

pub(crate) fn call(name: &str) -> CallInput {
    CallInput::new("c1", name, object! {})
}

pub(crate) fn stopped(name: &str, cancel: &Cancel) -> CallInput {
    CallInput { cancel: cancel.clone(), ..call(name) }
}

/// What happened to a call, in one line: `ok text` or `CODE text`, and the messages that ride on it.
pub(crate) fn told(result: &ToolResult) -> String {
    let code = result.error().map_or("ok", |error| error.code().unwrap_or("-"));
    let contexts: Vec<_> =
        result.contexts.iter().map(|context| dsh_llm::plain_text(&context.content)).collect();
    let riders = if contexts.is_empty() { String::new() } else { format!(" + {}", contexts.join(", ")) };
    format!("{code} {}{riders}", dsh_llm::plain_text(&result.content))
}

pub(crate) fn context(words: &str) -> Context {
    Context { plugin: "test".into(), form: None, content: text(words) }
}

type Decide = dyn Fn(&Execution) -> Option<PreDecision> + Send + Sync;
type Judge = dyn Fn(&Post) -> Result<PostDecision, ToolError> + Send + Sync;

struct Pre {
    notes: Notes,
    decide: Box<Decide>,
}

#[async_trait]
impl Layer<Execution, PreDecision> for Pre {
    async fn call(
        &self,
        cx: &Execution,
        next: Next<'_, Execution, PreDecision>,
    ) -> Result<PreDecision, ToolError> {
        self.notes.lock().push("pre".to_owned());
        match (self.decide)(cx) {
            Some(decision) => Ok(decision),
            None => next.run(cx).await,
        }
    }
}

struct PostLayer {
    notes: Notes,
    decide: Box<Judge>,
}

#[async_trait]
impl Layer<Post, PostDecision> for PostLayer {
    async fn call(&self, cx: &Post, _: Next<'_, Post, PostDecision>) -> Result<PostDecision, ToolError> {
        self.notes.lock().push("post".to_owned());
        (self.decide)(cx)
    }
}

/// A wrapper that notes its way in and out.
pub(crate) struct Through(pub(crate) Notes);

#[async_trait]
impl Layer<Attempt, Answer> for Through {
    async fn call(&self, cx: &Attempt, next: Next<'_, Attempt, Answer>) -> Result<Answer, ToolError> {
        self.0.lock().push("around in".to_owned());
        let answer = next.run(cx).await;
        self.0.lock().push("around out".to_owned());
        answer
    }
}

struct Noting(Notes);

impl Observer for Noting {
    fn result(&self, _: &Arc<Execution>, result: &Arc<ToolResult>) {
        self.0.lock().push(format!("result {}", told(result)));
    }
}

struct Veto {
    notes: Notes,
    reason: Option<&'static str>,
}

impl dsh_tools_core::Guard for Veto {
    fn check(&self, _: &Execution) -> Option<String> {
        self.notes.lock().push("guard".to_owned());
        self.reason.map(str::to_owned)
    }
}
