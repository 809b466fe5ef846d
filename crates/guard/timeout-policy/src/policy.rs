//! The wrapper.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use dsh_lifecycle::{Cause, Registrations};
use dsh_tools_core::{Answer, Attempt, Layer, Next, Outcome, ToolError, Tools, codes};
use tokio::time::{Instant, sleep, timeout};

use crate::TimeoutConfig;
use crate::listeners::Listeners;

/// The code of a call that its deadline stopped.
pub const TOOL_TIMEOUT: &str = "TOOL_TIMEOUT";
/// The code of a call whose body did not stop, and was given up.
pub const TOOL_TIMEOUT_ABANDONED: &str = "TOOL_TIMEOUT_ABANDONED";

/// Sets a deadline for each call of a tool that has a budget. The rules are in the crate's documentation.
pub struct TimeoutPolicy {
    tools: Tools,
    config: TimeoutConfig,
}

impl TimeoutPolicy {
    /// A policy for the tools of this registry.
    pub fn new(tools: Tools, config: TimeoutConfig) -> Self {
        Self { tools, config }
    }

    /// Wraps the bodies of all calls, and the listeners that are registered later. Dropping what it returns ends that.
    #[must_use = "dropping it takes the policy away"]
    pub fn register(self) -> Registrations {
        let tools = self.tools.clone();
        let budget = Duration::from_millis(self.config.listener_ms.get());
        let mut registered = Listeners::register(&tools, budget);
        registered.push(tools.on_execute(None, Arc::new(self)));
        registered
    }

    /// The budget of the tool that is called, as the calling agent sees it.
    fn budget(&self, attempt: &Attempt) -> Option<Duration> {
        let tool = self.tools.called(attempt.execution())?;
        let millis = |millis: std::num::NonZeroU64| Duration::from_millis(millis.get());
        let budget = tool.timeout().or(self.config.default_ms.map(millis))?;
        Some(self.config.max_ms.map_or(budget, |most| budget.min(millis(most))))
    }
}

#[async_trait]
impl Layer<Attempt, Answer> for TimeoutPolicy {
    async fn call(&self, cx: &Attempt, next: Next<'_, Attempt, Answer>) -> Result<Answer, ToolError> {
        let Some(budget) = self.budget(cx) else { return next.run(cx).await };
        let (attempt, began) = (cx.child(), Instant::now());
        let mut body = next.run(&attempt);
        tokio::select! {
            biased;
            answer = &mut body => return answer,
            () = sleep(budget) => attempt.cancel().cancel(Cause::Deadline),
        }
        let grace = Duration::from_millis(self.config.grace_ms.get());
        let answer = if let Ok(answer) = timeout(grace, &mut body).await {
            answer
        } else {
            let tool = &*cx.execution().name;
            tracing::warn!(tool, ?budget, ?grace, "a tool was told to stop and goes on");
            if self.config.abandon {
                return Ok(Answer::failed(abandoned(budget, began.elapsed())));
            }
            body.await
        };
        // Whoever stopped it first decides what it was.
        if attempt.cancel().own_cause() != Some(Cause::Deadline) {
            return answer;
        }
        Ok(Answer::failed(timed_out(budget, began.elapsed(), ended_well(&answer))))
    }
}

/// Whether the body came to its end although it was told to stop: it returned a value, which came too late to count.
fn ended_well(answer: &Result<Answer, ToolError>) -> bool {
    match answer {
        Ok(Answer::Value { .. }) => true,
        Ok(Answer::Ran(ran)) => match &ran.result().outcome {
            Outcome::Succeeded { .. } => true,
            Outcome::Failed(error) => error.info.as_ref().is_some_and(|info| info.code == codes::ABORTED),
        },
        Ok(Answer::Failed { .. }) | Err(_) => false,
    }
}

fn timed_out(budget: Duration, took: Duration, ended_well: bool) -> ToolError {
    let (budget, took) = (budget.as_millis(), took.as_millis());
    let effect = if ended_well {
        "It came to its end, too late to give its result: look at what it did before you try again."
    } else {
        "It may have done a part of its work; ask for less, or in smaller parts."
    };
    let message =
        format!("the call timed out: {budget} ms are allowed, and it ended after {took} ms. {effect}");
    ToolError::new("ToolTimeoutError", TOOL_TIMEOUT, message)
}

fn abandoned(budget: Duration, took: Duration) -> ToolError {
    let (budget, took) = (budget.as_millis(), took.as_millis());
    let message = format!(
        "the call timed out: {budget} ms are allowed; it did not stop when it was told to, and was given up after {took} ms. \
         What it started may still go on: look before you try again."
    );
    ToolError::new("ToolTimeoutError", TOOL_TIMEOUT_ABANDONED, message)
}
