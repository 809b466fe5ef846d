//! The tool `run_code`: one program, its calls on the lane, and what it came to (spec 06 §2, §6).

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::Arc;

use dsh_code_runtime::{
    BindingSchemas, CallEnd, CodeRuntime, ErrorClass, Failure, FailureKind, Misuse, Namespace, Outcome,
    Request,
};
use dsh_json::Json;
use dsh_lifecycle::Slot;
use dsh_scheduler::{Limits, run};
use dsh_tool_sdk::Language;
use dsh_tools_core::{
    Agent, CallView, Content, Kind, LowerError, RUN_CODE, RunContext, Schema, Tool, ToolError, ToolResult,
    Tools, View,
};
use futures_util::future::join;
use futures_util::stream;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::CodeModeConfig;
use crate::asking::Asking;
use crate::failed::{CODE, failed};
use crate::host::Submissions;
use crate::lane::ProgramCalls;
use crate::{account, render, words};

/// What the declarations call the tools, and the errors of their calls.
const GLOBAL: &str = "tools";
const ERROR_CLASS: &str = "ToolCallError";
const MEMBER: &str = "toolName";

pub(crate) struct RunCode {
    pub(crate) tools: Tools,
    pub(crate) runtime: Slot<dyn CodeRuntime>,
    pub(crate) language: Language,
    pub(crate) config: CodeModeConfig,
    /// Whether accounts have times and memory.
    pub(crate) measures: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct RunCodeArgs {
    code: Arc<str>,
    description: Arc<str>,
}

/// What a program came to.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunCodeOutput {
    /// What the program printed, in order.
    logs: Vec<String>,
    /// What it returned; absent when it returned nothing.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    result: Option<Json>,
}

/// A value that is there, also when it is null.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Json>, D::Error> {
    Json::deserialize(deserializer).map(Some)
}

impl Tool for RunCode {
    const NAME: &'static str = RUN_CODE;
    type Args = RunCodeArgs;
    type Output = RunCodeOutput;

    fn description(&self) -> Cow<'_, str> {
        words::description(self.language).into()
    }

    fn parameters(&self) -> Result<Schema, LowerError> {
        words::parameters(self.language).build().map_err(LowerError::Refused)
    }

    async fn run(&self, args: RunCodeArgs, cx: &RunContext) -> Result<RunCodeOutput, ToolError> {
        if args.description.trim().is_empty() {
            return Err(ToolError::plain(words::BLANK_DESCRIPTION));
        }
        let runtime = mounted(&self.runtime, self.language).map_err(|why| unavailable(why, cx))?;
        let agent = cx.execution().agent.as_ref();
        let view = self.tools.view(agent.map(Agent::scope));
        runtime.check(&args.code, &[&Callable(&view)]).map_err(|failure| refused(&failure, cx))?;
        let outcome = self.drive(&*runtime, args.code, &view, cx).await?;
        cx.attach_meta(account::of_run(&outcome, &cx.execution().call_id, self.measures));
        let Outcome { logs, result, .. } = outcome;
        match result {
            Ok(result) => Ok(RunCodeOutput { logs, result }),
            Err(failure) if failure.kind == FailureKind::Abort && cx.cancel().is_cancelled() => {
                Err(ToolError::aborted())
            }
            Err(failure) => Err(failed(&failure, logs)),
        }
    }

    fn render(&self, _args: &RunCodeArgs, output: &RunCodeOutput) -> Result<Content, ToolError> {
        Ok(dsh_llm::text(render::rendered(&output.logs, output.result.as_ref())))
    }

    /// What the model has to know of the run and is no part of its value goes below everything else.
    fn finalize_content(&self, _arguments: &Json, result: &ToolResult) -> Option<Content> {
        let told = result.error().is_none_or(|error| error.code() == Some(CODE));
        let notes = account::notes(result.meta.as_ref().filter(|_| told)?);
        (!notes.is_empty()).then(|| render::with_notes(&result.content, &notes))
    }

    fn present_call(&self, args: &RunCodeArgs) -> Option<CallView> {
        Some(CallView::Generic {
            title: Arc::clone(&args.description),
            kind: Kind::Execute,
            raw_input: Some(Json::from(Arc::clone(&args.code))),
            content: None,
            locations: Vec::new(),
        })
    }
}

