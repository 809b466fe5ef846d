//! Listeners that pass everything on.

use std::sync::Arc;

use async_trait::async_trait;
use dsh_tools_core::{
    Answer, Attempt, Execution, Layer, Next, Post, PostDecision, PreDecision, Registrations, ToolError, Tools,
};

struct PassOn;

#[async_trait]
impl Layer<Execution, PreDecision> for PassOn {
    async fn call(
        &self,
        cx: &Execution,
        next: Next<'_, Execution, PreDecision>,
    ) -> Result<PreDecision, ToolError> {
        next.run(cx).await
    }
}

#[async_trait]
impl Layer<Attempt, Answer> for PassOn {
    async fn call(&self, cx: &Attempt, next: Next<'_, Attempt, Answer>) -> Result<Answer, ToolError> {
        next.run(cx).await
    }
}

#[async_trait]
impl Layer<Post, PostDecision> for PassOn {
    async fn call(&self, cx: &Post, next: Next<'_, Post, PostDecision>) -> Result<PostDecision, ToolError> {
        next.run(cx).await
    }
}

/// One listener that passes everything on, at each of `pre-execute`, `execute` and `post-execute`.
pub fn three_listeners(tools: &Tools) -> Registrations {
    [
        tools.on_pre_execute(None, Arc::new(PassOn)),
        tools.on_execute(None, Arc::new(PassOn)),
        tools.on_post_execute(None, Arc::new(PassOn)),
    ]
    .into_iter()
    .collect()
}
