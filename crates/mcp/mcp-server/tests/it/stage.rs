//! The scene.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dsh_agent::{Agent, AgentParts, Hooks, TurnError};
use dsh_agent_loop::{AgentLoop, LoopConfig, LoopParts};
use dsh_json_schema::Schema;
use dsh_lifecycle::{Cancel, SeededIds, Slot, SteppingClock};
use dsh_mcp_server::{McpParts, McpServer, McpServerConfig, SdkText};
use dsh_session::{Event, Header, Session, SessionSpec, Sink, SinkError, ToolResult, Vocabulary, verify};
use dsh_system_prompt::SystemPrompt;
use dsh_tools_core::{
    AnyTool, BoxFuture, CallInput, Content, Definition, Execution, Json, Presentation, RUN_CODE,
    Registration, RunContext, Scope, ToolError, Tools, Transport, async_trait, object, text,
};
use dsh_user_approval::{ApprovalConfig, Approvals};
use parking_lot::Mutex;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientConfig, ClientRequest, ElicitRequestParams,
    ElicitResult, ElicitationAction, ErrorData, ProgressNotificationParam, ServerResult,
};
use rmcp::service::{
    NotificationContext, PeerRequestOptions, RequestContext, RequestHandle, RunningService, ServiceError,
};
use rmcp::{ClientHandler, RoleClient, ServiceExt};
use tokio::sync::mpsc;

pub(crate) struct Stage {
    pub(crate) tools: Tools,
    pub(crate) agent: Agent,
    pub(crate) stop: Cancel,
    pub(crate) log_is_broken: Arc<AtomicBool>,
    pub(crate) user: Option<User>,
    parts: McpParts,
    kept: Mutex<Vec<Registration>>,
}

/// What a client hears.
#[derive(Debug)]
pub(crate) enum Heard {
    Progress(ProgressNotificationParam),
    ListChanged,
    Question(String),
    Withdrawn,
}

/// The user of a client that has forms: what is said to one question after the other; `None` says nothing, ever.
pub(crate) type User = Arc<Mutex<VecDeque<Option<ElicitResult>>>>;

#[derive(Clone)]
pub(crate) struct Ear {
    told: mpsc::UnboundedSender<Heard>,
    user: Option<User>,
}

impl ClientHandler for Ear {
    fn get_info(&self) -> ClientConfig {
        let mut info = ClientConfig::default();
        info.capabilities.elicitation = self.user.is_some().then(Default::default);
        info
    }

    async fn on_progress(&self, progress: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let _ = self.told.send(Heard::Progress(progress));
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        let _ = self.told.send(Heard::ListChanged);
    }

    async fn create_elicitation(
        &self,
        asked: ElicitRequestParams,
        cx: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams { message, .. } = asked else { panic!("{asked:?}") };
        let _ = self.told.send(Heard::Question(message));
        let answer = self.user.as_ref().and_then(|user| user.lock().pop_front()).flatten();
        let Some(answer) = answer else {
            cx.ct.cancelled().await;
            let _ = self.told.send(Heard::Withdrawn);
            return Ok(ElicitResult::new(ElicitationAction::Cancel));
        };
        Ok(answer)
    }
}

pub(crate) struct Client {
    pub(crate) service: RunningService<RoleClient, Ear>,
    pub(crate) heard: mpsc::UnboundedReceiver<Heard>,
}

