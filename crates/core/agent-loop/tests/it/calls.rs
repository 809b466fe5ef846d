//! One step's calls: their order, their overlap, and what becomes of each.

use std::num::NonZeroUsize;
use std::sync::Arc;

use async_trait::async_trait;
use dsh_agent_loop::LoopConfig;
use dsh_lifecycle::Registration;
use dsh_llm_script::ToolCall;
use dsh_session::{ToolCall as LoggedCall, ToolResult as LoggedResult};
use dsh_tools_core::{
    Accept, Content, ContentBlock, Execution, Layer, Next, Observer, Post, PostDecision, PreDecision,
    ToolError, ToolResult, text,
};
use parking_lot::Mutex;

use crate::kit::{Notes, Scene, calls, says};
use crate::log::{all, result_texts};

/// Runs one step of calls with this cap, and compares starts, bodies and results, each with its time.
async fn check<const N: usize>(cap: usize, rows: [(&str, &str, &str); N], expected: &[&str]) {
    let scene = Scene::with(capped(cap), [calls(rows), says("done")]);
    scene.turn("go").await;
    assert_eq!(scene.noted(&["call", "begin", "end", "result"]), expected);
}

fn capped(cap: usize) -> LoopConfig {
    LoopConfig { max_parallel_tool_calls: NonZeroUsize::new(cap).unwrap(), ..LoopConfig::default() }
}

