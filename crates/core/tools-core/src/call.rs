//! One call between its stages: the tool that it is pinned to, and what its body left behind.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use dsh_json::Json;
use dsh_lifecycle::{contain, contain_async};
use futures_util::future::BoxFuture;
use parking_lot::Mutex;

use crate::execution::{AttemptState, CallState};
use crate::onion::Core;
use crate::stages::{Question, Settled};
use crate::view::View;
use crate::{
    Answer, Arguments, Attempt, CallInput, CallToken, Context, Definition, Execution, Outcome, PreDecision,
    Ran, RunContext, ToolError, ToolResult, Tools, text,
};

pub(crate) struct Call {
    pub(crate) execution: Arc<Execution>,
    /// Definition, checks, renderer and finaliser are resolved once, at creation (design §4.7).
    pub(crate) tool: Option<Arc<Definition>>,
    /// Why the arguments can't be used.
    pub(crate) malformed: Option<ToolError>,
    pub(crate) duplicate_keys: Arc<[String]>,
    state: CallState,
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
            // Whoever sees the call can stop it, and nothing above it.
            cancel: input.cancel.child(),
            granted: false.into(),
        });
        Self { execution, tool, malformed, duplicate_keys, state: CallState::default() }
    }

    pub(crate) fn scope(&self) -> Option<&dsh_scope::Scope> {
        self.execution.agent.as_ref().map(dsh_agent::Agent::scope)
    }

    /// The refusal of a tool that only programs may call here (spec 01 §4.4). Nobody is asked about a call that can only
    /// fail, and its finaliser has no part in it.
    pub(crate) fn collapsed(&mut self, view: &View) -> Option<ToolError> {
        let name = &self.execution.name;
        let refused = view.collapses(name, self.execution.parent.is_some());
        let refusal = refused.then(|| text::collapsed(name, view.route(name)))?;
        self.tool = None;
        Some(refusal)
    }

    /// What has to be asked before the call may run: what the listeners want to know, and what the tool itself needs for
    /// these arguments. `Err` is a denial.
    pub(crate) fn question(&self, decision: PreDecision) -> Result<Option<Question>, ToolError> {
        let asked = match decision {
            PreDecision::Deny(reason) => return Err(text::denied(reason)),
            PreDecision::Allow => None,
            PreDecision::Ask(reason) => Some(Question { reason }),
        };
        let Some(tool) = &self.tool else { return Ok(asked) };
        let Some(own) = self.contained_now(|| tool.tool.needs_approval(&self.execution))?? else {
            return Ok(asked);
        };
        let reason = match asked.and_then(|question| question.reason) {
            Some(reason) => format!("{reason}\n{own}").into(),
            None => own,
        };
        Ok(Some(Question { reason: Some(reason) }))
    }

    /// Polls a stage under a guard: a panic is one failed call, which says whether the body had begun, and siblings and process
    /// live on.
    pub(crate) async fn contained<T>(
        &self,
        stage: impl Future<Output = Result<T, ToolError>>,
    ) -> Result<T, ToolError> {
        let broken = |panic| Err(text::panicked(&panic, self.body_began()));
        contain_async(stage).await.unwrap_or_else(broken)
    }

    /// The same for what does not wait.
    pub(crate) fn contained_now<T>(&self, stage: impl FnOnce() -> T) -> Result<T, ToolError> {
        contain(stage).map_err(|panic| text::panicked(&panic, self.body_began()))
    }

    /// The abort error that tells the truth about side effects.
    pub(crate) fn aborted(&self) -> ToolError {
        text::aborted(self.body_began())
    }

    /// A result that still goes through `post-execute`.
    pub(crate) fn settle(self, result: ToolResult) -> Settled {
        Settled { call: self, result, post: true }
    }

    /// A failure of the machinery or of a listener: it does not go through `post-execute`. What the body deferred and
    /// attached survives it.
    pub(crate) fn fail(self, error: ToolError) -> Settled {
        let result =
            ToolResult { contexts: self.deferred(), meta: self.attached(), ..ToolResult::failed(error) };
        Settled { call: self, result, post: false }
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
                let contexts = [self.deferred(), contexts].concat();
                Ok(ToolResult {
                    meta: meta.or_else(|| self.attached()),
                    contexts,
                    ..ToolResult::failed(error)
                })
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
        let latest = Arc::clone(&self.state.latest.lock());
        let (ended_in_time, concludes) = {
            let latest = latest.lock();
            (latest.ended_in_time, latest.ended_in_time && latest.concludes)
        };
        let contexts = [self.deferred(), contexts].concat();
        if self.execution.cancel.is_cancelled() && !ended_in_time {
            let failed = ToolResult::failed(self.aborted());
            return Ok(ToolResult { contexts, meta: self.attached(), ..failed });
        }
        if !self.body_began() {
            self.current(tools)?;
        }
        self.success(value, concludes).map(|result| ToolResult { contexts, ..result })
    }

    /// Checks a value and projects it, by the pinned tool's own schema and renderers.
    pub(crate) fn success(&self, value: Json, concludes: bool) -> Result<ToolResult, ToolError> {
        let name = &self.execution.name;
        let tool = self.tool.as_ref().ok_or_else(|| text::gone(name, false))?;
        if !tool.output.is_valid(&value) {
            return Err(text::invalid_output(name, &tool.output.violations(&value, "value")));
        }
        let top_level = self.execution.parent.is_none();
        let projection = contain(|| tool.tool.project(&self.execution.arguments, &value, top_level))
            .map_err(|panic| text::projection_failed(name, &panic.to_string()))?
            .map_err(|error| text::projection_failed(name, &error.message))?;
        Ok(ToolResult {
            outcome: Outcome::Succeeded { value, concludes },
            content: projection.content,
            meta: self.attached().or(projection.meta),
            contexts: Vec::new(),
        })
    }

    /// What the body said that would end the turn, if this value replaces the one that it said it with.
    pub(crate) fn concluded(&self) -> bool {
        let latest = Arc::clone(&self.state.latest.lock());
        let latest = latest.lock();
        latest.ended_in_time && latest.concludes
    }

    /// The messages of the latest attempt.
    fn deferred(&self) -> Vec<Context> {
        let latest = Arc::clone(&self.state.latest.lock());
        let latest = latest.lock();
        latest.deferred.clone()
    }

    /// What the latest attempt attached. Only a model's own calls are shown to people.
    fn attached(&self) -> Option<Json> {
        if self.execution.parent.is_some() {
            return None;
        }
        let latest = Arc::clone(&self.state.latest.lock());
        let latest = latest.lock();
        latest.meta.clone()
    }

    fn body_began(&self) -> bool {
        self.state.body_began.load(Ordering::Acquire)
    }

    /// The pinned tool, if its name still leads to it.
    fn current(&self, tools: &Tools) -> Result<&Arc<Definition>, ToolError> {
        let name = &*self.execution.name;
        let view = tools.view(self.scope());
        let nested = self.execution.parent.is_some();
        match (&self.tool, view.resolve(name, nested)) {
            (Some(pinned), Some(now)) if Arc::ptr_eq(pinned, now) => Ok(pinned),
            (Some(_), _) => Err(text::gone(name, self.body_began())),
            (None, _) => Err(unknown(&view, name, nested)),
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
            // What another attempt left behind is not this one's.
            let state = Arc::new(Mutex::new(AttemptState::default()));
            *self.call.state.latest.lock() = Arc::clone(&state);
            let failed = |error| ToolResult { meta: self.call.attached(), ..ToolResult::failed(error) };
            let mut result = self.attempt(attempt, &state).await.unwrap_or_else(failed);
            result.contexts.clone_from(&state.lock().deferred);
            Ok(Answer::Ran(Ran { token: self.call.execution.token, result }))
        })
    }
}

