//! What wins when an abort races (spec 01 §7.4).

use std::sync::Arc;

use async_trait::async_trait;
use dsh_lifecycle::{Cancel, Cause};
use dsh_tools_core::{
    Answer, Arguments, Attempt, CallInput, Layer, Next, PostDecision, PreDecision, ToolError, codes,
};

use crate::kit::{Probe, Stage, Through, context, stopped, told, tool};

const BEFORE: &str = "ABORTED_BEFORE_DISPATCH Error: tool call aborted before dispatch";
const DURING: &str = "ABORTED Error: tool call aborted";

fn cancelled() -> Cancel {
    let cancel = Cancel::new();
    cancel.cancel(Cause::User);
    cancel
}

#[tokio::test]
async fn stopped_before_anything_runs_no_stage_and_is_published_once() {
    let mut stage = Stage::with_tool();
    stage.pre(|_| None);
    stage.post(|_| Ok(PostDecision::KEEP));
    stage.observe();
    assert_eq!(told(&*stage.call(stopped("t", &cancelled())).await), BEFORE);
    assert_eq!(stage.noted(), [format!("result {BEFORE}")]);
}

#[tokio::test]
async fn an_argument_error_wins_over_an_abort() {
    let stage = Stage::with_tool();
    let arguments = Arguments::parse("{", &dsh_json::Limits::default());
    let input = CallInput { cancel: cancelled(), ..CallInput::new("c", "t", arguments) };
    let result = stage.call(input).await;
    assert_eq!(result.error().and_then(ToolError::code), Some(codes::INVALID_ARGS));
}

/// Cancels while `pre-execute` runs, then answers.
async fn stopped_in_pre(answer: PreDecision) -> (String, Vec<String>) {
    let cancel = Cancel::new();
    let mut stage = Stage::with_tool();
    let stop = cancel.clone();
    stage.pre(move |_| {
        stop.cancel(Cause::User);
        Some(answer.clone())
    });
    stage.post(|_| Ok(PostDecision::KEEP));
    let result = stage.call(stopped("t", &cancel)).await;
    (told(&result), stage.noted())
}

#[tokio::test]
async fn stopped_during_pre_execute_goes_through_post_execute_and_a_denial_wins() {
    let notes = vec!["pre".to_owned(), "post".to_owned()];
    assert_eq!(stopped_in_pre(PreDecision::Allow).await, (BEFORE.to_owned(), notes.clone()));
    let denied = stopped_in_pre(PreDecision::Deny("no".to_owned())).await;
    assert_eq!(denied, ("DENIED Error: no".to_owned(), notes));
}

/// Gives the inner part a cancellation that is cancelled already.
struct StopsInner;

#[async_trait]
impl Layer<Attempt, Answer> for StopsInner {
    async fn call(&self, cx: &Attempt, next: Next<'_, Attempt, Answer>) -> Result<Answer, ToolError> {
        let inner = cx.child();
        inner.cancel().cancel(Cause::Deadline);
        next.run(&inner).await
    }
}

#[tokio::test]
async fn a_wrapper_that_stops_its_inner_part_leaves_the_caller_alone() {
    let mut stage = Stage::with_tool();
    stage.around(StopsInner);
    let cancel = Cancel::new();
    assert_eq!(told(&*stage.call(stopped("t", &cancel)).await), BEFORE);
    assert!(!cancel.is_cancelled());
    assert!(stage.noted().is_empty());
}

/// Stops the caller, then answers in the body's place.
struct ShortCircuit(Cancel);

#[async_trait]
impl Layer<Attempt, Answer> for ShortCircuit {
    async fn call(&self, _: &Attempt, _next: Next<'_, Attempt, Answer>) -> Result<Answer, ToolError> {
        self.0.cancel(Cause::User);
        Ok(Answer::Value { value: "instead".into(), contexts: vec![context("kept")] })
    }
}

#[tokio::test]
async fn an_answer_in_the_bodys_place_does_not_hide_an_abort() {
    let cancel = Cancel::new();
    let mut stage = Stage::with_tool();
    stage.around(ShortCircuit(cancel.clone()));
    assert_eq!(told(&*stage.call(stopped("t", &cancel)).await), format!("{BEFORE} + kept"));
}

fn stopping_body(cancel: &Cancel, fails: bool) -> Probe {
    let cancel = cancel.clone();
    Probe::new(move |_, cx| {
        cancel.cancel(Cause::User);
        cx.defer_context(context("kept"));
        Box::pin(async move { if fails { Err(ToolError::plain("own error")) } else { Ok("v".into()) } })
    })
}

