//! A turn that is stopped: every call is answered, in model order, by what is true of it.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use dsh_lifecycle::{Cancel, Cause};
use dsh_llm::{ErrorFacts, Finish};
use dsh_llm_script::Step;
use dsh_session::{Event, SessionObserver};
use dsh_tools_core::{Execution, Layer, Next, PreDecision, ToolError};
use tokio::time::sleep;

use crate::kit::{Scene, calls, says};
use crate::log::{line, reason, result_texts};

/// Stops the turn after so many milliseconds, and returns how it ended.
async fn stopped_after(ms: u64, scene: &Scene) -> String {
    let stop = async {
        sleep(Duration::from_millis(ms)).await;
        scene.cancel.cancel(Cause::User);
    };
    let ((), outcome) = tokio::join!(stop, scene.turn("go"));
    reason(&outcome.reason)
}

/// Stops the turn when this line is logged.
struct StopAt(&'static str, Cancel);

impl SessionObserver for StopAt {
    fn appended(&self, event: &Arc<Event>) {
        if line(event) == self.0 {
            self.1.cancel(Cause::User);
        }
    }
}

fn stop_at(scene: &Scene, line: &'static str) {
    scene.keep(scene.session().observe(Arc::new(StopAt(line, scene.cancel.clone()))));
}

#[tokio::test(start_paused = true)]
async fn before_its_first_step_it_has_none() {
    let scene = Scene::new([says("hello")]);
    scene.cancel.cancel(Cause::User);
    scene.turn("go").await;
    assert_eq!(scene.log(), ["turn/start 1", "turn/end aborted user"]);
}

#[tokio::test(start_paused = true)]
async fn the_cause_is_told() {
    let rows = [
        (Cause::User, "aborted user"),
        (Cause::Parent, "aborted parent"),
        (Cause::Disposed, "aborted disposed"),
        (Cause::Hook("enough".into()), "aborted hook enough"),
        (Cause::Deadline, "aborted hook deadline"),
    ];
    for (cause, expected) in rows {
        let scene = Scene::new([]);
        scene.cancel.cancel(cause);
        scene.cancel.cancel(Cause::User);
        assert_eq!(reason(&scene.turn("go").await.reason), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn while_the_model_thinks_there_is_no_answer() {
    let scene = Scene::new([Step { delay: Duration::from_millis(50), ..says("late") }]);
    assert_eq!(stopped_after(5, &scene).await, "aborted user");
    assert_eq!(scene.noted(&["turn/end"]), ["5 turn/end aborted user"]);
    assert_eq!(scene.log_of(&["model:", "step/end"]), ["step/end 1"]);
}

#[tokio::test(start_paused = true)]
async fn an_error_that_surfaces_meanwhile_does_not_hide_it() {
    let broken = Step { finish: Finish::Error(ErrorFacts::new("BROKEN", "broken")), ..says("so") };
    let scene = Scene::new([broken]);
    stop_at(&scene, "step/start 1");
    assert_eq!(reason(&scene.turn("go").await.reason), "aborted user");
}

#[tokio::test(start_paused = true)]
async fn a_stop_that_comes_with_the_last_word_counts() {
    let scene = Scene::new([says("hello")]);
    stop_at(&scene, "model: hello");
    assert_eq!(reason(&scene.turn("go").await.reason), "aborted user");
}

#[tokio::test(start_paused = true)]
async fn before_the_calls_none_of_them_runs() {
    let scene = Scene::new([calls([("c1", "p", "{}"), ("c2", "x", "{}")])]);
    stop_at(&scene, "model:  [c1 c2]");
    scene.turn("go").await;
    let expected = [
        "call c1",
        "result c1 ABORTED_BEFORE_DISPATCH",
        "call c2",
        "result c2 ABORTED_BEFORE_DISPATCH",
        "turn/end aborted user",
    ];
    assert_eq!(scene.log_of(&["call", "result", "turn/end"]), expected);
    assert_eq!(scene.noted(&["begin"]), [""; 0]);
    assert_eq!(result_texts(scene.session()), ["Error: tool call aborted before dispatch"; 2]);
}

#[tokio::test(start_paused = true)]
async fn in_the_first_pre_execute_none_of_them_runs() {
    struct Stop(Cancel);
    #[async_trait]
    impl Layer<Execution, PreDecision> for Stop {
        async fn call(
            &self,
            cx: &Execution,
            next: Next<'_, Execution, PreDecision>,
        ) -> Result<PreDecision, ToolError> {
            self.0.cancel(Cause::User);
            next.run(cx).await
        }
    }
    let scene = Scene::new([calls([("c1", "p", "{}"), ("c2", "p", "{}")])]);
    scene.keep(scene.tools.on_pre_execute(None, Arc::new(Stop(scene.cancel.clone()))));
    scene.turn("go").await;
    let expected = ["c1", "c2"].map(|id| format!("result {id} ABORTED_BEFORE_DISPATCH"));
    assert_eq!(scene.log_of(&["result"]), expected);
    assert_eq!(scene.noted(&["begin"]), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn what_runs_is_awaited_and_the_rest_is_answered() {
    let rows = [
        ("c1", "p", r#"{"ms":9,"say":"one"}"#),
        ("c2", "p", r#"{"ms":20,"stop":true,"say":"two"}"#),
        ("c3", "x", "{}"),
        ("c4", "p", "{}"),
    ];
    let scene = Scene::new([calls(rows), says("next turn")]);
    assert_eq!(stopped_after(5, &scene).await, "aborted user");
    let expected = [
        "0 begin c1",
        "0 begin c2",
        "5 end c2",
        "9 end c1",
        "9 result c1 ABORTED",
        "9 result c2 failed",
        "9 result c3 ABORTED_BEFORE_DISPATCH",
        "9 result c4 ABORTED_BEFORE_DISPATCH",
    ];
    assert_eq!(scene.noted(&["begin", "end", "result"]), expected);
    assert_eq!(scene.log_of(&["probe:"]), [""; 0], "nobody is left to read it in this turn");

    scene.turn_under(&Cancel::new(), "again").await;
    assert_eq!(scene.log_of(&["probe:", "user:"]), ["user: go", "probe: one", "probe: two", "user: again"]);
    let [_, request] = &*scene.requests() else { unreachable!() };
    let errors =
        request.messages.iter().filter(|message| message.content.iter().any(is_failed_result)).count();
    assert_eq!(errors, 4);
}

fn is_failed_result(block: &dsh_llm::ContentBlock) -> bool {
    matches!(block, dsh_llm::ContentBlock::ToolResult { is_error: true, .. })
}

#[tokio::test(start_paused = true)]
async fn a_call_that_had_finished_keeps_its_own_result() {
    let rows = [("c1", "p", r#"{"ms":9}"#), ("c2", "p", r#"{"ms":2,"conclude":true}"#)];
    let scene = Scene::new([calls(rows)]);
    stopped_after(5, &scene).await;
    assert_eq!(scene.log_of(&["result"]), ["result c1 ABORTED", "result c2 ok"]);
}

#[tokio::test(start_paused = true)]
async fn an_exclusive_call_that_stops_its_own_turn_was_aborted() {
    let scene = Scene::new([calls([("c1", "x", r#"{"abort":true}"#), ("c2", "x", "{}")])]);
    scene.turn("go").await;
    assert_eq!(scene.log_of(&["result"]), ["result c1 ABORTED", "result c2 ABORTED_BEFORE_DISPATCH"]);
    assert_eq!(scene.noted(&["begin"]), ["0 begin c1"]);
}

#[tokio::test(start_paused = true)]
async fn between_two_steps_it_ends_and_loses_no_context() {
    let scene = Scene::new([calls([("c1", "p", r#"{"say":"note"}"#)]), says("next turn")]);
    stop_at(&scene, "step/end 1");
    assert_eq!(reason(&scene.turn("go").await.reason), "aborted user");
    assert_eq!(scene.requests().len(), 1);
    scene.turn_under(&Cancel::new(), "again").await;
    assert_eq!(scene.log_of(&["probe:"]), ["probe: note"]);
}

#[tokio::test(start_paused = true)]
async fn a_program_s_calls_are_all_answered_too() {
    use dsh_agent::TurnRunner;
    let scene = Scene::new([]);
    scene.cancel.cancel(Cause::Disposed);
    let calls = crate::turns::requested(&[("c1", "p", "{}"), ("c2", "p", "{}")]);
    let ended = scene.turns.run_calls(&scene.agent, calls, &scene.cancel).await.unwrap();
    scene.assert_sound();
    assert_eq!(reason(&ended), "aborted disposed");
    let expected = ["c1", "c2"].map(|id| format!("result {id} ABORTED_BEFORE_DISPATCH"));
    assert_eq!(scene.log_of(&["result"]), expected);
}
