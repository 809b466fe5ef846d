//! Tools, agents, and a reminder that listens.

use std::sync::Arc;

use dsh_agent::{Agent, AgentParts, Entry, Hooks, StepContext, Target};
use dsh_json::{Json, object};
use dsh_json_schema::Schema;
use dsh_lifecycle::{Cancel, Registrations, SeededIds, SteppingClock};
use dsh_llm::{Message, Role, Source, plain_text, text};
use dsh_repeat_reminder::{PLUGIN, RepeatConfig, RepeatReminder};
use dsh_scope::Scope;
use dsh_session::{CodedError, Header, Session, SessionSpec, ToolCall, Vocabulary};
use dsh_tools_core::{
    AnyTool, Arguments, BoxFuture, CallInput, Content, ContentBlock, Definition, DispatchStarted, Execution,
    Guard, JsonLimits, Prepared, RunContext, ToolError, ToolResult, Tools,
};
use parking_lot::Mutex;

pub(crate) struct Scene {
    weather: Arc<Mutex<String>>,
    pub(crate) tools: Tools,
    pub(crate) hooks: Hooks,
    pub(crate) kept: Registrations,
}

/// Gives back what it was given, or fails.
struct Echo;

impl AnyTool for Echo {
    fn execute<'a>(
        &'a self,
        arguments: &'a Json,
        _: &'a RunContext,
    ) -> BoxFuture<'a, Result<Json, ToolError>> {
        Box::pin(async move {
            match arguments.get("fail") {
                Some(_) => Err(ToolError::plain("as you wish")),
                None => Ok(arguments.clone()),
            }
        })
    }

    fn render(&self, _: &Json, _: &Json) -> Result<Content, ToolError> {
        Ok(text("done"))
    }
}

/// Gives what is in the sky; a word that begins with `fails` is its failure.
struct Weather(Arc<Mutex<String>>);

impl AnyTool for Weather {
    fn execute<'a>(&'a self, _: &'a Json, _: &'a RunContext) -> BoxFuture<'a, Result<Json, ToolError>> {
        let sky = self.0.lock().clone();
        let fails = sky.starts_with("fails");
        Box::pin(async move { if fails { Err(ToolError::plain(sky)) } else { Ok(object! { "sky": sky }) } })
    }

    fn render(&self, _: &Json, value: &Json) -> Result<Content, ToolError> {
        Ok(text(value.to_text()))
    }
}

/// Calls `other` with the same arguments each time, as a program would, and logs that; its value says whether a reminder came
/// with it.
struct Program(Tools);

impl AnyTool for Program {
    fn execute<'a>(&'a self, _: &'a Json, cx: &'a RunContext) -> BoxFuture<'a, Result<Json, ToolError>> {
        Box::pin(async move {
            let program = cx.execution();
            let session = program.agent.as_ref().unwrap().session();
            let started = DispatchStarted {
                root_call_id: Arc::clone(&program.call_id),
                parent_call_id: Arc::clone(&program.call_id),
                sub_call_id: format!("{}:{}", program.call_id, session.len()).into(),
                name: "other".into(),
                arguments: object! { "q": 1 },
            };
            session.append(&started).unwrap();
            let (agent, parent) = (program.agent.clone(), Some(program.token));
            let input = CallInput { agent, parent, ..CallInput::new("c", "other", object! { "q": 1 }) };
            let result = self.0.execute(input).await;
            session.append(&started.settled(result.is_error(), Arc::clone(&result.content))).unwrap();
            Ok(object! { "reminded": said(&result).is_some() })
        })
    }

    fn render(&self, _: &Json, _: &Json) -> Result<Content, ToolError> {
        Ok(text("done"))
    }
}

pub(crate) fn tool(name: &str) -> Definition {
    let any = || Schema::object().open().build().unwrap();
    Definition::raw(name, "Gives back what it is given.", any(), any(), Echo).unwrap()
}