#[tokio::test]
async fn a_success_that_was_stopped_before_it_ended_is_aborted_and_keeps_its_messages() {
    let cancel = Cancel::new();
    let mut stage = Stage::new();
    stage.register(tool("t", stopping_body(&cancel, false)));
    assert_eq!(told(&*stage.call(stopped("t", &cancel)).await), format!("{DURING} + kept"));
}

#[tokio::test]
async fn a_body_that_fails_after_an_abort_keeps_its_own_error() {
    let cancel = Cancel::new();
    let mut stage = Stage::new();
    stage.register(tool("t", stopping_body(&cancel, true)));
    assert_eq!(told(&*stage.call(stopped("t", &cancel)).await), "- Error: own error + kept");
}

#[tokio::test]
async fn invalid_output_wins_over_an_abort() {
    let cancel = Cancel::new();
    let stop = cancel.clone();
    let mut stage = Stage::new();
    stage.register(tool(
        "t",
        Probe::new(move |_, _| {
            stop.cancel(Cause::User);
            Box::pin(async { Ok(5.into()) })
        }),
    ));
    let result = stage.call(stopped("t", &cancel)).await;
    assert_eq!(result.error().and_then(ToolError::code), Some(codes::INVALID_TOOL_OUTPUT));
}

/// Cancels after the body has ended.
struct StopsAfter(Cancel);

#[async_trait]
impl Layer<Attempt, Answer> for StopsAfter {
    async fn call(&self, cx: &Attempt, next: Next<'_, Attempt, Answer>) -> Result<Answer, ToolError> {
        let answer = next.run(cx).await;
        self.0.cancel(Cause::User);
        answer
    }
}

#[tokio::test]
async fn a_success_that_ended_before_the_abort_stays() {
    let cancel = Cancel::new();
    let mut stage = Stage::with_tool();
    stage.around(StopsAfter(cancel.clone()));
    assert_eq!(told(&*stage.call(stopped("t", &cancel)).await), "ok \"value\"");

    let cancel = Cancel::new();
    let mut stage = Stage::with_tool();
    let stop = cancel.clone();
    stage.post(move |_| {
        stop.cancel(Cause::User);
        Ok(PostDecision::KEEP)
    });
    assert_eq!(told(&*stage.call(stopped("t", &cancel)).await), "ok \"value\"");
}

#[tokio::test]
async fn a_retry_after_the_body_ran_never_claims_that_nothing_happened() {
    struct RetryAfterStop(Cancel);
    #[async_trait]
    impl Layer<Attempt, Answer> for RetryAfterStop {
        async fn call(&self, cx: &Attempt, next: Next<'_, Attempt, Answer>) -> Result<Answer, ToolError> {
            next.clone().run(cx).await?;
            self.0.cancel(Cause::User);
            next.run(cx).await
        }
    }
    let cancel = Cancel::new();
    let mut stage = Stage::with_tool();
    stage.around(RetryAfterStop(cancel.clone()));
    assert_eq!(told(&*stage.call(stopped("t", &cancel)).await), DURING);
    assert_eq!(stage.noted(), ["body"]);
}

#[tokio::test(start_paused = true)]
async fn the_caller_reaches_a_body_behind_a_deadline_and_a_deaf_body_is_awaited() {
    struct Deadline;
    #[async_trait]
    impl Layer<Attempt, Answer> for Deadline {
        async fn call(&self, cx: &Attempt, next: Next<'_, Attempt, Answer>) -> Result<Answer, ToolError> {
            next.run(&cx.child()).await
        }
    }
    let mut stage = Stage::new();
    let second = std::time::Duration::from_secs(1);
    stage.register(tool(
        "listens",
        Probe::new(|_, cx| {
            Box::pin(async {
                cx.cancel().cancelled().await;
                Err(ToolError::plain("heard it"))
            })
        }),
    ));
    stage.register(tool(
        "deaf",
        Probe::new(move |_, _| {
            Box::pin(async move {
                tokio::time::sleep(second).await;
                Ok("v".into())
            })
        }),
    ));
    stage.around(Deadline);
    stage.around(Through(Arc::clone(&stage.notes)));
    for (name, expected) in [("listens", "- Error: heard it"), ("deaf", DURING)] {
        let cancel = Cancel::new();
        let began = tokio::time::Instant::now();
        let (result, ()) =
            tokio::join!(stage.call(stopped(name, &cancel)), async { cancel.cancel(Cause::User) });
        assert_eq!(told(&result), expected);
        assert_eq!(began.elapsed() >= second, name == "deaf");
    }
}
