//! What a body attaches for a person's screen, whatever its call comes to (spec 01 §2.3).

use async_trait::async_trait;
use dsh_json::{Json, object};
use dsh_lifecycle::{Cancel, Cause};
use dsh_tools_core::{
    Accept, Answer, Attempt, CallInput, CallToken, Layer, Next, PostDecision, ToolError, codes, text,
};

use crate::kit::{Probe, Stage, call, stopped, told, tool};

fn facts() -> Json {
    object! { "facts": 7 }
}

/// A body that attaches something, twice, and then ends so.
fn attaching(end: fn() -> Result<Json, ToolError>) -> Stage {
    let mut stage = Stage::new();
    let probe = Probe::new(move |_, cx| {
        cx.attach_meta("first".into());
        cx.attach_meta(facts());
        Box::pin(async move { end() })
    });
    stage.register(tool("t", probe));
    stage
}

const WELL: fn() -> Result<Json, ToolError> = || Ok("v".into());

async fn check(stage: &Stage, expected: &str, meta: Option<Json>) {
    let result = stage.call(call("t")).await;
    assert_eq!((told(&result), &result.meta), (expected.to_owned(), &meta));
}

#[tokio::test]
async fn it_is_shown_with_a_success_and_with_a_failure() {
    check(&attaching(WELL), "ok \"v\"", Some(facts())).await;
    let broke = || Err(ToolError::new("BrokeError", "BROKE", "broke"));
    check(&attaching(broke), "BROKE Error: broke", Some(facts())).await;
    let result = attaching(|| Ok(1.into())).call(call("t")).await;
    let code = result.error().and_then(ToolError::code);
    assert_eq!((code, &result.meta), (Some(codes::INVALID_TOOL_OUTPUT), &Some(facts())));
    let panicking = || panic!("on purpose");
    let result = attaching(panicking).call(call("t")).await;
    assert_eq!(
        (result.error().and_then(ToolError::code), &result.meta),
        (Some(codes::PANICKED), &Some(facts()))
    );
}

#[tokio::test]
async fn without_it_the_tool_s_own_meta_is_shown() {
    let mut stage = Stage::new();
    stage.register(tool("t", Probe::returning("v")));
    check(&stage, "ok \"v\"", Some(object! { "shown": "v" })).await;
}

/// A wrapper that comes too late, with this to show.
struct Late(Option<Json>);

#[async_trait]
impl Layer<Attempt, Answer> for Late {
    async fn call(&self, cx: &Attempt, next: Next<'_, Attempt, Answer>) -> Result<Answer, ToolError> {
        let _ = next.run(cx).await?;
        let error = ToolError::new("LateError", "LATE", "too late");
        Ok(Answer::Failed { error, meta: self.0.clone(), contexts: vec![] })
    }
}

#[tokio::test]
async fn it_survives_a_stop_and_a_wrapper() {
    let mut stage = Stage::new();
    let cancel = Cancel::new();
    let stop = cancel.clone();
    let probe = Probe::new(move |_, cx| {
        cx.attach_meta(facts());
        stop.cancel(Cause::User);
        Box::pin(async { Ok("v".into()) })
    });
    stage.register(tool("t", probe));
    let result = stage.call(stopped("t", &cancel)).await;
    assert_eq!(
        (result.error().and_then(ToolError::code), &result.meta),
        (Some(codes::ABORTED), &Some(facts()))
    );

    let mut stage = attaching(WELL);
    stage.around(Late(None));
    check(&stage, "LATE Error: too late", Some(facts())).await;
    let mut stage = attaching(WELL);
    stage.around(Late(Some("its own".into())));
    check(&stage, "LATE Error: too late", Some("its own".into())).await;
}

#[tokio::test]
async fn it_is_a_fact_of_the_run_and_goes_with_another_value_and_not_with_a_withheld_result() {
    let mut stage = attaching(WELL);
    stage.post(|_| Ok(PostDecision::Accept(Accept::Value("other".into()), vec![])));
    check(&stage, "ok \"other\"", Some(facts())).await;
    let mut stage = attaching(WELL);
    stage.post(|_| Ok(PostDecision::Block(text("no"), vec![])));
    check(&stage, "BLOCKED no", None).await;
}

#[tokio::test]
async fn a_call_within_a_call_shows_nothing() {
    let stage = attaching(WELL);
    let outer: CallToken = {
        let dsh_tools_core::Prepared::Ready(ready) = stage.tools.prepare(call("t")).await else {
            panic!("settled")
        };
        let settled = stage.tools.dispatch(ready).await;
        stage.tools.finish(settled).await.execution().token
    };
    let result = stage.call(CallInput { parent: Some(outer), ..call("t") }).await;
    assert_eq!((told(&result), &result.meta), ("ok \"v\"".to_owned(), &None));
}

#[tokio::test]
async fn what_one_attempt_attached_is_not_the_next_one_s() {
    struct Twice;
    #[async_trait]
    impl Layer<Attempt, Answer> for Twice {
        async fn call(&self, cx: &Attempt, next: Next<'_, Attempt, Answer>) -> Result<Answer, ToolError> {
            let _ = next.clone().run(cx).await?;
            next.run(cx).await
        }
    }
    let mut stage = Stage::new();
    let first = std::sync::atomic::AtomicBool::new(true);
    let probe = Probe::new(move |_, cx| {
        if first.swap(false, std::sync::atomic::Ordering::Relaxed) {
            cx.attach_meta(facts());
        }
        Box::pin(async { Ok("v".into()) })
    });
    stage.register(tool("t", probe));
    stage.around(Twice);
    check(&stage, "ok \"v\"", Some(object! { "shown": "v" })).await;
}
