//! The stages in their order, and what goes wrong in each.

use std::sync::Arc;

use async_trait::async_trait;
use dsh_json::{Json, object};
use dsh_tools_core::{
    Accept, Answer, Arguments, Attempt, Bound, CallInput, Content, Execution, Layer, Next, PostDecision,
    PreDecision, ToolError, ToolResult, codes, text,
};

use crate::kit::{Probe, Stage, Through, call, context, told, tool};

#[tokio::test]
async fn the_stages_run_in_the_order_of_the_picture() {
    struct Cut(crate::kit::Notes);
    #[async_trait]
    impl Bound for Cut {
        async fn bound(&self, _: &Arc<Execution>, result: &ToolResult) -> Option<Content> {
            self.0.lock().push(format!("bound {}", told(result)));
            Some(text("cut"))
        }
    }
    let notes = crate::kit::Notes::default();
    let noting = Arc::clone(&notes);
    let probe = Probe {
        finalize: |_| Some(text("finalized")),
        ..Probe::new(move |_, _| {
            noting.lock().push("body".to_owned());
            Box::pin(async { Ok("value".into()) })
        })
    };
    let mut stage = Stage::noting(&notes);
    stage.register(tool("t", probe));
    stage.pre(|_| None);
    stage.guard(None);
    stage.around(Through(Arc::clone(&notes)));
    stage.post(|_| Ok(PostDecision::KEEP));
    stage.observe();
    let bound = stage.tools.bound().provide(Arc::new(Cut(Arc::clone(&notes)))).unwrap();
    stage.keep(bound);

    let result = stage.call(call("t")).await;
    assert_eq!(result.value(), Some(&Json::from("value")));
    let expected =
        ["pre", "guard", "around in", "body", "around out", "post", "bound ok finalized", "result ok cut"];
    assert_eq!(stage.noted(), expected);
}

#[tokio::test]
async fn a_denial_skips_the_body_and_is_counted_by_post_execute() {
    let mut stage = Stage::with_tool();
    stage.pre(|_| Some(PreDecision::Deny("not today".to_owned())));
    stage.guard(None);
    stage.around(Through(Arc::clone(&stage.notes)));
    stage.post(|_| Ok(PostDecision::KEEP));
    assert_eq!(told(&*stage.call(call("t")).await), "DENIED Error: not today");
    assert_eq!(stage.noted(), ["pre", "post"]);
}

#[tokio::test]
async fn a_guard_denies_whatever_listeners_allowed() {
    let mut stage = Stage::with_tool();
    stage.pre(|_| Some(PreDecision::Allow));
    stage.guard(None);
    stage.guard(Some("never"));
    assert_eq!(told(&*stage.call(call("t")).await), "DENIED Error: never");
    assert_eq!(stage.noted(), ["pre", "guard", "guard"]);
}

#[tokio::test]
async fn a_failing_or_panicking_listener_is_one_failed_call() {
    let mut stage = Stage::with_tool();
    stage.post(|_| Ok(PostDecision::KEEP));
    stage.pre(|_| panic!("on purpose"));
    let result = stage.call(call("t")).await;
    assert_eq!(result.error().and_then(ToolError::code), Some(codes::PANICKED));
    assert_eq!(stage.noted(), ["pre"], "post-execute must not run");

    let mut stage = Stage::with_tool();
    stage.post(|_| Err(ToolError::plain("post broke")));
    assert_eq!(told(&*stage.call(call("t")).await), "- Error: post broke");
}

#[tokio::test]
async fn a_guard_that_panics_never_turns_into_a_permission() {
    struct Broken;
    impl dsh_tools_core::Guard for Broken {
        fn check(&self, _: &Execution) -> Option<String> {
            panic!("on purpose")
        }
    }
    let mut stage = Stage::with_tool();
    let guard = stage.tools.guard(None, Arc::new(Broken));
    stage.keep(guard);
    let result = stage.call(call("t")).await;
    assert_eq!(result.error().and_then(ToolError::code), Some(codes::PANICKED));
    assert!(stage.noted().is_empty());
}

#[tokio::test]
async fn a_failing_body_is_seen_by_wrappers_as_a_result_and_goes_through_post_execute() {
    let mut stage = Stage::new();
    stage.register(tool(
        "t",
        Probe::new(|_, _| Box::pin(async { Err(ToolError::new("X", "X_FAILED", "no luck")) })),
    ));
    stage.around(Through(Arc::clone(&stage.notes)));
    stage.post(|post| {
        assert!(post.result.is_error());
        Ok(PostDecision::KEEP)
    });
    assert_eq!(told(&*stage.call(call("t")).await), "X_FAILED Error: no luck");
    assert_eq!(stage.noted(), ["around in", "around out", "post"]);
}

#[tokio::test]
async fn a_panicking_body_is_one_failed_call() {
    let mut stage = Stage::new();
    stage.register(tool("t", Probe::new(|_, _| panic!("before the first await"))));
    stage.register(tool("u", Probe::new(|_, _| Box::pin(async { panic!("inside") }))));
    for name in ["t", "u"] {
        let result = stage.call(call(name)).await;
        assert_eq!(result.error().and_then(ToolError::code), Some(codes::PANICKED));
    }
}

