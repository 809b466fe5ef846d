//! The one path of a call. It reads as the picture does:
//!
//! ```text
//! prepare    pre-execute… → decision → guards             ordered, in model order
//! dispatch   (ask → approval → guards) → execute… around  overlaps, up to the cap
//!            the body → value → output schema → render
//! finish     post-execute… → finalizeContent → bound      ordered, in model order
//! commit     log → publish (results)
//! ```
//!
//! Each stage consumes what the one before it made, so their order can't be got wrong. A denial goes on to
//! `post-execute` like any other result, since policies count denied calls; a failure of a listener does not.

use std::sync::Arc;

use crate::call::{Body, Call};
use crate::onion::Always;
use crate::view::View;
use dsh_json::Json;

use crate::{
    Accept, ApprovalRequest, Attempt, CallInput, Finished, Next, Outcome, Post, PostDecision, PreDecision,
    Prepared, Ready, Settled, ToolError, ToolResult, Tools, text,
};

impl Tools {
    /// Takes one call through all stages. For callers without a log: the result is published at once.
    ///
    /// It never fails: whatever goes wrong is the result. Cancelling the call's `cancel` stops it as spec 01 §7 says;
    /// dropping the future abandons a body in the middle of its work, so await it.
    pub async fn execute(&self, input: CallInput) -> Arc<ToolResult> {
        let settled = match self.prepare(input).await {
            Prepared::Ready(ready) => self.dispatch(ready).await,
            Prepared::Settled(settled) => settled,
        };
        self.finish(settled).await.publish()
    }

    /// `pre-execute… → decision → guards`. Must not overlap with the other ordered stages of the same batch.
    pub async fn prepare(&self, input: CallInput) -> Prepared {
        let view = self.view(input.agent.as_ref().map(dsh_agent::Agent::scope));
        let mut call = Call::create(&view, input);
        if let Some(error) = call.malformed.take() {
            return Prepared::Settled(call.settle(ToolResult::failed(error)));
        }
        if call.execution.cancel.is_cancelled() {
            let error = call.aborted();
            return Prepared::Settled(call.fail(error));
        }
        if let Some(refusal) = call.collapsed(&view) {
            return Prepared::Settled(call.fail(refusal));
        }
        let decision = match self.decide(&view, &call).await {
            Ok(decision) => decision,
            Err(error) => return Prepared::Settled(call.fail(error)),
        };
        let question = match call.question(decision) {
            Ok(question) => question,
            Err(denial) => return Prepared::Settled(call.settle(ToolResult::failed(denial))),
        };
        // Where somebody is asked, the guards come after the grant, once.
        if question.is_none() {
            match self.guarded(&call) {
                Ok(None) => {}
                Ok(Some(denial)) => return Prepared::Settled(call.settle(ToolResult::failed(denial))),
                Err(error) => return Prepared::Settled(call.fail(error)),
            }
        }
        if call.execution.cancel.is_cancelled() {
            let error = call.aborted();
            return Prepared::Settled(call.settle(ToolResult::failed(error)));
        }
        Prepared::Ready(Ready { call, question })
    }

    /// `(ask → approval → guards) → execute… around the body`. The only stage that may overlap with others.
    pub async fn dispatch(&self, ready: Ready) -> Settled {
        let call = match self.approve(ready).await {
            Prepared::Ready(Ready { call, .. }) => call,
            Prepared::Settled(settled) => return settled,
        };
        let view = self.view(call.scope());
        let (attempt, body) = (Attempt::first(&call.execution), Body { tools: self, call: &call });
        let answer = call.contained(async { Next::new(&view.around, &body).run(&attempt).await }).await;
        match answer.and_then(|answer| call.normalise(self, answer)) {
            Err(error) => call.fail(error),
            Ok(result) => call.settle(result),
        }
    }

    /// The beginning of `dispatch` by itself, for who wants to know how long an answer takes: `ask → approval → guards`. A
    /// call that may run has no question any more, and is dispatched next.
    pub async fn approve(&self, Ready { call, question }: Ready) -> Prepared {
        let Some(question) = question else { return Prepared::Ready(Ready { call, question: None }) };
        if call.execution.cancel.is_cancelled() {
            let error = call.aborted();
            return Prepared::Settled(call.settle(ToolResult::failed(error)));
        }
        match self.approved(&call, question.reason.as_deref()).await {
            Ok(None) => Prepared::Ready(Ready { call, question: None }),
            Ok(Some(denial)) => Prepared::Settled(call.settle(ToolResult::failed(denial))),
            Err(error) => Prepared::Settled(call.fail(error)),
        }
    }

