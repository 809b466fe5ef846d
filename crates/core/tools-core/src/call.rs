//! One call between its stages: the tool that it is pinned to, and what its body left behind.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use dsh_json::Json;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::execution::{AttemptState, CallState};
use crate::onion::Core;
use crate::pipeline::Settled;
use crate::view::View;
use crate::{
    Answer, Arguments, Attempt, CallInput, CallToken, Context, Definition, Execution, Outcome, Ran,
    RunContext, ToolError, ToolResult, Tools, text,
};

pub(crate) struct Call {
    pub(crate) execution: Arc<Execution>,
    /// Definition, checks, renderer and finaliser are resolved once, at creation (design §4.7).
    pub(crate) tool: Option<Arc<Definition>>,
    /// Why the arguments can't be used.
    pub(crate) malformed: Option<ToolError>,
    pub(crate) duplicate_keys: Arc<[String]>,
    state: Arc<CallState>,
}

impl Call {
    pub(crate) fn create(view: &View, input: CallInput) -> Self {
        let tool = view.get(&input.name).cloned();
        let (arguments, malformed, duplicate_keys) = match input.arguments {
            Arguments::Value { value, duplicate_keys } => (value, None, duplicate_keys),
            Arguments::Malformed(bad) => {
                (Json::String(Arc::clone(bad.text())), Some(bad.error().clone()), Arc::from([]))
            }
        };
        let execution = Arc::new(Execution {
            token: CallToken::fresh(),
            root_call_id: input.root_call_id.unwrap_or_else(|| Arc::clone(&input.call_id)),
            call_id: input.call_id,
            name: input.name,
            arguments,
            agent: input.agent,
            parent: input.parent,
            cancel: input.cancel,
        });
        Self { execution, tool, malformed, duplicate_keys, state: Arc::default() }
    }

    pub(crate) fn scope(&self) -> Option<&dsh_scope::Scope> {
        self.execution.agent.as_ref().map(dsh_agent::Agent::scope)
    }

    /// The abort error that tells the truth about side effects.
    pub(crate) fn aborted(&self) -> ToolError {
        text::aborted(self.state.body_began.load(Ordering::Acquire))
    }

    /// A result that still goes through `post-execute`.
    pub(crate) fn settle(self, result: ToolResult) -> Settled {
        Settled { call: self, result, post: true }
    }

    /// A failure of the machinery or of a listener: it does not go through `post-execute`. Messages that the body
    /// deferred survive it.
    pub(crate) fn fail(self, error: ToolError) -> Settled {
        let result = ToolResult { contexts: self.take_deferred(), ..ToolResult::failed(error) };
        Settled { call: self, result, post: false }
    }

    pub(crate) fn take_deferred(&self) -> Vec<Context> {
        std::mem::take(&mut self.state.attempt.lock().deferred)
    }

    /// From what the outermost wrapper answered to a result (spec 01 §6.6).
    pub(crate) fn normalise(&self, tools: &Tools, answer: Answer) -> Result<ToolResult, ToolError> {
        match answer {
            Answer::Ran(Ran { token, result }) if token == self.execution.token => Ok(result),
            // Somebody kept the result of another call: only its value is believed, after a check.
            Answer::Ran(Ran { result, .. }) => match result.outcome {
                Outcome::Succeeded { value, .. } => self.answered_for(tools, value, result.contexts),
                Outcome::Failed(_) => Ok(result),
            },
            Answer::Value { value, contexts } => self.answered_for(tools, value, contexts),
            Answer::Failed { error, meta, contexts } => {
                Ok(ToolResult { meta, contexts, ..ToolResult::failed(error) })
            }
        }
    }

    /// A wrapper's value in the body's place. It does not hide that the call was stopped.
    fn answered_for(
        &self,
        tools: &Tools,
        value: Json,
        contexts: Vec<Context>,
    ) -> Result<ToolResult, ToolError> {
        let began = self.state.body_began.load(Ordering::Acquire);
        let stopped =
            if began { self.state.attempt.lock().stopped } else { self.execution.cancel.is_cancelled() };
        if stopped {
            return Ok(ToolResult { contexts, ..ToolResult::failed(self.aborted()) });
        }
        if !began {
            self.current(tools)?;
        }
        self.success(value).map(|result| ToolResult { contexts, ..result })
    }

