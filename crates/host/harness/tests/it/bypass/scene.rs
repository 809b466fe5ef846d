//! What an attempt is made on: a harness or a bare registry with three tools that count, a person, and what must hold after.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use dsh_agent::{AgentParts, TurnRunner};
use dsh_agent_loop::{AgentLoop, LoopConfig, LoopParts};
use dsh_harness::{
    Agent, CallTurn, Harness, HarnessBuilder, RequestedCall, Row, SessionChoice, row,
};
use dsh_lifecycle::{Cancel, Registration, Registrations, SeededIds, Slot, SteppingClock};
use dsh_permission_rules::{PermissionRules, RulesConfig};
use dsh_session::{Event, Header, Payload, Session, SessionSpec, Sink, ToolResult, Vocabulary};
use dsh_system_prompt::SystemPrompt;
use dsh_tools_core::{
    AnyTool, Approval, BoxFuture, CallToken, Content, Definition, Execution, Json, Presentation, RunContext,
    Schema, Scope, ToolError, Tools, object, text,
};
use dsh_user_approval::{Answerer, ApprovalAsked, ApprovalConfig, ApprovalDecided, Approvals};
use parking_lot::Mutex;
use serde::Deserialize;

use super::person::{Person, Said};
use crate::world::{World, config, verdict};

/// Denied by a rule.
pub(crate) const FORBIDDEN: &str = "forbidden";
/// Asked about by a rule.
pub(crate) const GUARDED: &str = "guarded";
/// Asks by itself.
pub(crate) const OWN: &str = "own";
/// The three.
pub(crate) const ALL: [&str; 3] = [FORBIDDEN, GUARDED, OWN];

/// Whether rules are in force, and the tool `own` asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rules {
    InForce,
    Absent,
}

/// What ran, what was granted, and how often somebody was asked.
#[derive(Default)]
pub(crate) struct Tally(Mutex<Counts>);

#[derive(Default)]
struct Counts {
    /// Each call once, however often its body was entered.
    runs: BTreeMap<u64, (Arc<str>, String)>,
    tokens: Vec<CallToken>,
    grants: Vec<(Arc<str>, String)>,
    asked: usize,
}

impl Tally {
    fn ran(&self, call: &Execution, tool: &str, arguments: &Json) {
        let mut counts = self.0.lock();
        if !counts.tokens.contains(&call.token) {
            counts.tokens.push(call.token);
            let number = counts.runs.len() as u64;
            counts.runs.insert(number, (tool.into(), arguments.canonical()));
        }
    }

    pub(crate) fn granted(&self, tool: &Arc<str>, arguments: &Json) {
        self.0.lock().grants.push((Arc::clone(tool), arguments.canonical()));
    }

    pub(crate) fn asked(&self) {
        self.0.lock().asked += 1;
    }

    pub(crate) fn questions(&self) -> usize {
        self.0.lock().asked
    }

    pub(crate) fn ran_any(&self) -> bool {
        !self.0.lock().runs.is_empty()
    }

    pub(crate) fn runs_of(&self, tool: &str) -> usize {
        self.0.lock().runs.values().filter(|(ran, _)| **ran == *tool).count()
    }

    /// Calls that ran and that nobody has granted.
    fn ungranted(&self) -> Vec<String> {
        let counts = self.0.lock();
        let of = |list: &[(Arc<str>, String)], call: &(Arc<str>, String)| {
            list.iter().filter(|held| *held == call).count()
        };
        let runs: Vec<_> = counts.runs.values().cloned().collect();
        let distinct: BTreeSet<_> = runs.iter().cloned().collect();
        let more = distinct.iter().filter(|call| of(&runs, call) > of(&counts.grants, call));
        more.map(|(tool, arguments)| format!("{tool} {}", shortened(arguments))).collect()
    }
}

fn shortened(text: &str) -> &str {
    text.get(..60).unwrap_or(text)
}