#[tokio::test(start_paused = true)]
async fn results_are_logged_in_model_order_though_later_calls_finish_first() {
    let rows = [("c1", "p", r#"{"ms":3}"#), ("c2", "p", r#"{"ms":2}"#), ("c3", "p", r#"{"ms":1}"#)];
    let expected = [
        "0 call c1",
        "0 begin c1",
        "0 call c2",
        "0 begin c2",
        "0 call c3",
        "0 begin c3", //
        "1 end c3",
        "2 end c2",
        "3 end c1", //
        "3 result c1 ok",
        "3 result c2 ok",
        "3 result c3 ok",
    ];
    check(10, rows, &expected).await;
}

#[tokio::test(start_paused = true)]
async fn an_exclusive_call_is_a_barrier() {
    let rows = [("c1", "p", r#"{"ms":2}"#), ("c2", "x", r#"{"ms":1}"#), ("c3", "p", "{}")];
    let expected = [
        "0 call c1",
        "0 begin c1",
        "2 end c1",
        "2 result c1 ok", //
        "2 call c2",
        "2 begin c2",
        "3 end c2",
        "3 result c2 ok", //
        "3 call c3",
        "3 begin c3",
        "3 end c3",
        "3 result c3 ok",
    ];
    check(10, rows, &expected).await;
}

#[tokio::test(start_paused = true)]
async fn a_place_is_refilled_behind_a_slow_head() {
    let rows = [("c1", "p", r#"{"ms":5}"#), ("c2", "p", r#"{"ms":1}"#), ("c3", "p", r#"{"ms":1}"#)];
    let expected = [
        "0 call c1",
        "0 begin c1",
        "0 call c2",
        "0 begin c2", //
        "1 end c2",
        "1 call c3",
        "1 begin c3",
        "2 end c3",
        "5 end c1", //
        "5 result c1 ok",
        "5 result c2 ok",
        "5 result c3 ok",
    ];
    check(2, rows, &expected).await;
}

#[tokio::test(start_paused = true)]
async fn a_cap_of_one_is_serial() {
    let rows = [("c1", "p", r#"{"ms":1}"#), ("c2", "p", r#"{"ms":1}"#)];
    let expected = [
        "0 call c1",
        "0 begin c1",
        "1 end c1",
        "1 result c1 ok", //
        "1 call c2",
        "1 begin c2",
        "2 end c2",
        "2 result c2 ok",
    ];
    check(1, rows, &expected).await;
}

#[tokio::test(start_paused = true)]
async fn calls_that_wait_follow_a_tool_that_is_swapped_while_they_wait() {
    struct Swap(Mutex<Option<Box<dyn FnOnce() -> Registration + Send>>>, Mutex<Option<Registration>>);
    impl Observer for Swap {
        fn result(&self, _: &Arc<Execution>, _: &Arc<ToolResult>) {
            if let Some(swap) = self.0.lock().take() {
                *self.1.lock() = Some(swap());
            }
        }
    }
    let rows =
        ["c1", "c2", "c3", "c4"].map(|id| (id, "p", if id == "c2" { r#"{"ms":5}"# } else { r#"{"ms":1}"# }));
    let scene = Scene::with(capped(2), [calls(rows), says("done")]);
    let (tools, scope) = (scene.tools.clone(), scene.agent.scope().clone());
    let exclusive = scene.probe(false).named("p");
    let swap = move || tools.register(Some(&scope), exclusive).unwrap();
    let observer = Swap(Mutex::new(Some(Box::new(swap))), Mutex::default());
    scene.keep(scene.tools.on_result(None, Arc::new(observer)));
    scene.turn("go").await;
    let expected = [
        "0 begin c1",
        "0 begin c2",
        "1 end c1",
        "5 end c2", //
        "5 begin c3",
        "6 end c3",
        "6 begin c4",
        "7 end c4",
    ];
    assert_eq!(scene.noted(&["begin", "end"]), expected);
}

/// Denies `deny`, fails on `throw`, and notes what passes before and after the body.
struct Listening {
    notes: Notes,
}

#[async_trait]
impl Layer<Execution, PreDecision> for Listening {
    async fn call(
        &self,
        cx: &Execution,
        next: Next<'_, Execution, PreDecision>,
    ) -> Result<PreDecision, ToolError> {
        self.notes.note(format!("pre {}", cx.call_id));
        match &*cx.call_id {
            "deny" => Ok(PreDecision::Deny("not today".to_owned())),
            "throw" => Err(ToolError::plain("a listener broke")),
            _ => next.run(cx).await,
        }
    }
}

#[async_trait]
impl Layer<Post, PostDecision> for Listening {
    async fn call(&self, cx: &Post, next: Next<'_, Post, PostDecision>) -> Result<PostDecision, ToolError> {
        self.notes.note(format!("post {}", cx.execution.call_id));
        next.run(cx).await
    }
}

#[tokio::test(start_paused = true)]
async fn calls_that_never_run_keep_their_position() {
    let rows =
        [("c1", "p", r#"{"ms":4}"#), ("deny", "p", "{}"), ("throw", "p", "{}"), ("c4", "p", r#"{"ms":2}"#)];
    let scene = Scene::new([calls(rows), says("done")]);
    let listening = Arc::new(Listening { notes: scene.notes.clone() });
    scene.keep(scene.tools.on_pre_execute(None, Arc::<Listening>::clone(&listening)));
    scene.keep(scene.tools.on_post_execute(None, listening));
    scene.turn("go").await;
    let expected = [
        "0 pre c1",
        "0 begin c1",
        "0 pre deny",
        "0 pre throw",
        "0 pre c4",
        "0 begin c4",
        "2 end c4",
        "4 end c1", //
        "4 post c1",
        "4 result c1 ok",
        "4 post deny",
        "4 result deny DENIED",
        "4 result throw failed", //
        "4 post c4",
        "4 result c4 ok",
    ];
    assert_eq!(scene.noted(&["pre", "begin", "end", "post", "result"]), expected);
}

#[tokio::test(start_paused = true)]
async fn what_becomes_of_one_call() {
    let rows = [
        ("c1", "p", "", "c1 ok"),
        ("c2", "p", "{}", "c2 ok"),
        ("c3", "nosuch", "{}", "c3 UNKNOWN_TOOL"),
        ("c4", "p", r#"{"ms":"#, "c4 INVALID_ARGS"),
        ("c5", "p", "  ", "c5 INVALID_ARGS"),
        ("c6", "p", r#"{"ms":1e400}"#, "c6 JSON_NUMBER"),
        ("c7", "p", r#"{"fail":1}"#, "c7 PROBE"),
        ("c8", "p", r#"{"panic":1}"#, "c8 PANICKED"),
        ("c9", "p", r#"{"bad":1}"#, "c9 INVALID_TOOL_OUTPUT"),
        ("c10", "x", r#"{"ms":1,"ms":2}"#, "c10 ok"),
    ];
    let asked = rows.map(|(id, name, arguments, _)| (id, name, arguments));
    let scene = Scene::new([calls(asked), says("done")]);
    scene.turn("go").await;
    assert_eq!(scene.log_of(&["result"]), rows.map(|(.., outcome)| format!("result {outcome}")));
    let logged = all::<LoggedCall>(scene.session());
    let raw: Vec<_> = logged.iter().map(|call| &*call.arguments).collect();
    assert_eq!(raw, rows.map(|(_, _, arguments, _)| arguments));
}

#[tokio::test(start_paused = true)]
async fn a_result_is_logged_with_its_meta_and_cites_its_call() {
    let scene = Scene::new([calls([("c1", "p", "{}")]), says("done")]);
    scene.turn("go").await;
    let events = scene.session().events();
    let place = events.iter().position(|event| &*event.kind == "tool/result").unwrap();
    assert_eq!(events[place].source_event_seqs.as_deref(), Some(&[place as u64 - 1][..]));
    let meta = all::<LoggedResult>(scene.session())[0].meta.clone().unwrap();
    assert_eq!(meta.to_text(), r#"{"shown":"done c1"}"#);
}

/// Notes of what it is told.
struct Told(Notes);

impl Observer for Told {
    fn result(&self, call: &Arc<Execution>, _: &Arc<ToolResult>) {
        self.0.note(format!("told {}", call.call_id));
    }
}

#[tokio::test(start_paused = true)]
async fn a_result_is_published_once_the_log_holds_it() {
    let rows = [("c1", "p", "{}"), ("c2", "x", r#"{"abort":true}"#), ("c3", "x", "{}")];
    let scene = Scene::new([calls(rows)]);
    scene.keep(scene.tools.on_result(None, Arc::new(Told(scene.notes.clone()))));
    scene.turn("go").await;
    let expected = [
        "0 result c1 ok",
        "0 told c1",
        "0 result c2 ABORTED",
        "0 told c2",
        "0 result c3 ABORTED_BEFORE_DISPATCH", // it never started, and nobody is told
    ];
    assert_eq!(scene.noted(&["result", "told"]), expected);

    let scene = Scene::new([calls([("c1", "p", "{}")])]);
    scene.keep(scene.tools.on_result(None, Arc::new(Told(scene.notes.clone()))));
    scene.store.refuses.lock().push("result c1 ok");
    scene.broken_turn("go").await;
    assert_eq!(scene.noted(&["told"]), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn content_that_no_log_takes_fails_its_own_call_only() {
    struct Nest;
    #[async_trait]
    impl Layer<Post, PostDecision> for Nest {
        async fn call(
            &self,
            cx: &Post,
            next: Next<'_, Post, PostDecision>,
        ) -> Result<PostDecision, ToolError> {
            if &*cx.execution.call_id != "c1" {
                return next.run(cx).await;
            }
            let inner =
                ContentBlock::ToolResult { tool_call_id: "c1".into(), content: text("x"), is_error: false };
            Ok(PostDecision::Accept(Accept::Content(Content::from([inner])), Vec::new()))
        }
    }
    let scene = Scene::new([calls([("c1", "p", "{}"), ("c2", "p", "{}")]), says("done")]);
    scene.keep(scene.tools.on_post_execute(None, Arc::new(Nest)));
    scene.turn("go").await;
    assert_eq!(scene.log_of(&["result"]), ["result c1 INVALID_TOOL_OUTPUT", "result c2 ok"]);
}

#[tokio::test(start_paused = true)]
async fn a_message_with_too_many_calls_runs_none_of_them_and_is_told() {
    let config =
        LoopConfig { max_tool_calls_per_step: NonZeroUsize::new(2).unwrap(), ..LoopConfig::default() };
    let three = calls([("c1", "p", "{}"), ("c2", "p", "{}"), ("c3", "p", "{}")]);
    let two = calls([("c4", "p", "{}"), ("c5", "p", "{}")]);
    let scene = Scene::with(config, [three, two, says("done")]);
    scene.turn("go").await;
    assert_eq!(scene.noted(&["begin"]), ["0 begin c4", "0 begin c5"]);
    let refused = ["c1", "c2", "c3"].map(|id| format!("result {id} TOOL_NOT_STARTED"));
    assert_eq!(scene.log_of(&["result"])[..3], refused);
    insta::assert_snapshot!(result_texts(scene.session())[0], @"Error: none of the 3 calls of this message ran: a step may have 2 (`maxToolCallsPerStep`). Send fewer at a time.");
}

#[tokio::test(start_paused = true)]
async fn arguments_beyond_their_limit_are_refused_by_name() {
    let config = LoopConfig { max_argument_bytes: NonZeroUsize::new(8).unwrap(), ..LoopConfig::default() };
    let rows = [("c1", "p", r#"{"ms":0}"#), ("c2", "p", r#"{"ms": 0}"#)];
    let scene = Scene::with(config, [calls(rows), says("done")]);
    scene.turn("go").await;
    assert_eq!(scene.log_of(&["result"]), ["result c1 ok", "result c2 JSON_TOO_LONG"]);
}

#[tokio::test(start_paused = true)]
async fn many_calls_park_no_more_results_than_allowed() {
    let config =
        LoopConfig { max_uncommitted_tool_calls: NonZeroUsize::new(3).unwrap(), ..LoopConfig::default() };
    let ids: Vec<String> = (1..=6).map(|n| format!("c{n}")).collect();
    let call = |id: &String| ToolCall {
        id: id.as_str().into(),
        name: "p".into(),
        arguments: if id == "c1" { r#"{"ms":9}"#.into() } else { "{}".into() },
    };
    let step = dsh_llm_script::Step::calls("", ids.iter().map(call).collect());
    let scene = Scene::with(config, [step, says("done")]);
    scene.turn("go").await;
    assert_eq!(
        scene.noted(&["begin"]),
        ["0 begin c1", "0 begin c2", "0 begin c3", "9 begin c4", "9 begin c5", "9 begin c6"]
    );
}
