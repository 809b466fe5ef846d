//! Three tools that count, and what they have counted.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dsh_lifecycle::{Registration, Registrations};
use dsh_tools_core::{
    AnyTool, BoxFuture, CallToken, Content, Definition, Execution, Json, RunContext, Schema, ToolError,
    Tools, object, text,
};
use parking_lot::Mutex;

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

    /// Whether something ran whose arguments have this text.
    pub(crate) fn ran_with(&self, text: &str) -> bool {
        self.0.lock().runs.values().any(|(_, arguments)| arguments.contains(text))
    }

    /// Calls that ran and that nobody has granted.
    pub(crate) fn ungranted(&self) -> Vec<String> {
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

pub(crate) fn registered(tools: &Tools, tally: &Arc<Tally>, shelf: &Shelf, rules: Rules) -> Registrations {
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
