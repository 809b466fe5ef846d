//! Tools, listeners and rows that do what they should not.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use dsh_lifecycle::{Cancel, Cause};
use dsh_scope::Scope;
use dsh_tools_core::{
    Answer, Approval, ApprovalRequest, Approver, Attempt, BoxFuture, CallInput, Execution, Layer, Next,
    PreDecision, Ran, ToolError, Tools, codes,
};

use crate::kit::{Probe, Stage, agent, call, context, stopped, told, tool};

#[test]
fn a_row_that_comes_and_goes_is_never_seen_by_another_scope() {
    let tools = Tools::new();
    let scope = Scope::root();
    let looking = {
        let (tools, scope) = (tools.clone(), scope.clone());
        std::thread::spawn(move || {
            for _ in 0..20_000 {
                tools.view(Some(&scope));
            }
        })
    };
    while !looking.is_finished() {
        let own = tools.register(Some(&scope), tool("own", Probe::returning("x"))).unwrap();
        assert!(tools.view(None).get("own").is_none(), "a scope's own tool leaked into the global view");
        assert!(tools.view(Some(&Scope::root())).get("own").is_none());
        drop(own);
    }
    looking.join().unwrap();
}

/// Comes back to the registry when it is dropped.
struct Returns {
    tools: Tools,
    dropped: Arc<AtomicUsize>,
}

