//! Listeners around a core, and the rest of them as a value.

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::BoxFuture;

use crate::ToolError;

/// One listener of a stage. It is called with what the stage is about and with the rest of the stage.
///
/// The first one registered is the outermost. Not running `next` vetoes everything inside, the body included; running
/// a clone of it again passes every inner listener again. An `Err` fails the call, for the operator's eyes as for the
/// model's; whatever a policy decides on purpose is an `Ok` (spec 01 §5).
#[async_trait]
pub trait Layer<Cx: Sync, Answer>: Send + Sync {
    /// Decides, or wraps what `next` decides.
    async fn call(&self, cx: &Cx, next: Next<'_, Cx, Answer>) -> Result<Answer, ToolError>;
}

/// The rest of a stage. [`run`](Self::run) consumes it; a retry needs a visible clone.
pub struct Next<'a, Cx, Answer> {
    rest: &'a [Arc<dyn Layer<Cx, Answer>>],
    core: &'a dyn Core<Cx, Answer>,
}

impl<'a, Cx: Sync, Answer> Next<'a, Cx, Answer> {
    pub(crate) fn new(layers: &'a [Arc<dyn Layer<Cx, Answer>>], core: &'a dyn Core<Cx, Answer>) -> Self {
        Self { rest: layers, core }
    }

    /// Runs the rest of the stage.
    pub fn run<'b>(self, cx: &'b Cx) -> BoxFuture<'b, Result<Answer, ToolError>>
    where
        'a: 'b,
    {
        match self.rest.split_first() {
            Some((layer, rest)) => layer.call(cx, Next { rest, core: self.core }),
            None => self.core.run(cx),
        }
    }
}

impl<Cx, Answer> Clone for Next<'_, Cx, Answer> {
    fn clone(&self) -> Self {
        Self { rest: self.rest, core: self.core }
    }
}

/// What stands in the middle.
pub(crate) trait Core<Cx, Answer>: Send + Sync {
    fn run<'a>(&'a self, cx: &'a Cx) -> BoxFuture<'a, Result<Answer, ToolError>>;
}

/// A middle that always answers the same.
pub(crate) struct Always<Answer>(pub(crate) fn() -> Answer);

impl<Cx, Answer: Send> Core<Cx, Answer> for Always<Answer> {
    fn run<'a>(&'a self, _: &'a Cx) -> BoxFuture<'a, Result<Answer, ToolError>> {
        Box::pin(std::future::ready(Ok((self.0)())))
    }
}
