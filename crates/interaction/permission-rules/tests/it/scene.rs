//! Tools, an agent, somebody who answers, and rules.

use std::sync::Arc;

use dsh_agent::Agent;
use dsh_lifecycle::{Registration, Registrations, SteppingClock};
use dsh_permission_rules::{PermissionRules, RulesConfig};
use dsh_session::{Header, Session, SessionSpec, Vocabulary};
use dsh_tools_core::{
    AnyTool, Approval, ApprovalRequest, Approver, BoxFuture, CallInput, Content, Definition, Execution, Json,
    Layer, Next, PreDecision, RunContext, Schema, Scope, ToolError, ToolResult, Tools, async_trait, object,
    plain_text, text,
};
use parking_lot::Mutex;

pub(crate) type Notes = Arc<Mutex<Vec<String>>>;

pub(crate) struct Scene {
    pub(crate) tools: Tools,
    pub(crate) agent: Agent,
    pub(crate) notes: Notes,
    pub(crate) kept: Registrations,
}

/// Notes that it ran.
struct Body {
    notes: Notes,
    name: &'static str,
    needs: Option<&'static str>,
}

impl AnyTool for Body {
    fn execute<'a>(&'a self, _: &'a Json, _: &'a RunContext) -> BoxFuture<'a, Result<Json, ToolError>> {
        Box::pin(async move {
            self.notes.lock().push(format!("{} ran", self.name));
            Ok(object! {})
        })
    }

    fn render(&self, _: &Json, _: &Json) -> Result<Content, ToolError> {
        Ok(text("done"))
    }

    fn needs_approval(&self, _: &Execution) -> Result<Option<Arc<str>>, ToolError> {
        Ok(self.needs.map(Arc::from))
    }
}

/// Calls the tool that its argument names, as a program would; its value is what that one answered.
pub(crate) struct Program(pub(crate) Tools);

impl AnyTool for Program {
    fn execute<'a>(
        &'a self,
        arguments: &'a Json,
        cx: &'a RunContext,
    ) -> BoxFuture<'a, Result<Json, ToolError>> {
        Box::pin(async move {
            let (agent, parent) = (cx.execution().agent.clone(), Some(cx.execution().token));
            let name = arguments.get("tool").and_then(Json::as_str).unwrap();
            let input = CallInput { agent, parent, ..CallInput::new("nested", name, object! {}) };
            Ok(object! { "told": told(&self.0.execute(input).await) })
        })
    }

    fn render(&self, _: &Json, value: &Json) -> Result<Content, ToolError> {
        Ok(text(value.get("told").and_then(Json::as_str).unwrap()))
    }
}

/// What a person does who is asked.
#[derive(Clone, Copy)]
pub(crate) enum Person {
    Says(Approval),
    Fails,
    Panics,
}

struct Answers(Notes, Person);

#[async_trait]
#[expect(clippy::panic, reason = "a person whose answer is a panic")]
impl Approver for Answers {
    async fn ask(&self, request: ApprovalRequest<'_>) -> Result<Approval, ToolError> {
        self.0.lock().push(format!("asked: {} ({})", request.execution.name, request.reason.unwrap_or("-")));
        match self.1 {
            Person::Says(approval) => Ok(approval),
            Person::Fails => Err(ToolError::plain("the line is dead")),
            Person::Panics => panic!("on purpose"),
        }
    }
}

/// A listener that answers, after the rest or without it.
pub(crate) struct Says {
    pub(crate) decision: PreDecision,
    pub(crate) asks_the_rest: bool,
}

#[async_trait]
impl Layer<Execution, PreDecision> for Says {
    async fn call(
        &self,
        cx: &Execution,
        next: Next<'_, Execution, PreDecision>,
    ) -> Result<PreDecision, ToolError> {
        if self.asks_the_rest {
            next.run(cx).await?;
        }
        Ok(self.decision.clone())
    }
}