impl RunCode {
    /// Runs the program and its calls, until both are over. An `Err` is a failure of the machinery.
    async fn drive(
        &self,
        runtime: &dyn CodeRuntime,
        program: Arc<str>,
        view: &View,
        cx: &RunContext,
    ) -> Result<Outcome, ToolError> {
        let (over, asking) = (cx.cancel().child(), Asking::default());
        let (host, mut source) = Submissions::new(over.clone(), &asking);
        let functions = view.callable(true).map(|tool| Arc::clone(tool.name()));
        let error_class = ErrorClass { name: ERROR_CLASS.into(), member_name_property: MEMBER.into() };
        let namespace = Namespace {
            global: GLOBAL.into(),
            functions: functions.collect(),
            error_class: Some(error_class),
        };
        let request = Request { program, namespaces: vec![namespace], cancel: over.clone() };
        let ran = async {
            let outcome = runtime.run(request, &host).await;
            // Also after a runtime that broke its promise to say so.
            over.cancel(dsh_lifecycle::Cause::Settled);
            host.end();
            outcome
        };
        let started = BTreeSet::new();
        let mut calls = ProgramCalls { tools: &self.tools, cx, over: &over, asking: &asking, started };
        let arriving = stream::poll_fn(|cx| source.poll_recv(cx));
        let limits = Limits {
            running: self.config.max_parallel_sub_calls,
            uncommitted: self.config.max_uncommitted_sub_calls,
            waiting: NonZeroUsize::MAX,
            side: self.config.max_parallel_sub_calls.get(),
        };
        let lane = async {
            let driven = run(&mut calls, arriving, limits).await;
            if driven.is_err() {
                // Nobody answers any more.
                over.cancel(dsh_lifecycle::Cause::Settled);
                host.end();
            }
            driven
        };
        let (outcome, driven) = join(ran, lane).await;
        driven.map_err(|error| {
            ToolError::plain(format!("the calls of the program could not be logged: {error}"))
        })?;
        let mut outcome = outcome.map_err(|misuse| match misuse {
            Misuse::Closed => unavailable(misuse.to_string(), cx),
            Misuse::Names(_) => ToolError::plain(misuse.to_string()),
        })?;
        // The runtime has handed them over, and can't know which of them the lane had come to.
        for call in &mut outcome.calls {
            if call.end == CallEnd::Stopped && !calls.started.contains(&call.id) {
                call.end = CallEnd::NotStarted;
            }
        }
        Ok(outcome)
    }
}

/// The runtime, if it runs programs of this language.
pub(crate) fn mounted(
    slot: &Slot<dyn CodeRuntime>,
    language: Language,
) -> Result<Arc<dyn CodeRuntime>, String> {
    let runtime = slot.get().ok_or_else(|| words::NO_RUNTIME.to_owned())?;
    if runtime.language() == language.name() {
        return Ok(runtime);
    }
    Err(words::wrong_language(runtime.language(), language))
}

fn unavailable(why: String, cx: &RunContext) -> ToolError {
    refused(&Failure::new(FailureKind::Unavailable, why), cx)
}

/// The failure of a program that did not run.
fn refused(failure: &Failure, cx: &RunContext) -> ToolError {
    cx.attach_meta(account::of_refusal(failure.kind));
    failed(failure, Vec::new())
}

/// The tools that programs can call, as a check sees them.
struct Callable<'a>(&'a View);

impl BindingSchemas for Callable<'_> {
    fn namespace(&self) -> &str {
        GLOBAL
    }

    fn parameters(&self, name: &str) -> Option<&Schema> {
        self.0.resolve(name, true).map(|tool| tool.parameters())
    }

    fn names(&self) -> Vec<&str> {
        self.0.callable(true).map(|tool| &**tool.name()).collect()
    }
}