impl Drop for Returns {
    fn drop(&mut self) {
        self.tools.view(None);
        self.dropped.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn a_row_is_dropped_with_its_registration_and_may_come_back_to_the_registry() {
    let tools = Tools::new();
    let dropped = Arc::new(AtomicUsize::new(0));
    let returns = Returns { tools: tools.clone(), dropped: Arc::clone(&dropped) };
    let probe = Probe::new(move |_, _| {
        let _held = &returns;
        Box::pin(async { Ok("v".into()) })
    });
    let registration = tools.register(None, tool("t", probe)).unwrap();
    tools.view(None);
    tools.view(Some(&Scope::root()));
    drop(registration);
    assert_eq!(dropped.load(Ordering::SeqCst), 1, "something still holds the tool");
}

#[tokio::test]
async fn a_listener_that_panics_before_its_first_await_is_contained() {
    struct Sync;
    impl Layer<Execution, PreDecision> for Sync {
        fn call<'a, 'b, 'c, 'd>(
            &'a self,
            _: &'b Execution,
            _: Next<'c, Execution, PreDecision>,
        ) -> BoxFuture<'d, Result<PreDecision, ToolError>>
        where
            'a: 'd,
            'b: 'd,
            'c: 'd,
            Self: 'd,
        {
            panic!("on purpose")
        }
    }
    let mut stage = Stage::with_tool();
    let listener = stage.tools.on_pre_execute(None, Arc::new(Sync));
    stage.keep(listener);
    assert!(told(&*stage.call(call("t")).await).starts_with(codes::PANICKED));
}

/// Answers with a value of its own whatever the inner part came to, after `tries` of it.
struct Fallback {
    tries: usize,
}

#[async_trait]
impl Layer<Attempt, Answer> for Fallback {
    async fn call(&self, cx: &Attempt, next: Next<'_, Attempt, Answer>) -> Result<Answer, ToolError> {
        for _ in 0..self.tries {
            next.clone().run(cx).await?;
        }
        Ok(Answer::Value { value: "fallback".into(), contexts: vec![] })
    }
}

#[tokio::test]
async fn a_fallback_does_not_hide_an_abort_that_came_before_the_body_ended() {
    for (tries, fails) in [(1, true), (1, false), (2, false)] {
        let cancel = Cancel::new();
        let stop = cancel.clone();
        let mut stage = Stage::new();
        stage.register(tool(
            "t",
            Probe::new(move |_, _| {
                stop.cancel(Cause::User);
                Box::pin(
                    async move { if fails { Err(ToolError::plain("heard it")) } else { Ok("v".into()) } },
                )
            }),
        ));
        stage.around(Fallback { tries });
        let result = stage.call(stopped("t", &cancel)).await;
        assert_eq!(told(&result), "ABORTED Error: tool call aborted", "{tries} {fails}");
    }
}

#[tokio::test]
async fn an_abort_while_a_result_is_rendered_comes_too_late() {
    let cancel = Cancel::new();
    thread_local!(static STOP: std::cell::RefCell<Option<Cancel>> = const { std::cell::RefCell::new(None) });
    STOP.set(Some(cancel.clone()));
    let render = |_: &dsh_json::Json| {
        if let Some(cancel) = STOP.take() {
            cancel.cancel(Cause::User);
        }
        Ok(dsh_tools_core::text("rendered"))
    };
    let mut stage = Stage::new();
    stage.register(tool("t", Probe { render, ..Probe::returning("v") }));
    assert_eq!(told(&*stage.call(stopped("t", &cancel)).await), "ok rendered");
    assert!(cancel.is_cancelled());
}

/// Runs the inner part twice and keeps the first answer.
struct KeepsFirst;

#[async_trait]
impl Layer<Attempt, Answer> for KeepsFirst {
    async fn call(&self, cx: &Attempt, next: Next<'_, Attempt, Answer>) -> Result<Answer, ToolError> {
        let first = next.clone().run(cx).await;
        next.run(cx).await?;
        first
    }
}

#[tokio::test]
async fn an_attempt_keeps_what_is_its_own() {
    let runs = AtomicUsize::new(0);
    let mut stage = Stage::new();
    stage.register(tool(
        "t",
        Probe::new(move |_, cx| {
            let run = runs.fetch_add(1, Ordering::SeqCst);
            cx.defer_context(context(&format!("of {run}")));
            if run == 1 {
                cx.conclude_turn();
            }
            Box::pin(async move { Ok(format!("v{run}").into()) })
        }),
    ));
    stage.around(KeepsFirst);
    let result = stage.call(call("t")).await;
    assert_eq!((told(&result), result.concludes_turn()), ("ok \"v0\" + of 0".to_owned(), false));
}

#[tokio::test]
async fn what_a_failed_body_asked_for_does_not_end_the_turn() {
    let mut stage = Stage::new();
    stage.register(tool(
        "t",
        Probe::new(|_, cx| {
            cx.conclude_turn();
            Box::pin(async { Err(ToolError::plain("no")) })
        }),
    ));
    stage.around(Fallback { tries: 1 });
    let result = stage.call(call("t")).await;
    assert_eq!((told(&result), result.concludes_turn()), ("ok \"fallback\"".to_owned(), false));
}

#[tokio::test]
async fn whoever_sees_a_call_can_stop_it_and_nothing_above_it() {
    let cancel = Cancel::new();
    let mut stage = Stage::new();
    stage.register(tool(
        "t",
        Probe::new(|_, cx| {
            cx.cancel().cancel(Cause::Settled);
            cx.execution().cancel.cancel(Cause::Settled);
            Box::pin(async { Ok("v".into()) })
        }),
    ));
    stage.call(stopped("t", &cancel)).await;
    assert!(!cancel.is_cancelled());
}

#[tokio::test]
async fn nobody_is_asked_about_a_call_that_was_stopped() {
    struct Never;
    #[async_trait]
    impl Approver for Never {
        async fn ask(&self, _: ApprovalRequest<'_>) -> Result<Approval, ToolError> {
            panic!("asked")
        }
    }
    let mut stage = Stage::with_tool();
    stage.pre(|_| Some(PreDecision::Ask(None)));
    let mounted = stage.tools.approver().provide(Arc::new(Never)).unwrap();
    stage.keep(mounted);
    let cancel = Cancel::new();
    let input = CallInput { agent: Some(agent(&Scope::root())), ..stopped("t", &cancel) };
    let dsh_tools_core::Prepared::Ready(ready) = stage.tools.prepare(input).await else { panic!("settled") };
    cancel.cancel(Cause::User);
    let settled = stage.tools.dispatch(ready).await;
    let result = stage.tools.finish(settled).await.publish();
    assert!(told(&result).starts_with(codes::ABORTED_BEFORE_DISPATCH), "{}", told(&result));
}

#[tokio::test]
async fn a_payload_that_panics_when_dropped_is_contained_everywhere() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            std::panic::panic_any(Self);
        }
    }
    struct Guarding;
    impl dsh_tools_core::Guard for Guarding {
        fn check(&self, _: &Execution) -> Option<String> {
            std::panic::panic_any(Bomb)
        }
    }
    let mut stage = Stage::new();
    stage.register(tool("body", Probe::new(|_, _| std::panic::panic_any(Bomb))));
    stage
        .register(tool("render", Probe { render: |_| std::panic::panic_any(Bomb), ..Probe::returning("v") }));
    stage.register(tool(
        "classify",
        Probe { parallel: |_| std::panic::panic_any(Bomb), ..Probe::returning("v") },
    ));
    assert!(told(&*stage.call(call("body")).await).starts_with(codes::PANICKED));
    assert!(told(&*stage.call(call("render")).await).starts_with(codes::INVALID_TOOL_OUTPUT));
    let view = stage.tools.view(None);
    assert!(!view.get("classify").unwrap().parallel(&dsh_json::Json::Null));
    let guard = stage.tools.guard(None, Arc::new(Guarding));
    stage.keep(guard);
    assert!(told(&*stage.call(call("classify")).await).starts_with(codes::PANICKED));
}