/// Denies one tool.
struct Never(&'static str);

impl Guard for Never {
    fn check(&self, call: &Execution) -> Option<String> {
        (*call.name == *self.0).then(|| "never".to_owned())
    }
}

impl Scene {
    /// Tools `probe`, `other`, `forbidden`, `weather`, and `status`, which polls; and a reminder with this configuration.
    pub(crate) fn new(config: &str) -> Self {
        let (tools, hooks, mut kept) = (Tools::new(), Hooks::default(), Registrations::new());
        for name in ["probe", "other", "forbidden"] {
            kept.push(tools.register(None, tool(name)).unwrap());
        }
        let any = || Schema::object().open().build().unwrap();
        let program = Definition::raw("program", "Calls.", any(), any(), Program(tools.clone())).unwrap();
        kept.push(tools.register(None, program).unwrap());
        let weather = Arc::<Mutex<String>>::default();
        let sky = Definition::raw("weather", "Looks.", any(), any(), Weather(Arc::clone(&weather))).unwrap();
        kept.push(tools.register(None, sky).unwrap());
        kept.push(tools.register(None, tool("status").polling()).unwrap());
        kept.push(tools.guard(None, Arc::new(Never("forbidden"))));
        let config = Json::parse(config).unwrap().read::<RepeatConfig>().unwrap();
        let reminder = RepeatReminder::new(tools.clone(), Arc::new(SeededIds::new(1)), config).unwrap();
        kept.append(reminder.register(&hooks));
        Self { weather, tools, hooks, kept }
    }

    /// What `weather` gives from now on.
    pub(crate) fn gives(&self, sky: &str) {
        sky.clone_into(&mut self.weather.lock());
    }

    pub(crate) fn agent(&self) -> Agent {
        self.agent_of(Session::create(spec()))
    }

    pub(crate) fn agent_of(&self, session: Session) -> Agent {
        let parts = AgentParts { hooks: self.hooks.clone(), ..AgentParts::default() };
        Agent::with(Scope::root(), session, parts)
    }

    pub(crate) async fn call(&self, agent: &Agent, name: &str, arguments: Json) -> Arc<ToolResult> {
        self.tools
            .execute(CallInput { agent: Some(agent.clone()), ..CallInput::new("c", name, arguments) })
            .await
    }

    /// Calls and logs it, as a loop does that takes arguments of 64 bytes. What came of it: the code of a failure, the value, and the reminder.
    pub(crate) async fn logged(&self, agent: &Agent, name: &str, arguments: &str) -> String {
        let session = agent.session();
        let id: Arc<str> = format!("c{}", session.len()).into();
        let call = ToolCall { turn: 1, step: 1, call_id: id, name: name.into(), arguments: arguments.into() };
        let seq = session.append(&call).unwrap().seq;
        let limits = JsonLimits { max_bytes: 64, ..JsonLimits::default() };
        let arguments = Arguments::parse(arguments, &limits);
        let input =
            CallInput { agent: Some(agent.clone()), ..CallInput::new(call.call_id.clone(), name, arguments) };
        let settled = match self.tools.prepare(input).await {
            Prepared::Ready(ready) => self.tools.dispatch(ready).await,
            Prepared::Settled(settled) => settled,
        };
        let finished = self.tools.finish(settled).await;
        session.append_from(&logged_result(&call.call_id, finished.result()), &[seq]).unwrap();
        let result = finished.publish();
        let code = result.error().map(|error| error.code().unwrap_or_default().to_owned());
        format!("{code:?} {:?} {:?}", result.value(), said(&result).or_else(|| waits(agent)))
    }

    /// Calls again and again; the numbers of the calls with which a reminder came.
    pub(crate) async fn reminded(&self, agent: &Agent, name: &str, times: usize) -> Vec<usize> {
        let mut with = Vec::new();
        for number in 1..=times {
            let result = self.call(agent, name, object! { "a": 1 }).await;
            if said(&result).is_some() || waits(agent).is_some() {
                with.push(number);
            }
        }
        with
    }

    /// Proposes a step that says this.
    pub(crate) async fn step(&self, agent: &Agent, source: Source) {
        let (cancel, id) = (Cancel::new(), "m".into());
        let step = StepContext { agent, turn: 1, step: 1, cancel: &cancel };
        let said = Message { id, role: Role::User, content: text("go on"), source };
        let entry = self.hooks.pre_step(&step, vec![said.clone()]).await.unwrap();
        assert_eq!(entry, Entry::Enter(vec![said]), "it changes nothing");
    }
}

fn spec() -> SessionSpec {
    SessionSpec {
        header: Header::new("s", 0).unwrap(),
        vocabulary: Arc::new(dsh_agent::declare(Vocabulary::core()).unwrap()),
        clock: Arc::new(SteppingClock::starting_at(0)),
        sink: None,
    }
}

/// The same session in a later life.
pub(crate) fn resumed(session: &Session) -> Session {
    let events = session.events().iter().map(|event| (**event).clone()).collect();
    Session::resume(spec(), events).unwrap()
}

/// A session that begins with what another one has.
pub(crate) fn forked(session: &Session) -> Session {
    let (header, events) = session.fork(None).unwrap().into_child(Header::new("child", 0).unwrap());
    Session::resume(SessionSpec { header, ..spec() }, events).unwrap()
}

pub(crate) fn logged_result(id: &Arc<str>, result: &ToolResult) -> dsh_session::ToolResult {
    let info = result.error().and_then(|error| error.info.as_ref());
    let error = info.map(|info| CodedError { name: (&*info.name).into(), code: (&*info.code).into() });
    let block = ContentBlock::ToolResult {
        tool_call_id: Arc::clone(id),
        content: Arc::clone(&result.content),
        is_error: result.is_error(),
    };
    let source = Source::Tool { call_id: Arc::clone(id) };
    let message =
        Message { id: format!("r-{id}").into(), role: Role::User, content: Arc::from([block]), source };
    dsh_session::ToolResult { turn: 1, step: 1, message, error, meta: None }
}

/// The reminder that rides on a result.
pub(crate) fn said(result: &Arc<ToolResult>) -> Option<String> {
    let mut ours = result.contexts.iter().filter(|context| &*context.plugin == PLUGIN);
    let context = ours.next()?;
    assert_eq!(context.form.as_deref(), Some("notice"));
    assert!(ours.next().is_none());
    Some(plain_text(&context.content))
}

/// A reminder that waits for the next step by itself; it is taken.
pub(crate) fn waits(agent: &Agent) -> Option<String> {
    let message = agent.inbox().messages(Target::NextStep).into_iter().next()?;
    assert_eq!(message.source, Source::plugin_form(PLUGIN, "notice"));
    agent.inbox().retract(&message.id).unwrap();
    Some(plain_text(&message.content))
}
