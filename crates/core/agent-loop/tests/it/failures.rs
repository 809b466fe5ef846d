//! A log that can't be written: nothing is made up, what runs is awaited, and what is open is closed when it can be.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use dsh_agent::TurnError;
use dsh_session::{Event, SessionObserver, TurnEndReason, verify};

use crate::kit::{Scene, Store, calls, says};
use crate::log::{line, reason};

const CALLS: [(&str, &str, &str); 3] =
    [("c1", "p", r#"{"ms":1,"say":"note"}"#), ("c2", "p", r#"{"ms":5}"#), ("c3", "x", "{}")];

#[tokio::test(start_paused = true)]
async fn a_result_that_is_not_written_ends_the_turn_after_the_others_have_settled() {
    let scene = Scene::new([calls(CALLS), says("next turn")]);
    scene.store.refuses.lock().push("result c1 ok");
    let error = scene.broken_turn("go").await;
    assert!(matches!(error, TurnError::Log(_)), "{error}");
    scene.assert_sound();
    assert_eq!(scene.noted(&["begin", "end"]), ["0 begin c1", "0 begin c2", "1 end c1", "5 end c2"]);
    let expected = [
        "call c1",
        "call c2",
        "result c1 TOOL_OUTCOME_UNKNOWN",
        "result c2 TOOL_OUTCOME_UNKNOWN",
        "result c3 TOOL_NOT_STARTED",
        "step/end 1",
        "turn/end error UNKNOWN",
    ];
    assert_eq!(scene.log_of(&["call", "result", "step/end", "turn/end"]), expected);
    let last: Vec<_> = scene.noted(&["turn/end", "flush"]).into_iter().rev().take(2).collect();
    assert_eq!(last, ["5 flush", "5 turn/end error UNKNOWN"]);
    assert_eq!(scene.turn("again").await.reason, TurnEndReason::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_context_whose_result_was_logged_survives_the_failure() {
    let scene = Scene::new([calls(CALLS), says("next turn")]);
    scene.store.refuses.lock().push("result c2 ok");
    scene.broken_turn("go").await;
    scene.turn("again").await;
    assert_eq!(scene.log_of(&["probe:"]), ["probe: note"]);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_not_written_does_not_run() {
    let scene = Scene::new([calls(CALLS)]);
    scene.store.refuses.lock().push("call c2");
    scene.broken_turn("go").await;
    scene.assert_sound();
    assert_eq!(scene.noted(&["begin", "end"]), ["0 begin c1", "1 end c1"]);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_not_on_the_device_is_not_made() {
    let scene = Scene::new([says("hello")]);
    scene.store.refuses.lock().push("flush");
    let error = scene.broken_turn("go").await;
    assert!(matches!(error, TurnError::Flush(_)), "{error}");
    scene.assert_sound();
    assert_eq!(scene.requests().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn an_exclusive_call_that_is_not_on_the_device_does_not_run() {
    let scene = Scene::new([calls([("c1", "x", "{}")])]);
    let store = Arc::clone(&scene.store);
    scene.keep(scene.session().observe(Arc::new(RefuseFlushAfter("call c1", store))));
    let error = scene.broken_turn("go").await;
    assert!(matches!(error, TurnError::Flush(_)), "{error}");
    scene.assert_sound();
    assert_eq!(scene.noted(&["begin"]), [""; 0]);
    assert_eq!(scene.log_of(&["result"]), ["result c1 TOOL_OUTCOME_UNKNOWN"]);
}

struct RefuseFlushAfter(&'static str, Arc<Store>);

impl SessionObserver for RefuseFlushAfter {
    fn appended(&self, event: &Arc<Event>) {
        if line(event) == self.0 {
            self.1.refuses.lock().push("flush");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_does_not_start_leaves_no_trace() {
    let scene = Scene::new([says("fine")]);
    scene.store.refuses.lock().push("turn/start 1");
    scene.broken_turn("go").await;
    assert_eq!(scene.log(), [""; 0]);
    assert_eq!(scene.turn("again").await.turn, 1);
}

#[tokio::test(start_paused = true)]
async fn a_store_that_stays_down_leaves_the_turn_open_until_it_is_back() {
    let scene = Scene::new([calls(CALLS), says("back")]);
    let at_call = {
        let store = Arc::clone(&scene.store);
        scene.session().observe(Arc::new(DownAfter("call c2", store)))
    };
    scene.broken_turn("go").await;
    drop(at_call);
    let verdict = verify(scene.session().header(), &scene.session().events(), scene.session().vocabulary());
    assert_eq!((verdict.problems, verdict.open_turn), (vec![], Some(1)));
    assert_eq!(scene.log_of(&["result", "turn/end"]), [""; 0], "nothing is made up");
    assert!(matches!(scene.broken_turn("again").await, TurnError::Log(_)));

    scene.store.down.store(false, Ordering::Relaxed);
    assert_eq!(reason(&scene.turn("again").await.reason), "completed");
    assert_eq!(scene.log_of(&["turn/end"]), ["turn/end interrupted", "turn/end completed"]);
}

struct DownAfter(&'static str, Arc<Store>);

impl SessionObserver for DownAfter {
    fn appended(&self, event: &Arc<Event>) {
        if line(event) == self.0 {
            self.1.down.store(true, Ordering::Relaxed);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_end_that_is_not_written_is_told() {
    let scene = Scene::new([says("fine"), says("fine")]);
    scene.store.refuses.lock().push("turn/end completed");
    scene.broken_turn("go").await;
    scene.turn("again").await;
    assert_eq!(scene.log_of(&["turn/end"]), ["turn/end interrupted", "turn/end completed"]);
}

#[tokio::test(start_paused = true)]
async fn a_step_that_does_not_start_or_end_invents_no_boundary() {
    let rows = [
        ("step/start 1", &["turn/start 1", "turn/end error UNKNOWN"][..]),
        (
            "step/end 1",
            &["turn/start 1", "step/start 1", "model: fine", "step/end 1", "turn/end error UNKNOWN"][..],
        ),
    ];
    for (refused, log) in rows {
        let scene = Scene::new([says("fine"), says("next turn")]);
        scene.store.refuses.lock().push(refused);
        let act = async || {
            scene.followup("go");
            scene.agent.when_idle().await;
        };
        scene.driven(act).await;
        assert_eq!(scene.log_of(&["turn/start", "step/start", "model:", "step/end", "turn/end"]), log);
        assert_eq!(scene.noted(&["failed"]), ["0 failed 1.1 UNKNOWN"], "at {refused}");
        assert_eq!(scene.turn("again").await.reason, TurnEndReason::Completed);
    }
}