/// The registration of each tool, so that an attempt can take it away.
#[derive(Default, Clone)]
pub(crate) struct Shelf(Arc<Mutex<BTreeMap<&'static str, Registration>>>);

impl Shelf {
    pub(crate) fn take(&self, tool: &str) {
        let gone = self.0.lock().remove(tool);
        drop(gone);
    }
}

/// A tool that counts.
struct Counting {
    tally: Arc<Tally>,
    name: &'static str,
    asks: bool,
}

impl AnyTool for Counting {
    fn execute<'a>(&'a self, asked: &'a Json, cx: &'a RunContext) -> BoxFuture<'a, Result<Json, ToolError>> {
        Box::pin(async move {
            self.tally.ran(cx.execution(), self.name, asked);
            Ok(object! { "ran": true })
        })
    }

    fn render(&self, _: &Json, _: &Json) -> Result<Content, ToolError> {
        Ok(text("it ran"))
    }

    fn parallel(&self, _: &Json) -> bool {
        true
    }

    fn needs_approval(&self, _: &Execution) -> Result<Option<Arc<str>>, ToolError> {
        Ok(self.asks.then(|| "it says so itself".into()))
    }
}

/// How a scene is set up.
pub(crate) struct Setup {
    pub(crate) rules: Rules,
    pub(crate) world: Arc<World>,
    pub(crate) tally: Arc<Tally>,
    pub(crate) shelf: Shelf,
    config: String,
    isolation: &'static str,
    answerer: Option<Arc<dyn Answerer>>,
    build: Box<dyn FnOnce(HarnessBuilder) -> HarnessBuilder>,
    log: SessionChoice,
    sink: Option<Arc<dyn Sink>>,
}

impl Setup {
    /// The three tools, rules about them, programs on threads, and a person who says no.
    pub(crate) fn new(rules: Rules) -> Self {
        let tally = Arc::<Tally>::default();
        Self {
            rules,
            world: Arc::new(World::new()),
            answerer: Some(Person::new(&tally, []) as _),
            tally,
            shelf: Shelf::default(),
            config: String::new(),
            isolation: "thread",
            build: Box::new(|builder| builder),
            log: SessionChoice::Memory,
            sink: None,
        }
    }

    /// A later life of the same workspace.
    pub(crate) fn again(scene: &Scene) -> Self {
        let (world, tally) = (Arc::clone(&scene.world), Arc::clone(&scene.tally));
        Self { world, answerer: Some(Person::new(&tally, []) as _), tally, ..Self::new(scene.rules) }
    }

    /// What the person says, to one question after the other.
    pub(crate) fn says(self, script: impl IntoIterator<Item = Said>) -> Self {
        let answerer = Person::new(&self.tally, script);
        self.answered_by(answerer)
    }

    pub(crate) fn answered_by(self, answerer: Arc<dyn Answerer>) -> Self {
        Self { answerer: Some(answerer), ..self }
    }

    pub(crate) fn nobody(self) -> Self {
        Self { answerer: None, ..self }
    }

    /// More configuration.
    pub(crate) fn config(mut self, lines: &str) -> Self {
        let _ = writeln!(self.config, "{lines}");
        self
    }

    /// More of it where rules are in force.
    pub(crate) fn rule(self, lines: &str) -> Self {
        if self.rules == Rules::InForce { self.config(lines) } else { self }
    }

    pub(crate) fn built(
        mut self,
        build: impl FnOnce(HarnessBuilder) -> HarnessBuilder + 'static,
    ) -> Self {
        let before = std::mem::replace(&mut self.build, Box::new(|builder| builder));
        self.build = Box::new(|builder| build(before(builder)));
        self
    }

    pub(crate) fn mode(self, mode: Presentation) -> Self {
        self.built(move |builder| builder.mode(mode))
    }

    /// A plugin from outside, mounted behind all others.
    pub(crate) fn plugin(
        self,
        mount: impl Fn(&Tools) -> Registrations + Clone + Send + Sync + 'static,
    ) -> Self {
        let row = row("outsider", "a plugin from outside", move |_: Nothing, host| Ok(mount(&host.tools)));
        self.built(move |builder| builder.row(row))
    }