#[tokio::test]
async fn an_endless_name_costs_little_and_is_not_repeated_whole() {
    let mut stage = Stage::new();
    for number in 0..50 {
        stage.register(tool(&format!("tool-{number}"), Probe::returning("v")));
    }
    let result = stage.call(call(&"x".repeat(1_000_000))).await;
    let told = told(&result);
    assert!(told.starts_with(codes::UNKNOWN_TOOL) && told.len() < 1_000, "{} bytes", told.len());
    assert!(told.ends_with("and 30 more."), "{told}");
}

#[tokio::test]
async fn a_tool_that_went_away_between_two_attempts_is_not_said_to_have_done_nothing() {
    struct Unregisters(parking_lot::Mutex<Option<dsh_tools_core::Registration>>);
    #[async_trait]
    impl Layer<Attempt, Answer> for Unregisters {
        async fn call(&self, cx: &Attempt, next: Next<'_, Attempt, Answer>) -> Result<Answer, ToolError> {
            let first = next.clone().run(cx).await?;
            assert!(matches!(&first, Answer::Ran(Ran { .. })));
            drop(self.0.lock().take());
            next.run(cx).await
        }
    }
    let mut stage = Stage::new();
    let registration = stage.tools.register(None, tool("t", Probe::returning("v"))).unwrap();
    stage.around(Unregisters(parking_lot::Mutex::new(Some(registration))));
    let told = told(&*stage.call(call("t")).await);
    assert!(told.starts_with(codes::UNKNOWN_TOOL) && told.contains("did run it"), "{told}");
}

/// Runs every call as the first one that it saw.
struct Lends(OnceLock<Attempt>);

#[async_trait]
impl Layer<Attempt, Answer> for Lends {
    async fn call(&self, cx: &Attempt, next: Next<'_, Attempt, Answer>) -> Result<Answer, ToolError> {
        next.run(self.0.get_or_init(|| cx.child())).await
    }
}

/// A body may look at the call that it runs for: what was asked about it, and whether it was granted.
#[tokio::test]
async fn a_body_runs_for_its_own_call_and_for_no_other() {
    let mut stage = Stage::new();
    stage.register(tool(
        "t",
        Probe::new(|_, cx| {
            let id = cx.execution().call_id.to_string();
            Box::pin(async { Ok(id.into()) })
        }),
    ));
    let lends = stage.tools.on_execute(None, Arc::new(Lends(OnceLock::new())));
    stage.keep(lends);
    assert_eq!(told(&*stage.call(call("t")).await), "ok \"c1\"");
    let other = CallInput { call_id: "c2".into(), ..call("t") };
    let result = stage.call(other).await;
    let error = result.error().expect("the body ran for another call");
    assert!(error.message.contains("as another one"), "{}", error.message);
}