impl Body<'_> {
    async fn attempt(
        &self,
        attempt: &Attempt,
        state: &Arc<Mutex<AttemptState>>,
    ) -> Result<ToolResult, ToolError> {
        let call = self.call;
        if attempt.cancel.is_cancelled() {
            return Err(call.aborted());
        }
        // The body may look at what its call was granted, so a wrapper must not give it another one.
        if !Arc::ptr_eq(&attempt.execution, &call.execution) {
            return Err(text::another_call(&call.execution.name));
        }
        let tool = call.current(self.tools)?;
        let cx = RunContext::new(attempt, state);
        call.state.body_began.store(true, Ordering::Release);
        let value = call.contained(async { tool.tool.execute(&call.execution.arguments, &cx).await }).await?;
        // Whatever stops the call from here on comes too late to take this back.
        let stopped = attempt.cancel.is_cancelled();
        let concludes = state.lock().concludes;
        let result = call.success(value, concludes)?;
        if stopped {
            return Err(call.aborted());
        }
        state.lock().ended_in_time = true;
        Ok(result)
    }
}

/// Names the nearest tool, or those that there are. A name of any length costs no more than a long one.
fn unknown(view: &View, name: &str, nested: bool) -> ToolError {
    const COMPARABLE: usize = 128;
    let names: Vec<&str> = view.callable(nested).map(|tool| &**tool.name()).collect();
    let near = 1 + name.len() / 3;
    let nearest = names
        .iter()
        .filter(|known| name.len() <= COMPARABLE && known.len().abs_diff(name.len()) <= near)
        .map(|known| (strsim::damerau_levenshtein(name, known), *known))
        .min()
        .filter(|(distance, _)| *distance <= near)
        .map(|(_, known)| known);
    text::unknown_tool(name, nearest, &names)
}
