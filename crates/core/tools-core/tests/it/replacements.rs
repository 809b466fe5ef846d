//! What wrappers and post-execute listeners may put in the place of a result (spec 01 §6.4, §6.6).

use async_trait::async_trait;
use dsh_json::{Json, object};
use dsh_tools_core::{Accept, Answer, Attempt, Layer, Next, PostDecision, ToolError, codes, text};
use parking_lot::Mutex;

use crate::kit::{Probe, Stage, call, context, told, tool};

fn accepting(accept: impl Fn() -> Accept + Send + Sync + 'static) -> Stage {
    let mut stage = Stage::with_tool();
    stage.register(tool("fails", Probe::new(|_, _| Box::pin(async { Err(ToolError::plain("broke")) }))));
    stage.post(move |_| Ok(PostDecision::Accept(accept(), vec![])));
    stage
}

#[tokio::test]
async fn other_content_keeps_value_meta_and_failure() {
    let stage = accepting(|| Accept::Content(text("instead")));
    let result = stage.call(call("t")).await;
    assert_eq!(told(&result), "ok instead");
    assert_eq!(result.value(), Some(&Json::from("value")));
    assert_eq!(result.meta, Some(object! { "shown": "value" }));
    assert_eq!(told(&*stage.call(call("fails")).await), "- instead");
}

#[tokio::test]
async fn another_value_is_checked_and_rendered_again() {
    let result = accepting(|| Accept::Value("other".into())).call(call("t")).await;
    assert_eq!(told(&result), "ok \"other\"");
    assert_eq!(result.meta, Some(object! { "shown": "other" }));
    let wrong = accepting(|| Accept::Value(7.into())).call(call("t")).await;
    assert_eq!(wrong.error().and_then(ToolError::code), Some(codes::INVALID_TOOL_OUTPUT));
    let failed = accepting(|| Accept::Value("other".into())).call(call("fails")).await;
    assert!(failed.is_error() && failed.error().unwrap().message.contains("replace"));
}

#[tokio::test]
async fn a_block_is_a_failure_with_the_feedback_and_withholds_the_tools_messages() {
    let mut stage = Stage::new();
    stage.register(tool(
        "t",
        Probe::new(|_, cx| {
            cx.defer_context(context("withheld"));
            Box::pin(async { Ok("secret".into()) })
        }),
    ));
    stage.post(|_| Ok(PostDecision::Block(text("not for you"), vec![context("why")])));
    let result = stage.call(call("t")).await;
    assert_eq!(told(&result), "BLOCKED not for you + why");
    assert_eq!((result.value(), result.meta.as_ref()), (None, None));
    assert_eq!(result.error().unwrap().message, "not for you");
}

#[tokio::test]
async fn an_empty_block_still_says_something() {
    let mut stage = Stage::with_tool();
    stage.post(|_| Ok(PostDecision::Block(std::sync::Arc::from([]), vec![])));
    let result = stage.call(call("t")).await;
    assert_eq!(result.error().unwrap().message, "a policy withheld this result");
}

/// Answers once with what another call came to.
struct Cached(Mutex<Option<Answer>>);

#[async_trait]
impl Layer<Attempt, Answer> for Cached {
    async fn call(&self, cx: &Attempt, next: Next<'_, Attempt, Answer>) -> Result<Answer, ToolError> {
        let kept = self.0.lock().take();
        if let Some(answer) = kept {
            Ok(answer)
        } else {
            let answer = next.run(cx).await?;
            *self.0.lock() = Some(answer);
            Ok(Answer::failed(ToolError::plain("kept for later")))
        }
    }
}

#[tokio::test]
async fn the_result_of_another_call_is_believed_as_far_as_its_value_fits() {
    let mut stage = Stage::with_tool();
    stage.register(tool(
        "u",
        Probe { render: |value| Ok(text(format!("u says {value}"))), ..Probe::returning("x") },
    ));
    stage.around(Cached(Mutex::new(None)));
    assert_eq!(told(&*stage.call(call("t")).await), "- Error: kept for later");
    assert_eq!(told(&*stage.call(call("u")).await), "ok u says \"value\"");
}

#[tokio::test]
async fn a_wrappers_value_for_an_unknown_tool_is_not_believed() {
    struct Instead;
    #[async_trait]
    impl Layer<Attempt, Answer> for Instead {
        async fn call(&self, _: &Attempt, _next: Next<'_, Attempt, Answer>) -> Result<Answer, ToolError> {
            Ok(Answer::Value { value: "v".into(), contexts: vec![] })
        }
    }
    let mut stage = Stage::with_tool();
    stage.around(Instead);
    let result = stage.call(call("nosuch")).await;
    assert_eq!(result.error().and_then(ToolError::code), Some(codes::UNKNOWN_TOOL));
    assert_eq!(told(&*stage.call(call("t")).await), "ok \"v\"");
    assert!(stage.noted().is_empty(), "the body did not run");
}

#[tokio::test]
async fn a_wrappers_failure_keeps_its_meta_and_messages() {
    struct Fails;
    #[async_trait]
    impl Layer<Attempt, Answer> for Fails {
        async fn call(&self, _: &Attempt, _next: Next<'_, Attempt, Answer>) -> Result<Answer, ToolError> {
            let error = ToolError::new("W", "W_FAILED", "wrapped");
            Ok(Answer::Failed { error, meta: Some(1.into()), contexts: vec![context("rider")] })
        }
    }
    let mut stage = Stage::with_tool();
    stage.around(Fails);
    let result = stage.call(call("t")).await;
    assert_eq!(told(&result), "W_FAILED Error: wrapped + rider");
    assert_eq!(result.meta, Some(1.into()));
}
