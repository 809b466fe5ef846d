//! A driver: turns for whatever comes, one after the other.

use std::sync::Arc;

use dsh_agent::{Agent, Status, TurnError};
use dsh_lifecycle::{Cancel, Cause};
use dsh_llm::{Chunk, Finish, Model, ModelRequest};
use dsh_session::{AssistantChunk, Event, SessionObserver};
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::kit::{Scene, calls, message, pass, says, thinks};

#[tokio::test(start_paused = true)]
async fn a_prompt_is_logged_before_its_turn_and_leaves_the_inbox_with_its_step() {
    let scene = Scene::new([says("hello")]);
    scene.driven(async || scene.followup("go")).await;
    let expected = [
        "inbox turn@0 +go",
        "turn/start 1",
        "step/start 1",
        "user: go",
        "header initial",
        "route inline",
        "model: hello",
        "step/end 1",
        "turn/end completed",
    ];
    assert_eq!(scene.whole_log(), expected);
    let told = ["session startup", "inserted turn go", "status running", "claimed 1 go", "status idle"];
    let noted = scene.noted(&["session", "inserted", "status", "claimed"]);
    assert_eq!(noted, told.map(|told| format!("0 {told}")));
}

#[tokio::test(start_paused = true)]
async fn a_burst_of_prompts_has_a_turn_each_in_one_run() {
    let scene = Scene::new((1..=4).map(|n| says(&format!("answer {n}"))));
    let act = async || {
        for words in ["a", "b", "c", "d"] {
            scene.followup(words);
        }
    };
    scene.driven(act).await;
    let said = scene.log_of(&["turn/start", "user:"]);
    let expected = [
        "turn/start 1",
        "user: a",
        "turn/start 2",
        "user: b",
        "turn/start 3",
        "user: c",
        "turn/start 4",
        "user: d",
    ];
    assert_eq!(said, expected);
    assert_eq!(scene.noted(&["status"]), ["0 status running", "0 status idle"]);
}

/// Hands on that a chunk came, since nobody may send from there.
struct Hears(UnboundedSender<()>);

impl SessionObserver for Hears {
    fn appended(&self, event: &Arc<Event>) {
        if event.read::<AssistantChunk>().is_some() {
            let _ = self.0.send(());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_prompt_sent_while_chunks_come_has_the_following_turn() {
    let scene = Scene::new([says("one"), says("two")]);
    let (sender, mut heard) = unbounded_channel();
    let observing = scene.session().observe(Arc::new(Hears(sender)));
    let act = async || {
        scene.followup("go");
        heard.recv().await;
        drop(observing);
        scene.followup("more");
    };
    scene.driven(act).await;
    assert_eq!(
        scene.log_of(&["turn/start", "user:"]),
        ["turn/start 1", "user: go", "turn/start 2", "user: more"]
    );
}

/// Sends a prompt when it is asked the first time.
struct Sends(Agent);

impl Model for Sends {
    fn provider(&self) -> &'static str {
        "sends"
    }

    fn model(&self) -> &'static str {
        "sends"
    }

    fn stream(&self, request: ModelRequest, _: Cancel) -> BoxStream<'static, Chunk> {
        if request.messages.len() == 1 {
            self.0.inbox().followup(message("from the model")).unwrap();
        }
        stream::iter([Chunk::Finish { reason: Finish::Stop, replay_state: None }]).boxed()
    }
}

#[tokio::test(start_paused = true)]
async fn a_prompt_sent_by_the_model_s_own_code_has_the_following_turn() {
    let scene = Scene::new([]);
    scene.unplug();
    scene.keep(scene.slot.provide(Arc::new(Sends(scene.agent.clone()))).unwrap());
    scene.driven(async || scene.followup("go")).await;
    let expected = ["turn/start 1", "user: go", "turn/start 2", "user: from the model"];
    assert_eq!(scene.log_of(&["turn/start", "user:"]), expected);
}

#[tokio::test(start_paused = true)]
async fn messages_that_no_step_was_left_for_have_a_turn() {
    let scene = Scene::new([says("one"), says("two")]);
    let act = async || {
        scene.followup("go");
        scene.agent.when_idle().await;
        scene.inject("for later");
        scene.followup("and now");
    };
    scene.driven(act).await;
    assert_eq!(scene.log_of(&["user:"]), ["user: go", "user: for later", "user: and now"]);
    assert_eq!(scene.noted(&["status"]).len(), 4);
}

