//! A registry with tools that can be watched and held, Code Mode over it, and one agent.

use std::sync::Arc;

use dsh_agent::Agent;
use dsh_code_mode::{CodeMode, CodeModeConfig};
use dsh_code_runtime::{CodeRuntime, Limits};
use dsh_json::{Json, object};
use dsh_json_schema::Schema;
use dsh_lifecycle::{Cancel, Registration, Registrations, Slot, SteppingClock};
use dsh_quickjs::QuickJs;
use dsh_scope::Scope;
use dsh_session::{Event, Header, Payload, Session, SessionSpec, Sink, Vocabulary};
use dsh_system_prompt::SystemPrompt;
use dsh_tool_sdk::Language;
use dsh_tools_core::{
    AnyTool, BoxFuture, CallInput, Content, Definition, DispatchSettled, DispatchStarted, Presentation,
    RUN_CODE, RunContext, ToolError, ToolResult, Tools, text, with_dispatches,
};
use parking_lot::Mutex;
use tokio::sync::Semaphore;

pub(crate) struct Stage {
    pub(crate) tools: Tools,
    pub(crate) prompt: SystemPrompt,
    pub(crate) agent: Agent,
    pub(crate) notes: Arc<Mutex<Vec<String>>>,
    /// Bodies of the tool `held` wait for a permit.
    pub(crate) gate: Arc<Semaphore>,
    pub(crate) mounted: Registrations,
    kept: Vec<Registration>,
}

type Body = Arc<dyn Fn(Json, &RunContext) -> BoxFuture<'static, Result<Json, ToolError>> + Send + Sync>;

/// A tool that notes when its body begins and ends.
struct Noted {
    name: &'static str,
    parallel: bool,
    notes: Arc<Mutex<Vec<String>>>,
    body: Body,
}

impl AnyTool for Noted {
    fn execute<'a>(
        &'a self,
        arguments: &'a Json,
        cx: &'a RunContext,
    ) -> BoxFuture<'a, Result<Json, ToolError>> {
        let label = arguments.get("label").and_then(Json::as_str).unwrap_or(self.name).to_owned();
        self.notes.lock().push(format!("> {label}"));
        let body = (self.body)(arguments.clone(), cx);
        Box::pin(async move {
            let value = body.await;
            self.notes.lock().push(format!("< {label}"));
            value
        })
    }

    fn render(&self, _: &Json, value: &Json) -> Result<Content, ToolError> {
        Ok(text(format!("rendered {}", value.to_text())))
    }

    fn parallel(&self, _: &Json) -> bool {
        self.parallel
    }
}

/// A tool without an effect.
pub(crate) struct Nothing;

impl AnyTool for Nothing {
    fn execute<'a>(&'a self, _: &'a Json, _: &'a RunContext) -> BoxFuture<'a, Result<Json, ToolError>> {
        Box::pin(async { Ok(Json::Null) })
    }

    fn render(&self, _: &Json, _: &Json) -> Result<Content, ToolError> {
        Ok(text("nothing"))
    }
}