/// Where nothing has run yet, a panic says so; behind the body it does not know.
#[tokio::test]
async fn a_panic_says_whether_the_call_can_have_had_an_effect() {
    struct Breaks {
        behind: bool,
    }
    #[async_trait]
    impl Layer<Attempt, Answer> for Breaks {
        async fn call(&self, cx: &Attempt, next: Next<'_, Attempt, Answer>) -> Result<Answer, ToolError> {
            if self.behind {
                let _ran = next.run(cx).await;
            }
            panic!("on purpose")
        }
    }
    for (behind, says) in [(false, "It had no effect."), (true, "It may have taken effect;")] {
        let mut stage = Stage::with_tool();
        stage.around(Breaks { behind });
        let result = stage.call(call("t")).await;
        assert_eq!(result.error().and_then(ToolError::code), Some(codes::PANICKED));
        assert!(told(&result).contains(says), "{behind}: {}", told(&result));
    }
    let mut stage = Stage::with_tool();
    stage.pre(|_| panic!("on purpose"));
    assert!(told(&*stage.call(call("t")).await).contains("It had no effect."));
}

#[tokio::test]
async fn an_unknown_tool_passes_the_policies_and_names_the_nearest() {
    let mut stage = Stage::with_tool();
    stage.register(tool("read", Probe::returning("x")));
    stage.pre(|_| None);
    stage.post(|_| Ok(PostDecision::KEEP));
    let result = stage.call(call("raed")).await;
    assert_eq!(told(&result), "UNKNOWN_TOOL Error: there is no tool `raed`; did you mean `read`?");
    assert_eq!(stage.noted(), ["pre", "post"]);
    let result = stage.call(call("compile_everything")).await;
    assert_eq!(
        told(&result),
        "UNKNOWN_TOOL Error: there is no tool `compile_everything`; available: t, read."
    );
    let nothing = Stage::new();
    assert_eq!(
        told(&*nothing.call(call("x")).await),
        "UNKNOWN_TOOL Error: there is no tool `x`; no tools are available."
    );
}

#[tokio::test]
async fn a_value_that_breaks_its_schema_or_its_renderer_is_invalid_output() {
    let mut stage = Stage::new();
    stage.register(tool("wrong", Probe::returning(5)));
    stage.register(tool("unshowable", Probe { render: |_| panic!("on purpose"), ..Probe::returning("x") }));
    stage.register(tool(
        "refusing",
        Probe { render: |_| Err(ToolError::plain("why not")), ..Probe::returning("x") },
    ));
    for name in ["wrong", "unshowable", "refusing"] {
        let result = stage.call(call(name)).await;
        assert_eq!(result.error().and_then(ToolError::code), Some(codes::INVALID_TOOL_OUTPUT), "{name}");
        assert!(result.error().unwrap().message.contains(name));
        assert_eq!(result.value(), None);
    }
}

#[tokio::test]
async fn meta_is_for_calls_of_a_model_only() {
    let stage = Stage::with_tool();
    let top = stage.call(call("t")).await;
    assert_eq!(top.meta, Some(object! { "shown": "value" }));
    let ready = stage.tools.prepare(call("t")).await;
    let dsh_tools_core::Prepared::Ready(ready) = ready else { panic!("not ready") };
    let finished = stage.tools.finish(stage.tools.dispatch(ready).await).await;
    let parent = Some(finished.execution().token);
    assert_eq!(stage.call(CallInput { parent, ..call("t") }).await.meta, None);
    let _ = finished.publish();
}

#[tokio::test]
async fn messages_ride_in_the_order_body_wrapper_post() {
    struct Adds;
    #[async_trait]
    impl Layer<Attempt, Answer> for Adds {
        async fn call(&self, cx: &Attempt, next: Next<'_, Attempt, Answer>) -> Result<Answer, ToolError> {
            let mut answer = next.run(cx).await?;
            if let Answer::Ran(ran) = &mut answer {
                ran.add_context(context("wrapper"));
            }
            Ok(answer)
        }
    }
    let mut stage = Stage::new();
    let probe = Probe::new(|_, cx| {
        cx.defer_context(context("body"));
        Box::pin(async { Ok("v".into()) })
    });
    stage.register(tool("t", probe));
    stage.around(Adds);
    stage.post(|_| Ok(PostDecision::Accept(Accept::Keep, vec![context("post")])));
    assert_eq!(told(&*stage.call(call("t")).await), "ok \"v\" + body, wrapper, post");
}

