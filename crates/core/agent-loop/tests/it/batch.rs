//! A batch of calls as the recorded vectors describe it, run as one step: what starts, ends and is logged, and when.

use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::Arc;

use async_trait::async_trait;
use dsh_agent::{Agent, CallTurn, RequestedCall, TurnRunner};
use dsh_agent_loop::{AgentLoop, LoopConfig, LoopParts};
use dsh_json::{Json, Object, object};
use dsh_json_schema::Schema;
use dsh_lifecycle::{Cancel, Cause, SeededIds, Slot};
use dsh_scope::Scope;
use dsh_session::{Event, Session, SessionObserver, ToolCall, ToolResult as LoggedResult};
use dsh_system_prompt::SystemPrompt;
use dsh_tools_core::{
    AnyTool, Content, Definition, Execution, Layer, Next, Observer, Post, PostDecision, PreDecision,
    RunContext, ToolError, ToolResult, Tools, text,
};
use futures_util::future::BoxFuture;
use parking_lot::Mutex;

use crate::clock::VirtualClock;

/// The input of a vector of the kind `scheduler`.
#[derive(Debug, Clone)]
pub(crate) struct Batch {
    pub(crate) cap: usize,
    pub(crate) calls: Vec<Call>,
    pub(crate) abort_at: Option<Abort>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Abort {
    BeforeTheStep,
    At(u64),
}

#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "the fields of a recorded call")]
pub(crate) struct Call {
    pub(crate) tool: String,
    pub(crate) ms: u64,
    pub(crate) throws: bool,
    pub(crate) bad_output: bool,
    pub(crate) conclude: bool,
    pub(crate) cooperative: bool,
    pub(crate) safe: bool,
    pub(crate) raw_arguments: Option<String>,
    pub(crate) denied: bool,
    pub(crate) pre_ms: u64,
    pub(crate) post_ms: u64,
}

impl Batch {
    /// Reads the input of a vector. A field that it does not know is refused.
    pub(crate) fn of(input: &Json) -> Self {
        let known = ["max_parallel", "calls", "abort_at", "deny", "pre_ms", "post_ms"];
        assert_known(input, &known);
        let listed = input.get("deny").and_then(Json::as_array).unwrap_or_default();
        let denied: BTreeSet<_> = listed.iter().filter_map(Json::as_u64).collect();
        let delay = |stage: &str, index: usize| {
            input.get(stage).and_then(|delays| delays.get(&index.to_string())?.as_u64()).unwrap_or(0)
        };
        let rows = input.get("calls").and_then(Json::as_array).unwrap().iter().enumerate();
        let calls = rows.map(|(index, row)| Call {
            denied: denied.contains(&(index as u64)),
            pre_ms: delay("pre_ms", index),
            post_ms: delay("post_ms", index),
            ..Call::of(row)
        });
        Self {
            cap: usize::try_from(input.get("max_parallel").and_then(Json::as_u64).unwrap()).unwrap(),
            calls: calls.collect(),
            abort_at: input.get("abort_at").map(|at| at.as_u64().map_or(Abort::BeforeTheStep, Abort::At)),
        }
    }
}

impl Call {
    fn of(row: &Json) -> Self {
        let known =
            ["tool", "ms", "throws", "bad_output", "conclude", "cooperative", "safe", "raw_arguments"];
        assert_known(row, &known);
        let flag = |name: &str| row.get(name).and_then(Json::as_bool).unwrap_or(false);
        let text = |name: &str| row.get(name).and_then(Json::as_str).map(str::to_owned);
        Self {
            tool: text("tool").unwrap(),
            ms: row.get("ms").and_then(Json::as_u64).unwrap(),
            throws: text("throws").is_some() || flag("throws"),
            bad_output: flag("bad_output"),
            conclude: flag("conclude"),
            cooperative: flag("cooperative"),
            safe: flag("safe"),
            raw_arguments: text("raw_arguments"),
            ..Self::default()
        }
    }

    pub(crate) fn arguments(&self, index: usize) -> String {
        self.raw_arguments.clone().unwrap_or_else(|| {
            let mut arguments = Object::new();
            arguments.insert("i", index as u64);
            if self.safe {
                arguments.insert("safe", true);
            }
            Json::from(arguments).to_text()
        })
    }
}

impl Call {
    pub(crate) fn is_malformed(&self) -> bool {
        let raw = self.raw_arguments.as_deref().unwrap_or("{}");
        !raw.is_empty() && Json::parse(raw).is_err()
    }