fn threads() -> Arc<dyn CodeRuntime> {
    Arc::new(QuickJs::on_threads(Limits::default()))
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self::with(CodeModeConfig::default())
    }

    pub(crate) fn with(config: CodeModeConfig) -> Self {
        Self::made(threads(), config, None, |code_mode| code_mode)
    }

    /// The same with accounts that have no times.
    pub(crate) fn unmeasured() -> Self {
        Self::made(threads(), CodeModeConfig::default(), None, CodeMode::without_measures)
    }

    /// The same with a store for the log.
    pub(crate) fn logging(sink: Arc<dyn Sink>) -> Self {
        Self::made(threads(), CodeModeConfig::default(), Some(sink), |code_mode| code_mode)
    }

    /// The same over another runtime.
    pub(crate) fn over(runtime: Arc<dyn CodeRuntime>) -> Self {
        Self::made(runtime, CodeModeConfig::default(), None, |code_mode| code_mode)
    }

    fn made(
        runtime: Arc<dyn CodeRuntime>,
        config: CodeModeConfig,
        sink: Option<Arc<dyn Sink>>,
        set_up: fn(CodeMode) -> CodeMode,
    ) -> Self {
        let (tools, prompt) = (Tools::new(), SystemPrompt::default());
        let runtime: Slot<dyn CodeRuntime> = Slot::filled(runtime);
        let code_mode = CodeMode::new(tools.clone(), runtime, Language::TypeScript, config);
        let mounted = set_up(code_mode).register(&prompt).unwrap();
        let session = Session::create(SessionSpec {
            header: Header::new("s", 0).unwrap(),
            vocabulary: Arc::new(with_dispatches(Vocabulary::core()).unwrap()),
            clock: Arc::new(SteppingClock::starting_at(0)),
            sink,
        });
        let agent = Agent::new(Scope::root(), session);
        let mut stage = Self {
            tools,
            prompt,
            agent,
            notes: Arc::default(),
            gate: Arc::new(Semaphore::new(0)),
            mounted,
            kept: Vec::new(),
        };
        stage.keep(|stage| stage.tools.present_as(None, Presentation::Code).unwrap());
        stage.tool("echo", true, |arguments, _| Box::pin(async move { Ok(arguments) }));
        stage.tool("change", false, |arguments, _| Box::pin(async move { Ok(arguments) }));
        stage.tool("fail", true, |_, _| {
            Box::pin(async { Err(ToolError::plain("no such thing; try another")) })
        });
        stage.tool("slow", true, |arguments, _| {
            Box::pin(async move {
                for _ in 0..8 {
                    tokio::task::yield_now().await;
                }
                Ok(arguments)
            })
        });
        let barrier = Arc::new(tokio::sync::Barrier::new(2));
        stage.tool("meet", true, move |arguments, _| {
            let barrier = Arc::clone(&barrier);
            Box::pin(async move {
                barrier.wait().await;
                Ok(arguments)
            })
        });
        let gate = Arc::clone(&stage.gate);
        stage.tool("held", true, move |arguments, cx| {
            let (gate, cancel) = (Arc::clone(&gate), cx.cancel().clone());
            Box::pin(async move {
                tokio::select! {
                    permit = gate.acquire() => permit.unwrap().forget(),
                    () = cancel.cancelled() => return Err(ToolError::aborted()),
                }
                Ok(arguments)
            })
        });
        stage
    }

    pub(crate) fn tool(
        &mut self,
        name: &'static str,
        parallel: bool,
        body: impl Fn(Json, &RunContext) -> BoxFuture<'static, Result<Json, ToolError>> + Send + Sync + 'static,
    ) {
        let any = Schema::new(&object! {}).unwrap();
        let object = Schema::new(&object! { "type": "object" }).unwrap();
        let noted = Noted { name, parallel, notes: Arc::clone(&self.notes), body: Arc::new(body) };
        let definition = Definition::raw(name, format!("The tool {name}."), object, any, noted).unwrap();
        self.keep(|stage| stage.tools.register(None, definition).unwrap());
    }

    pub(crate) fn keep(&mut self, register: impl FnOnce(&Self) -> Registration) {
        let registration = register(self);
        self.kept.push(registration);
    }

    pub(crate) fn input(&self, program: &str) -> CallInput {
        let arguments = object! { "code": program, "description": "Tries something" };
        CallInput { agent: Some(self.agent.clone()), ..CallInput::new("c1", RUN_CODE, arguments) }
    }

    pub(crate) async fn run(&self, program: &str) -> Arc<ToolResult> {
        self.tools.execute(self.input(program)).await
    }

    pub(crate) async fn run_until(&self, program: &str, cancel: &Cancel) -> Arc<ToolResult> {
        self.tools.execute(CallInput { cancel: cancel.clone(), ..self.input(program) }).await
    }

    /// What the model reads of a program.
    pub(crate) async fn told(&self, program: &str) -> String {
        dsh_llm::plain_text(&self.run(program).await.content)
    }

    pub(crate) fn noted(&self) -> Vec<String> {
        std::mem::take(&mut *self.notes.lock())
    }

    /// The log, one word and the number of the call for each event of a program's call.
    pub(crate) fn logged(&self) -> Vec<String> {
        let line = |event: &Arc<Event>| {
            let id = |id: &Arc<str>| id.rsplit(':').next().unwrap_or_default().to_owned();
            if let Some(Ok(started)) = event.read::<DispatchStarted>() {
                return format!("start {}", id(&started.sub_call_id));
            }
            let settled: DispatchSettled = event.read().unwrap().unwrap();
            format!("{} {}", if settled.is_error { "fail" } else { "settle" }, id(&settled.sub_call_id))
        };
        let kinds = [DispatchStarted::TYPE, DispatchSettled::TYPE];
        self.agent.session().events().iter().filter(|event| kinds.contains(&&*event.kind)).map(line).collect()
    }
}