    /// Checks a value and projects it, by the pinned tool's own schema and renderers.
    pub(crate) fn success(&self, value: Json) -> Result<ToolResult, ToolError> {
        let tool = self.tool.as_ref().ok_or_else(|| text::gone(&self.execution.name))?;
        if !tool.output.is_valid(&value) {
            return Err(text::invalid_output(&tool.name, &tool.output.violations(&value, "value")));
        }
        let arguments = &self.execution.arguments;
        let content = projected(tool, "render", || tool.tool.render(arguments, &value))?;
        let meta = match self.execution.parent {
            None => projected(tool, "presentationMeta", || tool.tool.meta(arguments, &value))?,
            Some(_) => None,
        };
        let concludes = self.state.attempt.lock().concludes;
        Ok(ToolResult {
            outcome: Outcome::Succeeded { value, concludes },
            content,
            meta,
            contexts: Vec::new(),
        })
    }

    /// The pinned tool, if its name still leads to it.
    fn current(&self, tools: &Tools) -> Result<&Arc<Definition>, ToolError> {
        let name = &*self.execution.name;
        let view = tools.view(self.scope());
        match (&self.tool, view.get(name)) {
            (Some(pinned), Some(now)) if Arc::ptr_eq(pinned, now) => Ok(pinned),
            (Some(_), _) => Err(text::gone(name)),
            (None, _) => Err(unknown(&view, name)),
        }
    }
}

/// What stands in the middle of the `execute` stage. It may be run again by a retrying wrapper.
pub(crate) struct Body<'a> {
    pub(crate) tools: &'a Tools,
    pub(crate) call: &'a Call,
}

impl Core<Attempt, Answer> for Body<'_> {
    fn run<'a>(&'a self, attempt: &'a Attempt) -> BoxFuture<'a, Result<Answer, ToolError>> {
        Box::pin(async move {
            let call = self.call;
            // What an earlier attempt left behind is not this one's.
            *call.state.attempt.lock() = AttemptState::default();
            let result = self.attempt(attempt).await.unwrap_or_else(ToolResult::failed);
            Ok(Answer::Ran(Ran { token: call.execution.token, result }))
        })
    }
}

impl Body<'_> {
    async fn attempt(&self, attempt: &Attempt) -> Result<ToolResult, ToolError> {
        let call = self.call;
        if attempt.cancel.is_cancelled() {
            return Err(call.aborted());
        }
        let tool = call.current(self.tools)?;
        let cx = RunContext::new(attempt, &call.state);
        call.state.body_began.store(true, Ordering::Release);
        let value = contained(async { tool.tool.execute(&call.execution.arguments, &cx).await }).await?;
        let result = call.success(value)?;
        // Whatever stops the call from here on comes too late to take this back.
        if attempt.cancel.is_cancelled() {
            call.state.attempt.lock().stopped = true;
            return Err(call.aborted());
        }
        Ok(result)
    }
}

/// Polls under a guard: a panic is one failed call, and siblings and process live on.
pub(crate) async fn contained<T>(stage: impl Future<Output = Result<T, ToolError>>) -> Result<T, ToolError> {
    AssertUnwindSafe(stage).catch_unwind().await.unwrap_or_else(|panic| Err(panicked(&*panic)))
}

/// The same for what does not wait.
pub(crate) fn contained_now<T>(stage: impl FnOnce() -> T) -> Result<T, ToolError> {
    catch_unwind(AssertUnwindSafe(stage)).map_err(|panic| panicked(&*panic))
}

fn projected<T>(
    tool: &Definition,
    projector: &str,
    project: impl FnOnce() -> Result<T, ToolError>,
) -> Result<T, ToolError> {
    contained_now(project)
        .flatten()
        .map_err(|error| text::projection_failed(&tool.name, projector, &error.message))
}

fn panicked(panic: &(dyn std::any::Any + Send)) -> ToolError {
    let words =
        panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text::panicked(words.unwrap_or("it panicked without words"))
}

fn unknown(view: &View, name: &str) -> ToolError {
    let names: Vec<&str> = view.tools().map(|tool| &**tool.name()).collect();
    let distance = |candidate: &&str| strsim::damerau_levenshtein(name, candidate);
    let nearest =
        names.iter().copied().min_by_key(distance).filter(|best| distance(best) <= 1 + name.len() / 3);
    text::unknown_tool(name, nearest, names.get(..20).unwrap_or(&names))
}