    /// Whether its arguments are what the tools take.
    pub(crate) fn fits(&self) -> bool {
        let raw = self.arguments(0);
        let arguments = if raw.is_empty() { Ok(object! {}) } else { Json::parse(&raw) };
        arguments.is_ok_and(|arguments| parameters().is_valid(&arguments))
    }

    pub(crate) fn is_parallel(&self) -> bool {
        self.fits() && (self.tool == "p" || self.tool == "arg" && self.safe && self.raw_arguments.is_none())
    }
}

fn assert_known(json: &Json, known: &[&str]) {
    for name in json.as_object().unwrap().keys() {
        assert!(known.contains(&&**name), "unknown field `{name}` in {json}");
    }
}

/// What all tools of the vectors take.
pub(crate) fn parameters() -> Schema {
    Schema::params().required("i", Schema::integer()).optional("safe", Schema::boolean()).build().unwrap()
}

/// What happened to a batch, and the session that holds it.
pub(crate) struct Ran {
    pub(crate) output: Json,
    pub(crate) session: Session,
}

/// Runs a batch in virtual time.
pub(crate) fn run(batch: &Batch) -> Ran {
    let clock = VirtualClock::default();
    clock.run(run_under(&clock, batch))
}

async fn run_under(clock: &VirtualClock, batch: &Batch) -> Ran {
    let cancel = Cancel::new();
    let stage = Arc::new(Stage {
        clock: clock.clone(),
        batch: batch.clone(),
        cancel: cancel.clone(),
        seen: Mutex::default(),
    });
    let tools = Tools::new();
    for name in ["p", "x", "arg", "bad"] {
        let tool = Recorded { kind: name, stage: Arc::clone(&stage), parameters: parameters() };
        let definition =
            Definition::raw(name, "A probe.", parameters(), Schema::string().build().unwrap(), tool).unwrap();
        tools.register(None, definition).unwrap().keep();
    }
    tools.on_pre_execute(None, Arc::<Stage>::clone(&stage)).keep();
    tools.on_post_execute(None, Arc::<Stage>::clone(&stage)).keep();
    tools.on_result(None, Arc::<Stage>::clone(&stage)).keep();
    let session = Session::create(crate::kit::spec(None));
    session.observe(Arc::<Stage>::clone(&stage)).keep();

    let parts = LoopParts {
        tools,
        prompt: SystemPrompt::default(),
        model: Slot::empty(),
        ids: Arc::new(SeededIds::new(1)),
    };
    let config =
        LoopConfig { max_parallel_tool_calls: batch.cap.try_into().unwrap(), ..LoopConfig::default() };
    let (turns, agent) = (AgentLoop::new(parts, config), Agent::new(Scope::root(), session.clone()));
    let abort = async {
        match batch.abort_at {
            None => std::future::pending().await,
            Some(Abort::BeforeTheStep) => cancel.cancel(Cause::User),
            Some(Abort::At(ms)) => {
                clock.sleep(ms).await;
                stage.see_body("abort", None);
                cancel.cancel(Cause::User);
            }
        }
    };
    let mut turn = pin!(turns.run_calls(&agent, asked(batch), &cancel));
    let ended = tokio::select! {
        biased;
        () = abort => turn.await,
        ended = &mut turn => ended,
    };
    ended.unwrap();
    Ran { output: stage.output(), session }
}

fn asked(batch: &Batch) -> CallTurn {
    let call = |(index, call): (usize, &Call)| RequestedCall {
        id: format!("c{index}").into(),
        name: call.tool.as_str().into(),
        arguments: call.arguments(index).into(),
    };
    let calls = batch.calls.iter().enumerate().map(call).collect();
    CallTurn { origin: "vectors".into(), note: "A batch.".into(), calls }
}

/// Everybody who takes part: the listeners, the bodies, and those who see what happens.
struct Stage {
    clock: VirtualClock,
    batch: Batch,
    /// The turn's. Who waits for the same one hears it in order, as the vectors have it; children hear it in any.
    cancel: Cancel,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    trace: Vec<Json>,
    running: u64,
    max_overlap: u64,
    concluded: bool,
}

fn index(call_id: &str) -> usize {
    call_id.trim_start_matches('c').parse().unwrap()
}

impl Stage {
    fn call(&self, call_id: &str) -> &Call {
        &self.batch.calls[index(call_id)]
    }

    /// No time is no timer.
    async fn pause(&self, ms: u64) {
        if ms > 0 {
            self.clock.sleep(ms).await;
        }
    }

