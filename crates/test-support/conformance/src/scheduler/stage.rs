//! A batch played by the real loop, registry and session: everybody who takes part, and what they see.

use std::pin::pin;
use std::sync::Arc;

use async_trait::async_trait;
use dsh_agent::{Agent, CallTurn, RequestedCall, TurnRunner};
use dsh_agent_loop::{AgentLoop, LoopConfig, LoopParts};
use dsh_json::{Json, Object, object};
use dsh_json_schema::Schema;
use dsh_lifecycle::{Cancel, Cause, SeededIds, Slot, SteppingClock};
use dsh_scope::Scope;
use dsh_session::{
    Event, Header, Session, SessionObserver, SessionSpec, ToolCall, ToolResult as LoggedResult, Vocabulary,
};
use dsh_system_prompt::SystemPrompt;
use dsh_tools_core::{
    AnyTool, Content, ContentBlock, Definition, Execution, Layer, Next, Observer, Post, PostDecision,
    PreDecision, RunContext, ToolError, ToolResult, Tools, text,
};
use futures_util::future::BoxFuture;
use parking_lot::Mutex;

use super::batch::{Abort, Batch, Call, TOOLS, parameters};
use super::clock::VirtualClock;
use crate::Fault;

/// What happened to a batch, and the session that holds it.
pub struct Ran {
    /// The output, as the vectors write it.
    pub output: Json,
    /// The session.
    pub session: Session,
}

/// Runs a batch in virtual time.
///
/// # Errors
/// A [`Fault`] when the batch can't be set up, or does not come to an end.
pub fn run(batch: &Batch) -> Result<Ran, Fault> {
    let clock = VirtualClock::default();
    let ended = clock.run(run_under(&clock, batch));
    ended.unwrap_or_else(|| Err(Fault::scene("the batch waits for what never comes")))
}

async fn run_under(clock: &VirtualClock, batch: &Batch) -> Result<Ran, Fault> {
    let cancel = Cancel::new();
    let stage = Arc::new(Stage {
        clock: clock.clone(),
        batch: batch.clone(),
        cancel: cancel.clone(),
        seen: Mutex::default(),
    });
    let tools = registry(&stage)?;
    let session = Session::create(SessionSpec {
        header: Header::new("vector", 0).map_err(Fault::scene)?,
        vocabulary: Arc::new(Vocabulary::core()),
        clock: Arc::new(SteppingClock::starting_at(0)),
        sink: None,
    });
    session.observe(Arc::<Stage>::clone(&stage)).keep();

    let parts = LoopParts {
        tools,
        prompt: SystemPrompt::default(),
        model: Slot::empty(),
        ids: Arc::new(SeededIds::new(1)),
    };
    let max_parallel_tool_calls = batch.cap.try_into().map_err(Fault::scene)?;
    // However many calls a vector has, none is too many.
    let max_tool_calls_per_step = batch.calls.len().max(1).try_into().map_err(Fault::scene)?;
    let config = LoopConfig { max_parallel_tool_calls, max_tool_calls_per_step, ..LoopConfig::default() };
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
    ended.map_err(Fault::scene)?;
    Ok(Ran { output: stage.output(), session })
}

/// The registry with the tools of the vectors, and the stage as its listener.
fn registry(stage: &Arc<Stage>) -> Result<Tools, Fault> {
    let tools = Tools::new();
    let parameters = parameters().map_err(Fault::scene)?;
    let output = Schema::string().build().map_err(Fault::scene)?;
    for name in TOOLS {
        let tool = Recorded { kind: name, stage: Arc::clone(stage), parameters: parameters.clone() };
        let definition = Definition::raw(name, "A probe.", parameters.clone(), output.clone(), tool);
        tools.register(None, definition.map_err(Fault::scene)?).map_err(Fault::scene)?.keep();
    }
    tools.on_pre_execute(None, Arc::<Stage>::clone(stage)).keep();
    tools.on_post_execute(None, Arc::<Stage>::clone(stage)).keep();
    tools.on_result(None, Arc::<Stage>::clone(stage)).keep();
    Ok(tools)
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

/// The place of a call in its batch: ids are `c0`, `c1`, …
fn index(call_id: &str) -> usize {
    call_id.trim_start_matches('c').parse().unwrap_or(usize::MAX)
}

impl Stage {
    fn call(&self, call_id: &str) -> &Call {
        self.batch.call(index(call_id))
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
        // An event of ours that can't be read is missing in the trace, which then differs.
        let row = if let Some(Ok(call)) = event.read::<ToolCall>() {
            self.row("tool/call", Some(index(&call.call_id)))
        } else if let Some(Ok(result)) = event.read::<LoggedResult>() {
            let mut row = self.row("tool/result", result.call_id().map(|id| index(id)));
            let block = result.message.content.first().map(ContentBlock::to_json);
            row.insert("isError", block.and_then(|block| block.get("isError").cloned()));
            if let Some(error) = &result.error {
                // Each reason why arguments can't be read has a code here, and one for all in the vectors.
                let unread = error.code.starts_with("JSON_");
                row.insert("code", if unread { "INVALID_ARGS" } else { &*error.code });
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

    #[expect(clippy::panic, reason = "one of the classifiers is broken on purpose")]
    fn parallel(&self, arguments: &Json) -> bool {
        match self.kind {
            "p" => self.parameters.is_valid(arguments),
            "arg" => self.parameters.is_valid(arguments) && arguments.get("safe") == Some(&Json::Bool(true)),
            "x" => false,
            _ => panic!("this classifier is broken on purpose"),
        }
    }
}
