//! The tool `run_code`: one program, its calls on the lane, and what it came to (spec 06 §2, §6).

use std::borrow::Cow;
use std::num::NonZeroUsize;
use std::sync::Arc;

use dsh_code_runtime::{
    BindingSchema, CodeRuntime, ErrorClass, Failure, FailureKind, Misuse, Namespace, Outcome, Request,
    unfinished,
};
use dsh_json::Json;
use dsh_lifecycle::Slot;
use dsh_scheduler::{Limits, run};
use dsh_tool_sdk::Language;
use dsh_tools_core::{
    Agent, CallView, Content, Kind, LowerError, RUN_CODE, RunContext, Schema, Tool, ToolError, Tools, View,
};
use futures_util::future::join;
use futures_util::stream;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::CodeModeConfig;
use crate::failed::failed;
use crate::host::Submissions;
use crate::lane::ProgramCalls;
use crate::{render, words};

/// What the declarations call the tools, and the errors of their calls.
const GLOBAL: &str = "tools";
const ERROR_CLASS: &str = "ToolCallError";
const MEMBER: &str = "toolName";

pub(crate) struct RunCode {
    pub(crate) tools: Tools,
    pub(crate) runtime: Slot<dyn CodeRuntime>,
    pub(crate) language: Language,
    pub(crate) config: CodeModeConfig,
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
    /// What became of calls that the program did not wait for; absent when it waited for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
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
        let runtime = mounted(&self.runtime, self.language).map_err(unavailable)?;
        let agent = cx.execution().agent.as_ref();
        let view = self.tools.view(agent.map(Agent::scope));
        runtime.check(&args.code, &schemas(&view)).map_err(|failure| failed(&failure, &[], None))?;
        let Outcome { logs, result, calls } = self.drive(&*runtime, args.code, &view, cx).await?;
        let warning = unfinished(&calls);
        match result {
            Ok(result) => Ok(RunCodeOutput { logs, result, warning }),
            Err(failure) if failure.kind == FailureKind::Abort && cx.cancel().is_cancelled() => {
                Err(ToolError::aborted())
            }
            Err(failure) => Err(failed(&failure, &logs, warning.as_deref())),
        }
    }

    fn render(&self, _args: &RunCodeArgs, output: &RunCodeOutput) -> Result<Content, ToolError> {
        let RunCodeOutput { logs, result, warning } = output;
        Ok(dsh_llm::text(render::rendered(logs, result.as_ref(), warning.as_deref())))
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
        let over = cx.cancel().child();
        let (host, mut source) = Submissions::new(over.clone());
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
        let mut calls = ProgramCalls { tools: &self.tools, cx, over: &over };
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
        outcome.map_err(|misuse| match misuse {
            Misuse::Closed => unavailable(misuse.to_string()),
            Misuse::Names(_) => ToolError::plain(misuse.to_string()),
        })
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

fn unavailable(why: String) -> ToolError {
    failed(&Failure::new(FailureKind::Unavailable, why), &[], None)
}

fn schemas(view: &View) -> Vec<BindingSchema> {
    let schema = |tool: &Arc<dsh_tools_core::Definition>| BindingSchema {
        namespace: GLOBAL.into(),
        name: Arc::clone(tool.name()),
        parameters: tool.parameters().json().clone(),
    };
    view.callable(true).map(schema).collect()
}