impl Stage {
    /// Tools `p`, which may overlap, `x`, which may not, and `ask`, which needs an approval.
    pub(crate) fn new() -> Self {
        let tools = Tools::new();
        let log_is_broken = Arc::new(AtomicBool::new(false));
        let session = Session::create(SessionSpec {
            header: Header::new("one", 0).unwrap(),
            vocabulary: Arc::new(
                dsh_user_approval::declare(dsh_agent::declare(Vocabulary::core()).unwrap()).unwrap(),
            ),
            clock: Arc::new(SteppingClock::starting_at(0)),
            sink: Some(Arc::new(Store(Arc::clone(&log_is_broken)))),
        });
        let config = LoopConfig::default();
        let parts = AgentParts { hooks: Hooks::default(), inbox: config.inbox() };
        let agent = Agent::with(Scope::root(), session, parts);
        let ids = Arc::new(SeededIds::new(1));
        let parts = LoopParts {
            tools: tools.clone(),
            prompt: SystemPrompt::default(),
            model: Slot::empty(),
            ids: Arc::clone(&ids) as _,
        };
        let parts = McpParts {
            tools: tools.clone(),
            agent: agent.clone(),
            turns: Arc::new(AgentLoop::new(parts, config)),
            ids,
            sdk: Arc::new(Declarations),
            elicitation: Arc::default(),
        };
        let approvals = Approvals::new(Arc::new(SeededIds::new(2)), ApprovalConfig::default());
        let stage = Self {
            tools,
            agent,
            stop: Cancel::new(),
            log_is_broken,
            user: None,
            parts,
            kept: Mutex::default(),
        };
        let mut mounted = approvals.mount(&stage.tools, &SystemPrompt::default()).unwrap();
        mounted.push(approvals.answer_with(None, Arc::clone(&stage.parts.elicitation) as _));
        stage.kept.lock().push(Registration::new(move || drop(mounted)));
        for tool in
            [Probe::tool("x", false, false), Probe::tool("p", true, false), Probe::tool("ask", true, true)]
        {
            stage.register(tool);
        }
        stage
    }

    pub(crate) fn register(&self, tool: Definition) {
        self.keep(self.tools.register(None, tool).unwrap());
    }

    pub(crate) fn keep(&self, registration: Registration) {
        self.kept.lock().push(registration);
    }

    /// Mounts a `run_code` whose program is a number: so many calls of `p`, one after another.
    pub(crate) fn with_programs(self, presentation: Presentation) -> Self {
        self.keep(self.tools.mount_transport(Arc::new(Programs(self.tools.clone()))).unwrap());
        self.keep(self.tools.present_as(None, presentation).unwrap());
        self
    }

    /// Serves a client while it acts, and returns how that ended; the log is sound and closed then.
    pub(crate) async fn serve(
        &self,
        config: McpServerConfig,
        act: impl AsyncFnOnce(Client),
    ) -> Result<(), TurnError> {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let server = McpServer::new(self.parts.clone(), config);
        let (reader, writer) = tokio::io::split(ours);
        let acts = async {
            let (told, heard) = mpsc::unbounded_channel();
            let service = Ear { told, user: self.user.clone() }.serve(theirs).await.unwrap();
            act(Client { service, heard }).await;
        };
        let serving = server.serve(reader, writer, &self.stop);
        let (served, ()) = Box::pin(async { tokio::join!(serving, acts) }).await;
        if served.is_ok() {
            self.assert_sound();
        }
        served
    }

    pub(crate) fn assert_sound(&self) {
        let session = self.agent.session();
        let verdict = verify(session.header(), &session.events(), session.vocabulary());
        assert_eq!((verdict.problems, verdict.open_turn), (vec![], None));
    }

    /// The codes of the results in the log, or `ok`.
    pub(crate) fn codes(&self) -> Vec<String> {
        let results = self.events::<ToolResult>();
        let code =
            |result: ToolResult| result.error.map_or_else(|| "ok".to_owned(), |error| error.code.to_string());
        results.into_iter().map(code).collect()
    }

    pub(crate) fn events<P: dsh_session::Payload>(&self) -> Vec<P> {
        self.agent.session().events().iter().filter_map(|event| event.read::<P>()?.ok()).collect()
    }
}

impl Client {
    pub(crate) async fn begin(&self, name: &'static str, arguments: &Json) -> RequestHandle<RoleClient> {
        let arguments = serde_json::from_str(&arguments.to_text()).unwrap();
        let params = CallToolRequestParams::new(name).with_arguments(arguments);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        self.service.send_cancellable_request(request, PeerRequestOptions::no_options()).await.unwrap()
    }

    pub(crate) async fn call(&self, name: &'static str, arguments: Json) -> CallToolResult {
        result(self.begin(name, &arguments).await.await_response().await)
    }
}

pub(crate) fn result(answer: Result<ServerResult, ServiceError>) -> CallToolResult {
    let Ok(ServerResult::CallToolResult(result)) = answer else { panic!("{answer:?}") };
    result
}