pub(crate) fn without_the_rest(decision: PreDecision) -> Arc<Says> {
    Arc::new(Says { decision, asks_the_rest: false })
}

pub(crate) fn rules(tools: &Tools, config: &str) -> Registrations {
    let config = Json::parse(config).unwrap().read::<RulesConfig>().unwrap();
    PermissionRules::new(tools.clone(), config).unwrap().register()
}

impl Scene {
    /// The tools `bash`, `read`, `own`, which asks by itself, and `program`; no rules, and nobody to ask.
    pub(crate) fn bare() -> Self {
        let session = Session::create(SessionSpec {
            header: Header::new("s", 0).unwrap(),
            vocabulary: Arc::new(dsh_agent::declare(Vocabulary::core()).unwrap()),
            clock: Arc::new(SteppingClock::starting_at(0)),
            sink: None,
        });
        let agent = Agent::new(Scope::root(), session);
        let mut scene =
            Self { tools: Tools::new(), agent, notes: Notes::default(), kept: Registrations::new() };
        for (name, needs) in [("bash", None), ("read", None), ("own", Some("it says so itself"))] {
            let tool = scene.tool(name, needs);
            scene.kept.push(scene.tools.register(None, tool).unwrap());
        }
        let any = || Schema::object().open().build().unwrap();
        let program = Program(scene.tools.clone());
        let program = Definition::raw("program", "Calls.", any(), any(), program).unwrap();
        scene.kept.push(scene.tools.register(None, program).unwrap());
        scene
    }

    /// With these rules, and this person.
    pub(crate) fn new(config: &str, person: Option<Person>) -> Self {
        let mut scene = Self::bare();
        scene.kept.append(rules(&scene.tools, config));
        if let Some(person) = person {
            let answers = Answers(Arc::clone(&scene.notes), person);
            scene.kept.push(scene.tools.approver().provide(Arc::new(answers)).unwrap());
        }
        scene
    }

    pub(crate) fn tool(&self, name: &'static str, needs: Option<&'static str>) -> Definition {
        let any = || Schema::object().open().build().unwrap();
        let body = Body { notes: Arc::clone(&self.notes), name, needs };
        Definition::raw(name, "Does nothing.", any(), any(), body).unwrap()
    }

    /// A listener outside of the rules.
    pub(crate) fn behind(config: &str, person: Option<Person>, outer: PreDecision) -> Self {
        let mut scene = Self::bare();
        scene.kept.push(scene.tools.on_pre_execute(None, without_the_rest(outer)));
        scene.kept.append(rules(&scene.tools, config));
        if let Some(person) = person {
            let answers = Answers(Arc::clone(&scene.notes), person);
            scene.kept.push(scene.tools.approver().provide(Arc::new(answers)).unwrap());
        }
        scene
    }

    pub(crate) fn keep(&mut self, registration: Registration) {
        self.kept.push(registration);
    }

    pub(crate) async fn execute(&self, input: CallInput) -> String {
        told(&self.tools.execute(CallInput { agent: Some(self.agent.clone()), ..input }).await)
    }

    /// Calls a tool directly.
    pub(crate) async fn call(&self, name: &str) -> String {
        self.execute(CallInput::new("c", name, object! {})).await
    }

    /// Calls a tool from a program.
    pub(crate) async fn nested(&self, name: &str) -> String {
        self.execute(CallInput::new("c", "program", object! { "tool": name })).await
    }

    /// What happened since it was looked at last.
    pub(crate) fn noted(&self) -> Vec<String> {
        std::mem::take(&mut *self.notes.lock())
    }
}

/// The code of a failure, and the text.
pub(crate) fn told(result: &Arc<ToolResult>) -> String {
    let code = result.error().map(|error| error.info.as_ref().map_or("-", |info| &*info.code).to_owned());
    let text = plain_text(&result.content);
    code.map_or_else(|| text.clone(), |code| format!("{code} {text}"))
}
