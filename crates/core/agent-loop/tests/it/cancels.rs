//! Cancelling an agent: what waits is dropped or kept, and what comes before the end is remembered.

use std::sync::Arc;

use async_trait::async_trait;
use dsh_agent::{
    Agent, Entry, HookError, Notice, PreStep, Queued, Request, RequestDraft, Status, StepContext,
    TurnStopping,
};
use dsh_lifecycle::Cause;
use dsh_llm::Message;
use dsh_session::{Event, SessionObserver};
use dsh_system_prompt::Section;

use crate::kit::{Scene, calls, message, pass, says, thinks};
use crate::log::line;

/// An agent that works until 9 ms on its first turn and is cancelled at 5 ms; `then` comes while it still works.
async fn cancelled(queued: Queued, cause: Cause, then: impl AsyncFnOnce(&Scene)) -> Scene {
    let scene = Scene::new([calls([("c1", "p", r#"{"ms":9}"#)]), says("one"), says("two")]);
    let act = async || {
        scene.followup("go");
        pass(5).await;
        scene.followup("tail");
        scene.steer("aside");
        scene.agent.cancel(cause, queued);
        then(&scene).await;
    };
    scene.driven(act).await;
    scene
}

/// What was said, and how turns ended.
fn said(scene: &Scene) -> String {
    scene.log_of(&["user:", "turn/end"]).join("; ")
}

const STOPPED: &str = "user: go; turn/end aborted user";

#[tokio::test(start_paused = true)]
async fn what_waits_is_dropped_or_kept() {
    let scene = cancelled(Queued::Discard, Cause::User, async |_| {}).await;
    assert_eq!((&*said(&scene), &*scene.waits()), (STOPPED, "[] []"));
    assert_eq!(scene.noted(&["discarded"]), ["5 discarded aside", "5 discarded tail"]);

    let scene = cancelled(Queued::Keep, Cause::User, async |_| {}).await;
    assert_eq!((&*said(&scene), &*scene.waits()), (STOPPED, "[aside] [tail]"));
    assert_eq!(scene.noted(&["discarded", "status"]), ["0 status running", "9 status idle"]);
    scene.driven(async || scene.followup("more")).await;
    let expected = "user: go; turn/end aborted user; user: aside; user: tail; turn/end completed; user: more; turn/end completed";
    assert_eq!(said(&scene), expected);
}

#[tokio::test(start_paused = true)]
async fn what_comes_before_the_end_of_a_cancelled_turn_has_the_next_one() {
    let late = async |scene: &Scene| scene.followup("late");
    let scene = cancelled(Queued::Discard, Cause::User, late).await;
    assert_eq!(said(&scene), "user: go; turn/end aborted user; user: late; turn/end completed");
    assert_eq!(scene.noted(&["status"]), ["0 status running", "9 status idle"], "without a pause");

    let later = async |scene: &Scene| {
        pass(3).await;
        scene.steer("late");
        assert_eq!(scene.waits(), "[] [late]", "steering becomes a prompt");
    };
    let scene = cancelled(Queued::Discard, Cause::User, later).await;
    assert_eq!(said(&scene), "user: go; turn/end aborted user; user: late; turn/end completed");

    let injected = async |scene: &Scene| scene.inject("late");
    let scene = cancelled(Queued::Discard, Cause::User, injected).await;
    assert_eq!((&*said(&scene), &*scene.waits()), (STOPPED, "[late] []"));
}

#[tokio::test(start_paused = true)]
async fn what_came_late_wakes_what_was_kept() {
    let scene = cancelled(Queued::Keep, Cause::User, async |scene: &Scene| scene.followup("late")).await;
    let expected = "user: go; turn/end aborted user; user: aside; user: tail; turn/end completed; user: late; turn/end completed";
    assert_eq!(said(&scene), expected);
}

#[tokio::test(start_paused = true)]
async fn cancelling_again_forgets_what_came_late() {
    let again = async |scene: &Scene| {
        scene.followup("late");
        scene.agent.cancel(Cause::User, Queued::Keep);
        assert_eq!(scene.waits(), "[] [late]");
        scene.agent.cancel(Cause::User, Queued::Discard);
    };
    let scene = cancelled(Queued::Discard, Cause::User, again).await;
    assert_eq!((&*said(&scene), &*scene.waits()), (STOPPED, "[] []"));
}

#[tokio::test(start_paused = true)]
async fn what_came_late_and_was_retracted_leaves_no_empty_turn() {
    let retracted = async |scene: &Scene| {
        scene.followup("late");
        scene.agent.inbox().retract("late").unwrap();
    };
    let scene = cancelled(Queued::Keep, Cause::User, retracted).await;
    assert_eq!((&*said(&scene), &*scene.waits()), (STOPPED, "[aside] [tail]"));

    let replaced = async |scene: &Scene| {
        scene.followup("late");
        scene.agent.inbox().replace("late", message("edited")).unwrap();
    };
    let scene = cancelled(Queued::Discard, Cause::User, replaced).await;
    assert_eq!(said(&scene), "user: go; turn/end aborted user; user: edited; turn/end completed");
}

#[tokio::test(start_paused = true)]
async fn after_an_agent_s_end_nothing_is_remembered() {
    let scene =
        cancelled(Queued::Discard, Cause::Disposed, async |scene: &Scene| scene.followup("late")).await;
    assert_eq!((&*said(&scene), &*scene.waits()), ("user: go; turn/end aborted disposed", "[] [late]"));
}

#[tokio::test(start_paused = true)]
async fn the_first_cause_is_the_one_that_is_told() {
    let again = async |scene: &Scene| scene.agent.cancel(Cause::Parent, Queued::Discard);
    let scene = cancelled(Queued::Discard, Cause::Hook("enough".into()), again).await;
    assert_eq!(said(&scene), "user: go; turn/end aborted hook enough");
}

#[tokio::test(start_paused = true)]
async fn cancelling_right_after_sending_leaves_a_turn_without_a_step() {
    let scene = Scene::new([says("never said")]);
    let act = async || {
        scene.followup("go");
        scene.agent.cancel(Cause::User, Queued::Discard);
    };
    scene.driven(act).await;
    assert_eq!(
        scene.whole_log(),
        ["inbox turn@0 +go", "turn/start 1", "inbox turn@0 -1 canceled", "turn/end aborted user"]
    );
}

#[tokio::test(start_paused = true)]
async fn an_idle_agent_is_not_touched() {
    let scene = Scene::new([says("fine")]);
    scene.inject("waits");
    scene.agent.cancel(Cause::User, Queued::Discard);
    assert_eq!(scene.waits(), "[waits] []");
    scene.turn("go").await;
    assert_eq!(scene.log_of(&["user:"]), ["user: waits", "user: go"]);
}

/// Cancels the agent when it is told of this line of the log.
struct At(&'static str, Agent);

impl SessionObserver for At {
    fn appended(&self, event: &Arc<Event>) {
        if line(event) == self.0 {
            self.1.cancel(Cause::User, Queued::Discard);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_observer_of_the_log_may_cancel() {
    const ABORTED: &str = "turn/end aborted user";
    let rows = [
        // Here the tail comes after the cancellation, and is no part of what it drops.
        ("turn/start 1", "turn/end aborted user; user: tail; turn/end completed"),
        ("step/start 1", "user: aside; user: go; turn/end aborted user"),
        ("model:  [c1]", "user: aside; user: go; turn/end aborted user"),
        ("result c1 ok", "user: aside; user: go; turn/end aborted user"),
        ("step/end 1", "user: aside; user: go; turn/end aborted user"),
    ];
    for (at, log) in rows {
        let scene = Scene::new([calls([("c1", "p", "{}")]), says("fine")]);
        let observing = scene.session().observe(Arc::new(At(at, scene.agent.clone())));
        let act = async || {
            scene.inject("aside");
            scene.followup("go");
            scene.followup("tail");
        };
        scene.driven(act).await;
        drop(observing);
        assert_eq!((&*said(&scene), &*scene.waits()), (log, "[] []"), "at {at}");
        assert!(scene.log_of(&["turn/end"])[0] == ABORTED && scene.log_of(&["step/start"]).len() <= 2);
    }
}

#[tokio::test(start_paused = true)]
async fn an_observer_of_the_status_may_cancel() {
    let scene = Scene::new([says("never said")]);
    let stop = |agent: &Agent, notice: &Notice<'_>| {
        if *notice == Notice::Status(Status::Running) {
            agent.cancel(Cause::User, Queued::Discard);
        }
    };
    scene.keep(scene.hooks().observe(None, Arc::new(stop)));
    scene.driven(async || scene.followup("go")).await;
    assert_eq!(
        (scene.log(), &*scene.waits()),
        (vec!["turn/start 1".into(), "turn/end aborted user".into()], "[] []")
    );
}

/// Cancels where it is asked, or waits there for a cancellation that it does not look at.
struct Stops {
    stage: &'static str,
    itself: bool,
}

impl Stops {
    async fn at(&self, stage: &str, step: &StepContext<'_>) {
        if self.stage == stage && self.itself {
            step.agent.cancel(Cause::User, Queued::Keep);
        } else if self.stage == stage {
            std::future::pending::<()>().await;
        }
    }
}

#[async_trait]
impl PreStep for Stops {
    async fn pre_step(&self, step: &StepContext<'_>, messages: Vec<Message>) -> Result<Entry, HookError> {
        self.at("pre-step", step).await;
        Ok(Entry::Enter(messages))
    }
}

#[async_trait]
impl Request for Stops {
    async fn request(&self, step: &StepContext<'_>, draft: RequestDraft) -> Result<RequestDraft, HookError> {
        self.at("request", step).await;
        Ok(draft)
    }
}

#[async_trait]
impl TurnStopping for Stops {
    async fn turn_stopping(&self, step: &StepContext<'_>) -> Result<(), HookError> {
        self.at("stopping", step).await;
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn wherever_a_hook_is_waited_for_the_turn_can_be_stopped() {
    let rows = [
        ("pre-step", "turn/end aborted user", "[] [go]"),
        ("request", "user: go; step/end 1; turn/end aborted user", "[] []"),
        ("stopping", "user: go; model: hello; step/end 1; turn/end aborted user", "[] []"),
    ];
    for (stage, log, left) in rows {
        for itself in [true, false] {
            let scene = Scene::new([says("hello")]);
            let hook = Arc::new(Stops { stage, itself });
            scene.keep(scene.hooks().on_pre_step(None, Arc::clone(&hook) as _));
            scene.keep(scene.hooks().on_request(None, Arc::clone(&hook) as _));
            scene.keep(scene.hooks().on_turn_stopping(None, hook));
            let act = async || {
                scene.followup("go");
                pass(5).await;
                scene.agent.cancel(Cause::User, Queued::Keep);
            };
            scene.driven(act).await;
            assert_eq!(
                scene.log_of(&["user:", "model:", "step/end", "turn/end"]).join("; "),
                log,
                "{stage} {itself}"
            );
            assert_eq!(scene.waits(), left, "{stage} {itself}: a prompt that no step was given waits on");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_turn_cancelled_while_its_prompt_is_assembled_takes_no_step() {
    let scene = Scene::new([says("never said")]);
    let agent = scene.agent.clone();
    let text = dsh_system_prompt::Text::from_fn(move |_| {
        agent.cancel(Cause::User, Queued::Keep);
        "You are late."
    });
    scene.keep(scene.prompt.section(None, Section::new("late", 0, text)).unwrap());
    scene.driven(async || scene.followup("go")).await;
    assert_eq!(
        (scene.log(), &*scene.waits()),
        (vec!["turn/start 1".into(), "turn/end aborted user".into()], "[] [go]")
    );
}

#[tokio::test(start_paused = true)]
async fn a_caller_s_own_cancellation_takes_its_prompt_back_and_no_one_else_s() {
    let scene = Scene::new([says("one"), says("two")]);
    scene.inject("waits");
    scene.cancel.cancel(Cause::User);
    scene.turn("go").await;
    assert_eq!(
        (scene.log(), &*scene.waits()),
        (vec!["turn/start 1".into(), "turn/end aborted user".into()], "[waits] []")
    );
    scene.turn_under(&dsh_lifecycle::Cancel::new(), "again").await;
    assert_eq!(scene.log_of(&["user:"]), ["user: waits", "user: again"]);
}

#[tokio::test(start_paused = true)]
async fn waiting_for_idleness_follows_what_comes_and_never_hangs() {
    let scene = Scene::new([thinks(5, says("one")), thinks(5, says("two"))]);
    let act = async || {
        scene.followup("go");
        pass(2).await;
        scene.agent.cancel(Cause::User, Queued::Discard);
        scene.followup("instead");
        scene.agent.when_idle().await;
        assert_eq!(scene.log_of(&["turn/end"]), ["turn/end aborted user", "turn/end completed"]);
    };
    scene.driven(act).await;

    let scene = Scene::new([]);
    scene.unplug();
    let act = async || {
        scene.followup("go");
        scene.agent.when_idle().await;
        assert_eq!(scene.log_of(&["turn/end"]), ["turn/end error NO_MODEL"]);
        scene.store.refuses.lock().push("turn/end error NO_MODEL");
        scene.followup("again");
        scene.agent.when_idle().await;
        assert_eq!(scene.noted(&["failed"]), ["0 failed 1.1 NO_MODEL", "0 failed 2.1 UNKNOWN"]);
        scene.followup("and again");
    };
    scene.driven(act).await;
    assert_eq!(scene.log_of(&["turn/end"])[1..], ["turn/end interrupted", "turn/end error NO_MODEL"]);
}