    /// Takes a body's time. Whether it listened to a cancellation instead.
    async fn work(&self, call: &Call, cancel: &Cancel) -> bool {
        let heard = async {
            if !call.cooperative {
                std::future::pending::<()>().await;
            }
            self.cancel.cancelled().await;
            assert!(cancel.is_cancelled(), "the call's own cancellation has heard it, too");
        };
        tokio::select! {
            biased;
            () = heard => true,
            () = self.pause(call.ms) => false,
        }
    }

    fn row(&self, event: &str, call: Option<usize>) -> Object {
        let mut row = Object::new();
        row.insert("t", self.clock.now());
        row.insert("ev", event);
        if let Some(call) = call {
            row.insert("call", call as u64);
        }
        row
    }

    fn see_body(&self, event: &str, call: Option<usize>) {
        let row = self.row(event, call);
        self.seen.lock().trace.push(row.into());
    }

    fn output(&self) -> Json {
        let seen = self.seen.lock();
        object! {
            "concluded": seen.concluded,
            "max_overlap": seen.max_overlap,
            "finished_at": self.clock.now(),
            "trace": seen.trace.iter().cloned().collect::<Json>(),
        }
    }
}

#[async_trait]
impl Layer<Execution, PreDecision> for Stage {
    async fn call(
        &self,
        cx: &Execution,
        next: Next<'_, Execution, PreDecision>,
    ) -> Result<PreDecision, ToolError> {
        let call = self.call(&cx.call_id);
        self.pause(call.pre_ms).await;
        if call.denied { Ok(PreDecision::Deny("denied".to_owned())) } else { next.run(cx).await }
    }
}

#[async_trait]
impl Layer<Post, PostDecision> for Stage {
    async fn call(&self, cx: &Post, next: Next<'_, Post, PostDecision>) -> Result<PostDecision, ToolError> {
        self.pause(self.call(&cx.execution.call_id).post_ms).await;
        next.run(cx).await
    }
}

impl Observer for Stage {
    fn result(&self, _: &Arc<Execution>, result: &Arc<ToolResult>) {
        self.seen.lock().concluded |= result.concludes_turn();
    }
}

impl SessionObserver for Stage {
    fn appended(&self, event: &Arc<Event>) {
        let row = if let Some(call) = event.read::<ToolCall>() {
            self.row("tool/call", Some(index(&call.unwrap().call_id)))
        } else if let Some(result) = event.read::<LoggedResult>() {
            let result = result.unwrap();
            let mut row = self.row("tool/result", Some(index(result.call_id().unwrap())));
            let block = result.message.content[0].to_json();
            row.insert("isError", block.get("isError").cloned().unwrap());
            if let Some(error) = &result.error {
                row.insert("code", Arc::clone(&error.code));
            }
            row
        } else {
            return;
        };
        self.seen.lock().trace.push(row.into());
    }
}

struct Recorded {
    kind: &'static str,
    stage: Arc<Stage>,
    parameters: Schema,
}

impl AnyTool for Recorded {
    fn execute<'a>(
        &'a self,
        arguments: &'a Json,
        cx: &'a RunContext,
    ) -> BoxFuture<'a, Result<Json, ToolError>> {
        Box::pin(async move {
            if !self.parameters.is_valid(arguments) {
                return Err(ToolError::invalid_args("the arguments do not fit"));
            }
            let (stage, id) = (&*self.stage, &cx.execution().call_id);
            let call = stage.call(id);
            stage.see_body("start", Some(index(id)));
            {
                let mut seen = stage.seen.lock();
                seen.running += 1;
                seen.max_overlap = seen.max_overlap.max(seen.running);
            }
            if call.conclude {
                cx.conclude_turn();
            }
            let stopped = stage.work(call, cx.cancel()).await;
            stage.seen.lock().running -= 1;
            stage.see_body("end", Some(index(id)));
            if stopped || call.throws {
                return Err(ToolError::plain("it failed"));
            }
            Ok(if call.bad_output { Json::from(7) } else { Json::from("done") })
        })
    }

    fn render(&self, _: &Json, _: &Json) -> Result<Content, ToolError> {
        Ok(text("done"))
    }

    fn parallel(&self, arguments: &Json) -> bool {
        match self.kind {
            "p" => self.parameters.is_valid(arguments),
            "arg" => self.parameters.is_valid(arguments) && arguments.get("safe") == Some(&Json::Bool(true)),
            "x" => false,
            _ => panic!("this classifier is broken on purpose"),
        }
    }
}
