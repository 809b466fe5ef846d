//! Asking hooks: in order, each waited for until the turn is cancelled.

use std::error::Error;

use dsh_lifecycle::contain_async;
use dsh_llm::{ErrorFacts, Message};

use super::{AfterError, Entry, HookError, Hooks, RequestDraft, StepContext};

/// Why hooks gave no answer.
#[derive(Debug, Clone, PartialEq)]
pub enum HookFailure {
    /// The turn was cancelled first.
    Cancelled,
    /// One of them failed or panicked.
    Failed(ErrorFacts),
}

impl Hooks {
    /// What becomes of a step that is proposed with these messages.
    pub async fn pre_step(
        &self,
        step: &StepContext<'_>,
        mut messages: Vec<Message>,
    ) -> Result<Entry, HookFailure> {
        for hook in self.of(step.agent, |rows| &rows.pre_step) {
            match answer(step, "pre-step", hook.pre_step(step, messages)).await? {
                Entry::Enter(left) => messages = left,
                Entry::Reject(reason) => return Ok(Entry::Reject(reason)),
            }
        }
        Ok(Entry::Enter(messages))
    }

    /// What a request is made with.
    pub async fn request(
        &self,
        step: &StepContext<'_>,
        mut draft: RequestDraft,
    ) -> Result<RequestDraft, HookFailure> {
        for hook in self.of(step.agent, |rows| &rows.request) {
            draft = answer(step, "request", hook.request(step, draft)).await?;
        }
        Ok(draft)
    }

    /// Whether a request that failed is made again.
    pub async fn request_error(
        &self,
        step: &StepContext<'_>,
        error: &ErrorFacts,
    ) -> Result<AfterError, HookFailure> {
        for hook in self.of(step.agent, |rows| &rows.request_error) {
            let after = answer(step, "request-error", hook.request_error(step, error)).await?;
            if after == AfterError::Retry {
                return Ok(after);
            }
        }
        Ok(AfterError::Fail)
    }

    /// Lets those who object to a turn's end steer it.
    pub async fn turn_stopping(&self, step: &StepContext<'_>) -> Result<(), HookFailure> {
        for hook in self.of(step.agent, |rows| &rows.turn_stopping) {
            answer(step, "turn-stopping", hook.turn_stopping(step)).await?;
        }
        Ok(())
    }
}

async fn answer<T>(
    step: &StepContext<'_>,
    stage: &str,
    hook: impl Future<Output = Result<T, HookError>>,
) -> Result<T, HookFailure> {
    let answer = tokio::select! {
        biased;
        () = step.cancel.cancelled() => return Err(HookFailure::Cancelled),
        answer = contain_async(hook) => answer,
    };
    let facts = match answer {
        // What it says about a turn that it cancelled itself does not count either.
        Ok(Ok(_)) if step.cancel.is_cancelled() => return Err(HookFailure::Cancelled),
        Ok(Ok(answer)) => return Ok(answer),
        Ok(Err(error)) => ErrorFacts::new("UNKNOWN", format!("a {stage} hook failed: {}", chain(&*error))),
        Err(panic) => ErrorFacts::new("PANICKED", format!("a {stage} hook panicked: {panic}")),
    };
    Err(HookFailure::Failed(facts))
}

/// An error with its causes, outermost first.
fn chain(error: &(dyn Error + 'static)) -> String {
    let (mut words, mut cause) = (error.to_string(), error.source());
    while let Some(error) = cause {
        words = format!("{words}: {error}");
        cause = error.source();
    }
    words
}
