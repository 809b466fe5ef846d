//! What a listener of results sees of the arguments of a call.

use std::sync::Arc;

use async_trait::async_trait;
use dsh_json::{Json, object};
use dsh_json_schema::Schema;
use dsh_tools_core::{
    AnyTool, Arguments, BoxFuture, CallInput, Content, Definition, JsonLimits, Layer, Next, Post,
    PostDecision, RunContext, ToolError, Tools, text,
};
use parking_lot::Mutex;

use crate::Fault;

pub(super) fn run(arguments: &str) -> Result<Json, Fault> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().map_err(Fault::scene)?;
    let (tools, seen) = (Tools::new(), Arc::new(Seen::default()));
    let mounted = (
        tools.register(None, tool("probe")?).map_err(Fault::scene)?,
        tools.on_post_execute(None, Arc::clone(&seen) as _),
    );
    runtime.block_on(tools.execute(CallInput::new("call", "probe", read(arguments))));
    drop(mounted);
    let seen = seen.0.lock().take();
    Ok(object! { "canonical": seen.map_or(Json::Null, |seen| seen.canonical().into()) })
}

/// Arguments as they are read from a model.
pub(super) fn read(arguments: &str) -> Arguments {
    Arguments::parse(arguments, &JsonLimits::default())
}

/// A tool without an effect, that takes anything.
pub(super) fn tool(name: &str) -> Result<Definition, Fault> {
    let any = || Schema::object().open().build().map_err(Fault::scene);
    Definition::raw(name, "Does nothing.", any()?, any()?, Nothing).map_err(Fault::scene)
}

struct Nothing;

impl AnyTool for Nothing {
    fn execute<'a>(&'a self, _: &'a Json, _: &'a RunContext) -> BoxFuture<'a, Result<Json, ToolError>> {
        Box::pin(async { Ok(object! {}) })
    }

    fn render(&self, _: &Json, _: &Json) -> Result<Content, ToolError> {
        Ok(text("done"))
    }
}

#[derive(Default)]
struct Seen(Mutex<Option<Json>>);

#[async_trait]
impl Layer<Post, PostDecision> for Seen {
    async fn call(&self, cx: &Post, next: Next<'_, Post, PostDecision>) -> Result<PostDecision, ToolError> {
        *self.0.lock() = Some(cx.execution.arguments.clone());
        next.run(cx).await
    }
}