#[tokio::test]
async fn messages_of_the_body_survive_a_failing_wrapper_and_listener() {
    struct Throws;
    #[async_trait]
    impl Layer<Attempt, Answer> for Throws {
        async fn call(&self, cx: &Attempt, next: Next<'_, Attempt, Answer>) -> Result<Answer, ToolError> {
            next.run(cx).await?;
            Err(ToolError::plain("wrapper broke"))
        }
    }
    let deferring = || {
        let mut stage = Stage::new();
        let probe = Probe::new(|_, cx| {
            cx.defer_context(context("kept"));
            Box::pin(async { Ok("v".into()) })
        });
        stage.register(tool("t", probe));
        stage
    };
    let mut stage = deferring();
    stage.around(Throws);
    assert_eq!(told(&*stage.call(call("t")).await), "- Error: wrapper broke + kept");

    let mut stage = deferring();
    stage.post(|_| Err(ToolError::plain("post broke")));
    assert_eq!(told(&*stage.call(call("t")).await), "- Error: post broke + kept");
}

#[tokio::test]
async fn a_retry_passes_the_inner_wrappers_again_and_starts_afresh() {
    struct Retry;
    #[async_trait]
    impl Layer<Attempt, Answer> for Retry {
        async fn call(&self, cx: &Attempt, next: Next<'_, Attempt, Answer>) -> Result<Answer, ToolError> {
            let first = next.clone().run(&cx.child()).await?;
            match &first {
                Answer::Ran(ran) if ran.result().is_error() => next.run(&cx.child()).await,
                Answer::Ran(_) | Answer::Value { .. } | Answer::Failed { .. } => Ok(first),
            }
        }
    }
    let runs = std::sync::atomic::AtomicUsize::new(0);
    let probe = Probe::new(move |_, cx| {
        let run = runs.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        cx.defer_context(context(&format!("run {run}")));
        if run == 0 {
            cx.conclude_turn();
        }
        Box::pin(async move { if run == 0 { Err(ToolError::plain("once")) } else { Ok("v".into()) } })
    });
    let mut stage = Stage::new();
    stage.register(tool("t", probe));
    stage.around(Retry);
    stage.around(Through(Arc::clone(&stage.notes)));
    let result = stage.call(call("t")).await;
    assert_eq!(told(&result), "ok \"v\" + run 1");
    assert!(!result.concludes_turn(), "what the first attempt said is forgotten");
    assert_eq!(stage.noted(), ["around in", "around out", "around in", "around out"]);
}

#[tokio::test]
async fn only_a_success_concludes_the_turn() {
    let concluding = |fails: bool| {
        let mut stage = Stage::new();
        let probe = Probe::new(move |_, cx| {
            cx.conclude_turn();
            Box::pin(async move { if fails { Err(ToolError::plain("no")) } else { Ok("v".into()) } })
        });
        stage.register(tool("t", probe));
        stage
    };
    assert!(concluding(false).call(call("t")).await.concludes_turn());
    assert!(!concluding(true).call(call("t")).await.concludes_turn());
    let mut blocked = concluding(false);
    blocked.post(|_| Ok(PostDecision::Block(text("no"), vec![])));
    assert!(!blocked.call(call("t")).await.concludes_turn());
}

#[tokio::test]
async fn a_panicking_finaliser_fails_the_call_and_is_not_asked_again() {
    let mut stage = Stage::new();
    stage.register(tool("t", Probe { finalize: |_| panic!("on purpose"), ..Probe::returning("x") }));
    stage.observe();
    let result = stage.call(call("t")).await;
    assert_eq!(result.error().and_then(ToolError::code), Some(codes::PANICKED));
    assert_eq!(stage.noted().len(), 1);
}

#[tokio::test]
async fn a_failing_bound_never_changes_what_a_call_came_to() {
    struct Broken;
    #[async_trait]
    impl Bound for Broken {
        async fn bound(&self, _: &Arc<Execution>, _: &ToolResult) -> Option<Content> {
            panic!("on purpose")
        }
    }
    let stage = Stage::with_tool();
    let _bound = stage.tools.bound().provide(Arc::new(Broken)).unwrap();
    assert_eq!(told(&*stage.call(call("t")).await), "ok \"value\"");
}

#[tokio::test]
async fn a_panicking_observer_stops_neither_the_call_nor_its_peers() {
    struct Broken;
    impl dsh_tools_core::Observer for Broken {
        fn result(&self, _: &Arc<Execution>, _: &Arc<ToolResult>) {
            panic!("on purpose")
        }
    }
    let mut stage = Stage::with_tool();
    let broken = stage.tools.on_result(None, Arc::new(Broken));
    stage.keep(broken);
    stage.observe();
    assert_eq!(told(&*stage.call(call("t")).await), "ok \"value\"");
    assert_eq!(stage.noted(), ["body", "result ok \"value\""]);
}

#[tokio::test]
async fn malformed_arguments_reach_listeners_as_text_and_never_a_body() {
    let mut stage = Stage::with_tool();
    stage.pre(|_| None);
    stage.post(|post| {
        assert_eq!(post.execution.arguments, Json::from("{\"a\": "));
        Ok(PostDecision::KEEP)
    });
    let arguments = Arguments::parse("{\"a\": ", &dsh_json::Limits::default());
    let result = stage.call(CallInput::new("c", "t", arguments)).await;
    assert_eq!(result.error().and_then(ToolError::code), Some(codes::INVALID_ARGS));
    assert_eq!(stage.noted(), ["post"]);
}
