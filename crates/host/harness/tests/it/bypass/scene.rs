//! What an attempt is made on, and what must hold after it.

use std::collections::BTreeMap;
use std::sync::Arc;

use dsh_agent::TurnRunner;
use dsh_agent_loop::AgentLoop;
use dsh_harness::{Agent, CallTurn, Harness, RequestedCall};
use dsh_lifecycle::{Cancel, Registrations};
use dsh_session::{Event, Payload, Session, ToolResult, Vocabulary};
use dsh_tools_core::{Approval, Scope, Tools, object};
use dsh_user_approval::{ApprovalAsked, ApprovalDecided, Approvals};

use super::setup::spec;
use super::tally::{ALL, Rules, Shelf, Tally};
use crate::world::{World, verdict};

/// What makes calls.
pub(crate) struct Works {
    pub(crate) tools: Tools,
    pub(crate) approvals: Approvals,
    pub(crate) turns: Arc<AgentLoop>,
    pub(crate) harness: Option<Harness>,
    pub(crate) kept: Registrations,
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
    pub(crate) fn of(
        agent: Agent,
        works: Works,
        rules: Rules,
        world: Arc<World>,
        tally: Arc<Tally>,
        shelf: Shelf,
    ) -> Self {
        let Works { tools, approvals, turns, harness, kept } = works;
        Self {
            rules,
            world,
            tally,
            shelf,
            tools,
            approvals,
            harness,
            agent,
            cancel: Cancel::new(),
            kept,
            turns,
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
            let (runs, allowed) =
                (self.tally.runs_of(tool), self.allowed.get(tool).copied().unwrap_or_default());
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
    let mut decided: Vec<_> =
        read::<ApprovalDecided>(session).into_iter().map(|decided| decided.id).collect();
    asked.sort();
    decided.sort();
    (asked, decided)
}

pub(crate) fn read<P: Payload>(session: &Session) -> Vec<P> {
    let read = |event: &Arc<Event>| event.read::<P>()?.ok();
    session.events().iter().filter_map(read).collect()
}
