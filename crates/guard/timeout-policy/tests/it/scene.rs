//! One tool whose body does what it is told, and a policy.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use dsh_json::{Json, object};
use dsh_json_schema::Schema;
use dsh_lifecycle::{Cancel, Registrations};
use dsh_llm::{plain_text, text};
use dsh_timeout_policy::{TimeoutConfig, TimeoutPolicy};
use dsh_tools_core::{
    AnyTool, BoxFuture, CallInput, Content, Context, Definition, Layer, Next, Post, PostDecision, RunContext,
    ToolError, ToolResult, Tools,
};
use parking_lot::Mutex;
use tokio::time::sleep;

/// What the body does: waits, and then.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Does {
    /// Ends after so long, whatever it is told.
    EndsAfter(u64),
    /// Stops when it is told to, so much later, with an error of its own.
    StopsWithin(u64),
}

struct Body {
    does: Does,
    /// The cancellations that bodies were given.
    given: Arc<Mutex<Vec<Cancel>>>,
}

impl AnyTool for Body {
    fn execute<'a>(&'a self, _: &'a Json, cx: &'a RunContext) -> BoxFuture<'a, Result<Json, ToolError>> {
        Box::pin(async move {
            self.given.lock().push(cx.cancel().clone());
            cx.defer_context(Context { plugin: "body".into(), form: None, content: text("by the way") });
            match self.does {
                Does::EndsAfter(millis) => sleep(Duration::from_millis(millis)).await,
                Does::StopsWithin(millis) => {
                    cx.cancel().cancelled().await;
                    sleep(Duration::from_millis(millis)).await;
                    return Err(ToolError::new("AbortError", "OWN", "I was stopped"));
                }
            }
            Ok(object! { "done": true })
        })
    }

    fn render(&self, _: &Json, _: &Json) -> Result<Content, ToolError> {
        Ok(text("done"))
    }
}

/// Notes what the stage after the body sees.
struct After(Arc<Mutex<Vec<Cancel>>>);

#[async_trait]
impl Layer<Post, PostDecision> for After {
    async fn call(&self, cx: &Post, next: Next<'_, Post, PostDecision>) -> Result<PostDecision, ToolError> {
        self.0.lock().push(cx.execution.cancel.clone());
        next.run(cx).await
    }
}

pub(crate) struct Scene {
    pub(crate) tools: Tools,
    pub(crate) given: Arc<Mutex<Vec<Cancel>>>,
    pub(crate) after: Arc<Mutex<Vec<Cancel>>>,
    pub(crate) policy: Option<Registrations>,
    _kept: Registrations,
}

impl Scene {
    /// A tool `t` with this budget in milliseconds, if it declares one.
    pub(crate) fn new(config: &str, budget: Option<u64>, does: Does) -> Self {
        let (tools, given, after) = (Tools::new(), Arc::default(), Arc::default());
        let any = || Schema::object().open().build().unwrap();
        let body = Body { does, given: Arc::clone(&given) };
        let mut tool = Definition::raw("t", "Takes its time.", any(), any(), body).unwrap();
        if let Some(budget) = budget {
            tool = tool.with_timeout(Duration::from_millis(budget)).unwrap();
        }
        let mut kept = Registrations::new();
        kept.push(tools.register(None, tool).unwrap());
        kept.push(tools.on_post_execute(None, Arc::new(After(Arc::clone(&after)))));
        let config = Json::parse(config).unwrap().read::<TimeoutConfig>().unwrap();
        let policy = Some(TimeoutPolicy::new(tools.clone(), config).register());
        Self { tools, given, after, policy, _kept: kept }
    }

    pub(crate) async fn call(&self, cancel: &Cancel) -> Arc<ToolResult> {
        self.tools.execute(CallInput { cancel: cancel.clone(), ..CallInput::new("c", "t", object! {}) }).await
    }
}

/// The code of a failure, or what a success says.
pub(crate) fn told(result: &ToolResult) -> String {
    let code = result.error().and_then(|error| error.info.as_ref()).map(|info| info.code.to_string());
    code.unwrap_or_else(|| plain_text(&result.content))
}