/// The code of a result, or `ok`.
pub(crate) fn code(result: &CallToolResult) -> String {
    let Some(meta) = &result.meta else { return "ok".to_owned() };
    assert_eq!(result.is_error, Some(true));
    meta.0["dsh/error"]["code"].as_str().unwrap().to_owned()
}

pub(crate) fn text_of(result: &CallToolResult) -> &str {
    &result.content[0].as_text().unwrap().text
}

struct Declarations;

impl SdkText for Declarations {
    fn language(&self) -> &'static str {
        "typescript"
    }

    fn text(&self, _: Option<&Scope>) -> Result<Arc<str>, String> {
        Ok("The declarations.".into())
    }
}

/// Takes `ms`, unless it is stopped, and returns `value`.
pub(crate) struct Probe {
    parallel: bool,
    asks: bool,
}

impl Probe {
    pub(crate) fn tool(name: &str, parallel: bool, asks: bool) -> Definition {
        Self::giving(name, Schema::new(&object! { "type": "object" }).unwrap(), parallel, asks)
    }

    pub(crate) fn giving(name: &str, output: Schema, parallel: bool, asks: bool) -> Definition {
        let any = Schema::new(&object! { "type": "object" }).unwrap();
        Definition::raw(name, "A probe.", any, output, Self { parallel, asks }).unwrap()
    }
}

impl AnyTool for Probe {
    fn execute<'a>(&'a self, asked: &'a Json, cx: &'a RunContext) -> BoxFuture<'a, Result<Json, ToolError>> {
        Box::pin(async move {
            let ms = asked.get("ms").and_then(Json::as_u64).unwrap_or_default();
            tokio::select! {
                biased;
                () = cx.cancel().cancelled() => return Err(ToolError::aborted()),
                () = tokio::time::sleep(Duration::from_millis(ms)) => {}
            }
            Ok(asked.get("value").cloned().unwrap_or_else(|| object! { "ok": true }))
        })
    }

    fn render(&self, _: &Json, _: &Json) -> Result<Content, ToolError> {
        Ok(text("done"))
    }

    fn parallel(&self, _: &Json) -> bool {
        self.parallel
    }

    fn needs_approval(&self, _: &Execution) -> Result<Option<Arc<str>>, ToolError> {
        Ok(self.asks.then(|| "it is dangerous".into()))
    }
}

struct Programs(Tools);

impl Transport for Programs {
    fn definition(&self) -> Definition {
        let any = Schema::new(&object! { "type": "object" }).unwrap();
        let output = Schema::new(&object! { "type": "object" }).unwrap();
        Definition::raw(RUN_CODE, "Runs programs.", any, output, Program(self.0.clone())).unwrap()
    }

    fn ready(&self) -> Result<(), String> {
        Ok(())
    }

    fn route(&self, tool: &str) -> String {
        format!("call `{tool}` in a program")
    }
}

struct Program(Tools);

impl AnyTool for Program {
    fn execute<'a>(&'a self, asked: &'a Json, cx: &'a RunContext) -> BoxFuture<'a, Result<Json, ToolError>> {
        Box::pin(async move {
            let number = |name: &str| asked.get(name).and_then(Json::as_u64).unwrap_or_default();
            let execution = cx.execution();
            for n in 0..number("calls") {
                let id = format!("{}:{n}", execution.call_id);
                let input = CallInput {
                    root_call_id: Some(Arc::clone(&execution.root_call_id)),
                    agent: execution.agent.clone(),
                    parent: Some(execution.token),
                    cancel: cx.cancel().clone(),
                    ..CallInput::new(id, "p", object! { "ms": number("ms") })
                };
                self.0.execute(input).await;
            }
            Ok(object! {})
        })
    }

    fn render(&self, _: &Json, _: &Json) -> Result<Content, ToolError> {
        Ok(text("ran"))
    }
}

struct Store(Arc<AtomicBool>);

#[async_trait]
impl Sink for Store {
    fn write(&self, _: &Event) -> Result<(), SinkError> {
        if self.0.load(Ordering::SeqCst) {
            Err(SinkError::new(std::io::Error::other("the disk is full")))
        } else {
            Ok(())
        }
    }

    async fn flush(&self) -> Result<(), SinkError> {
        Ok(())
    }
}
