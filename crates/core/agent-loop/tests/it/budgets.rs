//! How far it goes by itself: turns in a row, the time of a turn, and who does not listen when it is over.

use std::sync::Arc;

use async_trait::async_trait;
use dsh_agent::{Agent, Notice, Status};
use dsh_agent_loop::LoopConfig;
use dsh_lifecycle::{Cancel, Cause};
use dsh_llm::{Message, Source};
use dsh_tools_core::{Layer, Next, Post, PostDecision, ToolError};

use crate::kit::{Scene, calls, message, pass, says};

/// Sends itself a prompt whenever one was taken.
fn talks_to_itself(scene: &Scene) {
    let echo = |agent: &Agent, notice: &Notice<'_>| {
        if let Notice::Claimed { turn, .. } = notice {
            let source = Source::plugin("echo");
            agent.inbox().followup(Message { source, ..message(&format!("echo {turn}")) }).unwrap();
        }
    };
    scene.keep(scene.hooks().observe(None, Arc::new(echo)));
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_talks_to_itself_is_stopped_after_some_turns() {
    let config = LoopConfig { max_turns_without_input: 3.try_into().unwrap(), ..LoopConfig::default() };
    let scene = Scene::with(config, []);
    talks_to_itself(&scene);
    let told = Arc::new(parking_lot::Mutex::new(None));
    let telling = Arc::clone(&told);
    let note = move |_: &Agent, notice: &Notice<'_>| {
        if let Notice::Failed { error, .. } = notice {
            *telling.lock() = Some((*error).clone());
        }
    };
    scene.keep(scene.hooks().observe(None, Arc::new(note)));
    scene.driven(async || scene.followup("go")).await;
    assert_eq!(scene.log_of(&["turn/start"]).len(), 4, "the first turn heard a person");
    assert_eq!((scene.agent.status(), &*scene.waits()), (Status::Idle, "[] [echo 4]"));
    let error = told.lock().take().unwrap();
    assert_eq!(&*error.code, "TURN_LIMIT");
    insta::assert_snapshot!(error.message, @"the agent took 3 turns in a row without a word from a person (`maxTurnsWithoutInput`); what waits is left for the next wake");
    scene.driven(async || scene.followup("go on")).await;
    assert_eq!(scene.log_of(&["user:"]).last().map(String::as_str), Some("user: go on"));
}

#[tokio::test(start_paused = true)]
async fn a_word_of_a_person_begins_the_count_anew() {
    let config = LoopConfig { max_turns_without_input: 1.try_into().unwrap(), ..LoopConfig::default() };
    let scene = Scene::with(config, []);
    let act = async || {
        for words in ["a", "b", "c", "d"] {
            scene.followup(words);
        }
    };
    scene.driven(act).await;
    assert_eq!(scene.log_of(&["turn/start"]).len(), 4);
    assert_eq!(scene.noted(&["failed"]), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_used_up_its_time_is_cancelled_and_says_so() {
    let config = LoopConfig { max_turn_ms: Some(7.try_into().unwrap()), ..LoopConfig::default() };
    let scene = Scene::with(config, [calls([("c1", "p", r#"{"ms":9}"#)]), says("next turn")]);
    scene.turn("go").await;
    let expected = [
        "9 end c1",
        "9 result c1 ABORTED",
        "9 turn/end aborted hook the turn used up its 7 ms (`maxTurnMs`)",
    ];
    assert_eq!(scene.noted(&["end", "result", "turn/end"]), expected);
    scene.turn("again").await;
    assert_eq!(scene.log_of(&["turn/end"])[1..], ["turn/end completed"]);
}

#[tokio::test(start_paused = true)]
async fn a_body_that_does_not_listen_is_told_of_and_awaited() {
    let config = LoopConfig { abort_grace_ms: 100.try_into().unwrap(), ..LoopConfig::default() };
    let scene = Scene::with(config, [calls([("c1", "x", r#"{"ms":500}"#)])]);
    let stop = async {
        pass(5).await;
        scene.cancel.cancel(Cause::User);
    };
    tokio::join!(scene.turn("go"), stop);
    assert_eq!(
        scene.noted(&["overdue", "end", "turn/end"]),
        ["105 overdue 1 100", "500 end c1", "500 turn/end aborted user"]
    );
}

#[test]
fn without_timers_a_stopped_turn_is_awaited_all_the_same() {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
        let scene = Scene::new([calls([("c1", "p", "not json")])]);
        scene.keep(scene.tools.on_post_execute(None, Arc::new(Stops(scene.cancel.clone()))));
        scene.turn("go").await;
        assert_eq!(
            scene.log_of(&["result", "turn/end"]),
            ["result c1 INVALID_ARGS", "turn/end aborted user"]
        );
    });
}

/// Stops the turn, and takes its time.
struct Stops(Cancel);

#[async_trait]
impl Layer<Post, PostDecision> for Stops {
    async fn call(&self, cx: &Post, next: Next<'_, Post, PostDecision>) -> Result<PostDecision, ToolError> {
        self.0.cancel(Cause::User);
        tokio::task::yield_now().await;
        next.run(cx).await
    }
}