#[tokio::test(start_paused = true)]
async fn whoever_asks_for_a_turn_while_another_runs_is_told_to_wait() {
    let scene = Scene::new([thinks(5, says("one")), says("two")]);
    let act = async || {
        scene.followup("go");
        let busy = scene.turns.run_turn(&scene.agent, dsh_llm::text("me too"), &Cancel::new()).await;
        assert!(matches!(busy, Err(TurnError::Busy)), "{busy:?}");
        let busy = scene.turns.drive(&scene.agent, &Cancel::new()).await;
        assert!(matches!(busy, Err(TurnError::Busy)), "{busy:?}");
        scene.agent.when_idle().await;
        // Between two turns of the driver everybody may have one.
        scene.turn("me now").await;
    };
    Box::pin(scene.driven(act)).await;
    assert_eq!(scene.log_of(&["user:"]), ["user: go", "user: me now"]);
}

#[tokio::test(start_paused = true)]
async fn stopping_a_driver_ends_its_turn_first() {
    let scene = Scene::new([calls([("c1", "p", r#"{"ms":9}"#)])]);
    let stop = Cancel::new();
    let act = async {
        scene.followup("go");
        scene.followup("never");
        pass(5).await;
        stop.cancel(Cause::Disposed);
    };
    let (driven, ()) = tokio::join!(scene.turns.drive(&scene.agent, &stop), act);
    driven.unwrap();
    scene.assert_sound();
    assert_eq!(scene.noted(&["end", "turn/end"]), ["9 end c1", "9 turn/end aborted disposed"]);
    assert_eq!((scene.agent.status(), &*scene.waits()), (Status::Idle, "[] [never]"));
}

#[tokio::test(start_paused = true)]
async fn a_driver_that_is_dropped_leaves_a_log_that_the_next_one_closes() {
    let scene = Scene::new([calls([("c1", "p", r#"{"ms":50}"#)]), says("done")]);
    let stop = Cancel::new();
    let dropped = async {
        let drive = scene.turns.drive(&scene.agent, &stop);
        assert!(tokio::time::timeout(std::time::Duration::from_millis(5), drive).await.is_err());
    };
    tokio::join!(dropped, async { scene.followup("go") });
    assert_eq!(scene.agent.status(), Status::Idle);
    scene.driven(async || scene.followup("again")).await;
    let expected = ["result c1 TOOL_OUTCOME_UNKNOWN", "turn/end interrupted", "turn/end completed"];
    assert_eq!(scene.log_of(&["result", "turn/end"]), expected);
}

/// A model that panics when it is asked, or when its stream is polled.
struct Panics {
    at_once: bool,
}

impl Model for Panics {
    fn provider(&self) -> &'static str {
        "panics"
    }

    fn model(&self) -> &'static str {
        "panics"
    }

    fn stream(&self, _: ModelRequest, _: Cancel) -> BoxStream<'static, Chunk> {
        assert!(!self.at_once, "on purpose");
        let begins = stream::iter([Chunk::TextDelta { index: 0, text: "half".into() }]);
        begins.chain(stream::once(async { panic!("on purpose") })).boxed()
    }
}

#[tokio::test(start_paused = true)]
async fn a_model_that_panics_has_failed() {
    for at_once in [true, false] {
        let scene = Scene::new([]);
        scene.unplug();
        let plugged = scene.slot.provide(Arc::new(Panics { at_once })).unwrap();
        let outcome = scene.turn("go").await;
        let dsh_session::TurnEndReason::Error { error } = outcome.reason else { unreachable!() };
        assert_eq!(
            (&*error.code, &*error.message),
            ("PANICKED", "the model was stopped by an internal error: on purpose")
        );
        assert_eq!(scene.log_of(&["step/end"]), ["step/end 1"]);
        drop(plugged);
    }
}

#[tokio::test(start_paused = true)]
async fn a_driver_outlives_a_panic_of_its_own_turn() {
    // A store is foreign code inside of the loop.
    let scene = Scene::new([says("one"), says("two")]);
    scene.store.panics.lock().push("model: one");
    scene.driven(async || scene.followup("go")).await;
    assert_eq!(scene.log_of(&["step/end", "turn/end"]), ["step/end 1", "turn/end error PANICKED"]);
    assert_eq!(scene.noted(&["failed"]), ["0 failed 1.1 PANICKED"]);
    scene.driven(async || scene.followup("again")).await;
    assert_eq!(scene.log_of(&["turn/end"])[1..], ["turn/end completed"]);
}