    /// `post-execute… → finalizeContent → bound`. Must not overlap with the other ordered stages of the same batch.
    pub async fn finish(&self, Settled { call, mut result, post }: Settled) -> Finished {
        let view = self.view(call.scope());
        if post && !view.post.is_empty() {
            result = judged(&view, &call, result).await;
        }
        if let Some(tool) = &call.tool {
            match call.contained_now(|| tool.tool.finalize_content(&call.execution.arguments, &result)) {
                Ok(Some(content)) => result.content = content,
                Ok(None) => {}
                Err(error) => result = ToolResult { contexts: result.contexts, ..ToolResult::failed(error) },
            }
        }
        if !call.duplicate_keys.is_empty() {
            result.content = text::with_duplicate_keys(&result.content, &call.duplicate_keys);
        }
        if let Some(bound) = self.bound().get() {
            match call.contained(async { Ok(bound.bound(&call.execution, &result).await) }).await {
                Ok(Some(content)) => result.content = content,
                Ok(None) => {}
                Err(error) => {
                    tracing::warn!(tool = &*call.execution.name, %error, "the result could not be bounded");
                }
            }
            let kept = |meta: &mut Json| {
                call.contained_now(|| bound.keeps_meta(&call.execution, meta)).unwrap_or(true)
            };
            result.meta = result.meta.take_if(kept);
        }
        let result = Arc::new(result.storable(&call.execution));
        Finished { execution: call.execution, result, view }
    }

    /// What the `pre-execute` listeners say.
    async fn decide(&self, view: &View, call: &Call) -> Result<PreDecision, ToolError> {
        if view.pre.is_empty() {
            return Ok(PreDecision::Allow);
        }
        call.contained(async {
            Next::new(&view.pre, &Always(|| PreDecision::Allow)).run(&call.execution).await
        })
        .await
    }

    /// The first guard's denial. After every listener, so that none of them can undo it.
    fn guarded(&self, call: &Call) -> Result<Option<ToolError>, ToolError> {
        call.contained_now(|| self.veto(&call.execution)).map(|reason| reason.map(text::denied))
    }

    /// Asks for a grant, and the guards after it. `Some` is the failure that the call settles with (spec 01 §8).
    async fn approved(&self, call: &Call, reason: Option<&str>) -> Result<Option<ToolError>, ToolError> {
        let execution = &call.execution;
        let Some(approver) = self.approver().get() else {
            return Ok(Some(text::no_approver(&execution.name, reason)));
        };
        let Some(agent) = &execution.agent else { return Ok(Some(text::no_agent(&execution.name))) };
        let definition = call.tool.as_ref();
        let request = ApprovalRequest { agent, execution, definition, reason };
        let approval = call.contained(approver.ask(request)).await?;
        let denial = text::not_approved(&execution.name, approval);
        if execution.cancel.is_cancelled()
            && matches!(approval, crate::Approval::Cancelled | crate::Approval::AllowedOnce)
        {
            return Ok(Some(call.aborted()));
        }
        if denial.is_some() {
            return Ok(denial);
        }
        execution.grant();
        self.guarded(call)
    }
}

/// What the `post-execute` listeners make of a result (spec 01 §6.4).
async fn judged(view: &View, call: &Call, result: ToolResult) -> ToolResult {
    let cx = Post { execution: Arc::clone(&call.execution), result: Arc::new(result) };
    let decision =
        call.contained(async { Next::new(&view.post, &Always(|| PostDecision::KEEP)).run(&cx).await }).await;
    let mut result = Arc::unwrap_or_clone(cx.result);
    let (accept, contexts) = match decision {
        Err(error) => return ToolResult { contexts: result.contexts, ..ToolResult::failed(error) },
        Ok(PostDecision::Block(content, contexts)) => {
            return ToolResult {
                contexts,
                ..ToolResult { content: content.clone(), ..ToolResult::failed(text::blocked(&content)) }
            };
        }
        Ok(PostDecision::Accept(accept, contexts)) => (accept, contexts),
    };
    match accept {
        Accept::Keep => {}
        Accept::Content(content) => result.content = content,
        Accept::Value(value) => {
            let replaced = match result.outcome {
                Outcome::Succeeded { .. } => call.success(value, call.concluded()),
                Outcome::Failed(_) => Err(text::value_on_failure(&call.execution.name)),
            };
            let kept = std::mem::take(&mut result.contexts);
            result = ToolResult { contexts: kept, ..replaced.unwrap_or_else(ToolResult::failed) };
        }
    }
    result.contexts.extend(contexts);
    result
}
