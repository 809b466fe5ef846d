//! The time that listeners may take.

use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use async_trait::async_trait;
use dsh_lifecycle::Registrations;
use dsh_tools_core::{
    Content, Dispatch, Execution, Layer, Next, Post, PostDecision, PreDecision, ToolError, Tools,
};
use futures_util::poll;
use tokio::time::timeout;

/// The code of a call whose listeners did not come to an end in time.
pub const LISTENER_TIMEOUT: &str = "LISTENER_TIMEOUT";

/// Stands around the listeners of three stages. One that is late is dropped, and the call is what it would be if it had
/// failed: nobody knows what it would have said, so it neither allows nor lets through.
pub(crate) struct Listeners(Duration);

impl Listeners {
    pub(crate) fn register(tools: &Tools, budget: Duration) -> Registrations {
        let this = Arc::new(Self(budget));
        [
            tools.on_pre_execute(None, Arc::clone(&this) as _),
            tools.on_post_execute(None, Arc::clone(&this) as _),
            tools.on_dispatch_log(None, this),
        ]
        .into_iter()
        .collect()
    }

    async fn bounded<T>(
        &self,
        rest: impl Future<Output = Result<T, ToolError>> + Send,
        tool: &str,
        effect: &str,
    ) -> Result<T, ToolError> {
        let mut rest = pin!(rest);
        // Most are done at once, and need no timer.
        if let Poll::Ready(said) = poll!(&mut rest) {
            return said;
        }
        if let Ok(said) = timeout(self.0, rest).await {
            return said;
        }
        let millis = self.0.as_millis();
        tracing::warn!(tool, budget = ?self.0, "the listeners of a stage were too late");
        let message = format!("a policy did not decide within {millis} ms (`listenerMs`). {effect}");
        Err(ToolError::new("ListenerTimeoutError", LISTENER_TIMEOUT, message))
    }
}

#[async_trait]
impl Layer<Execution, PreDecision> for Listeners {
    async fn call(
        &self,
        cx: &Execution,
        next: Next<'_, Execution, PreDecision>,
    ) -> Result<PreDecision, ToolError> {
        self.bounded(next.run(cx), &cx.name, "The call did not run.").await
    }
}

#[async_trait]
impl Layer<Post, PostDecision> for Listeners {
    async fn call(&self, cx: &Post, next: Next<'_, Post, PostDecision>) -> Result<PostDecision, ToolError> {
        let effect =
            "What the call came to is withheld, and it may have taken effect: look before you try again.";
        self.bounded(next.run(cx), &cx.execution.name, effect).await
    }
}

#[async_trait]
impl Layer<Dispatch, Content> for Listeners {
    /// The record is kept whole then.
    async fn call(&self, cx: &Dispatch, next: Next<'_, Dispatch, Content>) -> Result<Content, ToolError> {
        self.bounded(next.run(cx), &cx.name, "The record is kept whole.").await
    }
}