    pub(crate) fn isolated_in_processes(self) -> Self {
        Self { isolation: "process", ..self }
    }

    /// Where the log goes.
    pub(crate) fn log(self, name: &str) -> Self {
        let log = SessionChoice::File(self.world.path(name));
        Self { log, ..self }
    }

    pub(crate) fn sink(self, sink: Arc<dyn Sink>) -> Self {
        Self { sink: Some(sink), ..self }
    }

    fn deny_and_ask(&self) -> (Vec<String>, Vec<String>) {
        match self.rules {
            Rules::InForce => (vec![FORBIDDEN.to_owned()], vec![GUARDED.to_owned()]),
            Rules::Absent => (Vec::new(), Vec::new()),
        }
    }

    /// A whole harness.
    pub(crate) fn scene(mut self) -> Scene {
        let (deny, ask) = self.deny_and_ask();
        let isolation = format!("code-mode.isolation = '{}'", self.isolation);
        self = self.config(&isolation);
        if !self.config.contains("permission-rules.ask") {
            self = self.config(&format!("permission-rules.ask = {ask:?}"));
        }
        if !self.config.contains("permission-rules.deny") {
            self = self.config(&format!("permission-rules.deny = {deny:?}"));
        }
        let subject = subject(&self.tally, &self.shelf, self.rules);
        let builder = self.world.builder().config(config(&self.world.file("dsh.toml"), &self.config));
        let mut builder = (self.build)(builder).row(subject);
        if let Some(answerer) = self.answerer {
            builder = builder.answerer(answerer);
        }
        let harness = builder.build().unwrap();
        let host = harness.host();
        let session = match self.sink {
            Some(sink) => Session::create(spec(host.vocabulary(), Some(sink))),
            None => harness.open_session(&self.log).unwrap().session,
        };
        let agent = harness.agent(session);
        Scene {
            tools: host.tools.clone(),
            approvals: Approvals::clone(&host.approvals.get().unwrap()),
            turns: host.turns.get().unwrap(),
            harness: Some(harness),
            ..Scene::of(agent, self.rules, self.world, self.tally, self.shelf)
        }
    }

