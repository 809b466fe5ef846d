//! How a scene is set up: a whole harness, or a bare registry in which somebody was before the rules.

use std::fmt::Write as _;
use std::sync::Arc;

use dsh_agent::AgentParts;
use dsh_agent_loop::{AgentLoop, LoopConfig, LoopParts};
use dsh_harness::{Agent, HarnessBuilder, Row, SessionChoice, row};
use dsh_lifecycle::{Registrations, SeededIds, Slot, SteppingClock};
use dsh_permission_rules::{PermissionRules, RulesConfig};
use dsh_session::{Header, Session, SessionSpec, Sink, Vocabulary};
use dsh_system_prompt::SystemPrompt;
use dsh_tools_core::{Presentation, Scope, Tools};
use dsh_user_approval::{Answerer, ApprovalConfig, Approvals};
use serde::Deserialize;

use super::person::{Person, Said};
use super::scene::{Scene, Works};
use super::tally::{FORBIDDEN, GUARDED, Rules, Shelf, Tally, registered};
use crate::world::{World, config};

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

    pub(crate) fn built(mut self, build: impl FnOnce(HarnessBuilder) -> HarnessBuilder + 'static) -> Self {
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
        let works = Works {
            tools: host.tools.clone(),
            approvals: Approvals::clone(&host.approvals.get().unwrap()),
            turns: host.turns.get().unwrap(),
            harness: Some(harness),
            kept: Registrations::new(),
        };
        Scene::of(agent, works, self.rules, self.world, self.tally, self.shelf)
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
        let turns = Arc::new(AgentLoop::new(parts, config));
        let works = Works { tools, approvals, turns, harness: None, kept };
        Scene::of(agent, works, self.rules, self.world, self.tally, self.shelf)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

fn subject(tally: &Arc<Tally>, shelf: &Shelf, rules: Rules) -> Row {
    let (tally, shelf) = (Arc::clone(tally), shelf.clone());
    row("subject", "tools that count", move |_: Nothing, host| {
        Ok(registered(&host.tools, &tally, &shelf, rules))
    })
}

pub(crate) fn spec(vocabulary: Vocabulary, sink: Option<Arc<dyn Sink>>) -> SessionSpec {
    SessionSpec {
        header: Header::new("attempt", 0).unwrap(),
        vocabulary: Arc::new(vocabulary),
        clock: Arc::new(SteppingClock::starting_at(0)),
        sink,
    }
}
