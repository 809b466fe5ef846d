//! One body for all tools: its arguments say what it does.

use std::time::Duration;

use dsh_json::Json;
use dsh_json_schema::Schema;
use dsh_lifecycle::{Cancel, Cause};
use dsh_tools_core::{AnyTool, Content, Context, Definition, RunContext, ToolError, object, text};
use futures_util::future::BoxFuture;
use tokio::time::sleep;

use crate::kit::Notes;

/// What its arguments can ask for: `ms` to take, a context to `say`, to `conclude`, to `abort` the turn, to `stop` when
/// it is cancelled, to `fail`, to `panic`, to return a `bad` value.
#[derive(Clone)]
pub(crate) struct Probe {
    pub(crate) parallel: bool,
    pub(crate) notes: Notes,
    /// The turn's.
    pub(crate) cancel: Cancel,
}

impl Probe {
    pub(crate) fn named(&self, name: &str) -> Definition {
        let any = Schema::new(&object! { "type": "object" }).unwrap();
        let string = Schema::new(&object! { "type": "string" }).unwrap();
        Definition::raw(name, "A probe.", any, string, self.clone()).unwrap()
    }
}

impl AnyTool for Probe {
    fn execute<'a>(
        &'a self,
        arguments: &'a Json,
        cx: &'a RunContext,
    ) -> BoxFuture<'a, Result<Json, ToolError>> {
        Box::pin(async move {
            let id = &cx.execution().call_id;
            self.notes.note(format!("begin {id}"));
            let result = self.act(arguments, cx).await;
            self.notes.note(format!("end {id}"));
            result
        })
    }

    fn render(&self, _: &Json, value: &Json) -> Result<Content, ToolError> {
        Ok(text(value.as_str().unwrap()))
    }

    fn meta(&self, _: &Json, value: &Json) -> Result<Option<Json>, ToolError> {
        Ok(Some(object! { "shown": value.clone() }))
    }

    fn parallel(&self, _: &Json) -> bool {
        self.parallel
    }
}

impl Probe {
    async fn act(&self, arguments: &Json, cx: &RunContext) -> Result<Json, ToolError> {
        let asks = |what: &str| arguments.get(what).is_some();
        if let Some(words) = arguments.get("say").and_then(Json::as_str) {
            cx.defer_context(Context { plugin: "probe".into(), form: None, content: text(words) });
        }
        if asks("conclude") {
            cx.conclude_turn();
        }
        let done = sleep(Duration::from_millis(arguments.get("ms").and_then(Json::as_u64).unwrap_or(0)));
        if asks("stop") {
            tokio::select! {
                biased;
                () = cx.cancel().cancelled() => return Err(ToolError::plain("stopped")),
                () = done => {}
            }
        } else {
            done.await;
        }
        if asks("abort") {
            self.cancel.cancel(Cause::User);
        }
        assert!(!asks("panic"), "on purpose");
        if asks("fail") {
            return Err(ToolError::new("ProbeError", "PROBE", "it failed"));
        }
        Ok(if asks("bad") { Json::from(7) } else { format!("done {}", cx.execution().call_id).into() })
    }
}