    /// A registry of its own, in which somebody was before the rules.
    pub(crate) fn behind(self, before: impl FnOnce(&Tools) -> Registrations) -> Scene {
        let (deny, ask) = self.deny_and_ask();
        let tools = Tools::new();
        let mut kept = before(&tools);
        let rules = RulesConfig { deny, ask, ..RulesConfig::default() };
        kept.append(PermissionRules::new(tools.clone(), rules).unwrap().register());
        let approvals = Approvals::new(Arc::new(SeededIds::new(2)), ApprovalConfig::default());
        kept.append(approvals.mount(&tools, &SystemPrompt::default()).unwrap());
        if let Some(answerer) = self.answerer {
            kept.push(approvals.answer_with(None, answerer));
        }
        kept.append(registered(&tools, &self.tally, &self.shelf, self.rules));
        let config = LoopConfig::default();
        let parts = AgentParts { inbox: config.inbox(), ..AgentParts::default() };
        let vocabulary = dsh_user_approval::declare(dsh_agent::declare(Vocabulary::core()).unwrap()).unwrap();
        let agent = Agent::with(Scope::root(), Session::create(spec(vocabulary, self.sink)), parts);
        let parts = LoopParts {
            tools: tools.clone(),
            prompt: SystemPrompt::default(),
            model: Slot::empty(),
            ids: Arc::new(SeededIds::new(1)),
        };
        let mut scene = Scene {
            tools,
            approvals,
            turns: Arc::new(AgentLoop::new(parts, config)),
            ..Scene::of(agent, self.rules, self.world, self.tally, self.shelf)
        };
        scene.kept.append(kept);
        scene
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

fn subject(tally: &Arc<Tally>, shelf: &Shelf, rules: Rules) -> Row {
    let (tally, shelf) = (Arc::clone(tally), shelf.clone());
    row("subject", "tools that count", move |_: Nothing, host| Ok(registered(&host.tools, &tally, &shelf, rules)))
}

fn registered(tools: &Tools, tally: &Arc<Tally>, shelf: &Shelf, rules: Rules) -> Registrations {
    for name in ALL {
        let held = tools.register(None, counting(tally, name, rules)).unwrap();
        shelf.0.lock().insert(name, held);
    }
    let shelf = shelf.clone();
    Registration::new(move || ALL.iter().for_each(|tool| shelf.take(tool))).into()
}

/// One of the tools.
pub(crate) fn counting(tally: &Arc<Tally>, name: &'static str, rules: Rules) -> Definition {
    let any = || Schema::object().open().build().unwrap();
    let asks = name == OWN && rules == Rules::InForce;
    let tool = Counting { tally: Arc::clone(tally), name, asks };
    Definition::raw(name, "Counts.", any(), any(), tool).unwrap()
}

fn spec(vocabulary: Vocabulary, sink: Option<Arc<dyn Sink>>) -> SessionSpec {
    SessionSpec {
        header: Header::new("attempt", 0).unwrap(),
        vocabulary: Arc::new(vocabulary),
        clock: Arc::new(SteppingClock::starting_at(0)),
        sink,
    }
}

/// What an attempt is made on, and what it expects.
pub(crate) struct Scene {
    pub(crate) rules: Rules,
    pub(crate) world: Arc<World>,
    pub(crate) tally: Arc<Tally>,
    pub(crate) shelf: Shelf,
    pub(crate) tools: Tools,
    pub(crate) approvals: Approvals,
    pub(crate) harness: Option<Harness>,
    pub(crate) agent: Agent,
    pub(crate) cancel: Cancel,
    pub(crate) kept: Registrations,
    pub(crate) turns: Arc<AgentLoop>,
    /// Sessions of earlier lives.
    pub(crate) before: Vec<Session>,
    allowed: BTreeMap<&'static str, usize>,
    forged: bool,
    faults: Vec<String>,
}

impl Scene {
    fn of(agent: Agent, rules: Rules, world: Arc<World>, tally: Arc<Tally>, shelf: Shelf) -> Self {
        let nobody = Arc::new(SeededIds::new(3));
        let parts = LoopParts {
            tools: Tools::new(),
            prompt: SystemPrompt::default(),
            model: Slot::empty(),
            ids: Arc::clone(&nobody) as _,
        };
        Self {
            rules,
            world,
            tally,
            shelf,
            tools: Tools::new(),
            approvals: Approvals::new(nobody, ApprovalConfig::default()),
            harness: None,
            agent,
            cancel: Cancel::new(),
            kept: Registrations::new(),
            turns: Arc::new(AgentLoop::new(parts, LoopConfig::default())),
            before: Vec::new(),
            allowed: BTreeMap::new(),
            forged: false,
            faults: Vec::new(),
        }
    }

    /// The same scene for another agent.
    pub(crate) fn acting(mut self, agent: Agent) -> Self {
        let before = std::mem::replace(&mut self.agent, agent);
        self.before.push(before.session().clone());
        self
    }

    /// An agent in this scope, with a session of its own.
    pub(crate) fn agent_in(&self, scope: Scope) -> Agent {
        let session = self.agent.session();
        let vocabulary = Vocabulary::clone(session.vocabulary());
        Agent::new(scope, Session::create(spec(vocabulary, None)))
    }

    /// This many calls of a tool run, because a person has granted each of them.
    pub(crate) fn allows(mut self, tool: &'static str, runs: usize) -> Self {
        self.allowed.insert(tool, runs);
        self
    }

    /// The attempt wrote into the log, which must show.
    pub(crate) fn forged(mut self) -> Self {
        self.forged = true;
        self
    }

    /// What must be so while the rules are in force.
    pub(crate) fn must(&mut self, holds: bool, what: impl Into<String>) {
        if !holds && self.rules == Rules::InForce {
            self.faults.push(what.into());
        }
    }

    /// Makes one call as a turn: `ok`, the code of its failure, or `error` for a failure that has none.
    pub(crate) async fn call(&self, tool: &str, arguments: &str) -> String {
        self.calls(&[(tool, arguments)]).await.pop().unwrap_or_default()
    }

    /// Calls each tool once, without arguments.
    pub(crate) async fn call_all(&self) -> Vec<String> {
        let mut ends = Vec::new();
        for tool in ALL {
            ends.push(self.call(tool, "{}").await);
        }
        ends
    }

    /// Makes calls as one turn.
    pub(crate) async fn calls(&self, calls: &[(&str, &str)]) -> Vec<String> {
        let from = self.agent.session().len();
        let made = |(tool, arguments): &(&str, &str)| RequestedCall {
            id: "c".into(),
            name: (*tool).into(),
            arguments: (*arguments).into(),
        };
        let calls = calls.iter().map(made).collect();
        let turn = CallTurn { origin: "test".into(), note: "An attempt.".into(), calls };
        let _ = match &self.harness {
            Some(harness) => harness.run_calls(&self.agent, turn, &self.cancel).await.is_ok(),
            None => self.turns.run_calls(&self.agent, turn, &self.cancel).await.is_ok(),
        };
        self.ends_since(from)
    }

    /// Runs a program.
    pub(crate) async fn program(&self, code: &str) -> String {
        let arguments = object! { "description": "Tries", "code": code }.to_text();
        self.call("run_code", &arguments).await
    }

    pub(crate) fn ends_since(&self, from: u64) -> Vec<String> {
        let events = self.agent.session().events_from(from);
        let results = events.iter().filter_map(|event| event.read::<ToolResult>()?.ok());
        let end = |result: ToolResult| match (&result.error, &*result.message.content) {
            (Some(error), _) => error.code.to_string(),
            (None, [dsh_llm::ContentBlock::ToolResult { is_error: true, .. }]) => "error".to_owned(),
            (None, _) => "ok".to_owned(),
        };
        results.map(end).collect()
    }

    /// What is wrong after the attempt.
    pub(crate) fn faults(self) -> Vec<String> {
        let mut faults = self.faults;
        for tool in ALL {
            let (runs, allowed) = (self.tally.runs_of(tool), self.allowed.get(tool).copied().unwrap_or_default());
            if runs != allowed {
                faults.push(format!("`{tool}` ran {runs} times, and {allowed} are allowed"));
            }
        }
        faults.extend(self.tally.ungranted().iter().map(|call| format!("ran without a grant: {call}")));
        for session in self.before.iter().chain([self.agent.session()]) {
            let verdict = verdict(session);
            let (problems, open) = (verdict.problems, verdict.open_turn);
            if self.forged == problems.is_empty() || open.is_some() {
                faults.push(format!("the log: {problems:?}, open turn {open:?}"));
            }
            let (asked, decided) = questions(session);
            if !self.forged && asked != decided {
                faults.push(format!("asked {asked:?}, decided {decided:?}"));
            }
        }
        faults
    }

    /// How the questions of the acting session ended.
    pub(crate) fn outcomes(&self) -> Vec<Approval> {
        read::<ApprovalDecided>(self.agent.session()).into_iter().map(|decided| decided.outcome).collect()
    }
}

/// The ids of questions and of decisions, sorted.
fn questions(session: &Session) -> (Vec<Arc<str>>, Vec<Arc<str>>) {
    let mut asked: Vec<_> = read::<ApprovalAsked>(session).into_iter().map(|asked| asked.id).collect();
    let mut decided: Vec<_> = read::<ApprovalDecided>(session).into_iter().map(|decided| decided.id).collect();
    asked.sort();
    decided.sort();
    (asked, decided)
}

pub(crate) fn read<P: Payload>(session: &Session) -> Vec<P> {
    let read = |event: &Arc<Event>| event.read::<P>()?.ok();
    session.events().iter().filter_map(read).collect()
}
