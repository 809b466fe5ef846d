//! What comes while a turn runs, and where it is heard.

use std::num::NonZeroUsize;

use dsh_agent::{Agent, AgentParts, Status, Target};
use dsh_agent_loop::LoopConfig;
use dsh_lifecycle::Cancel;
use dsh_llm::{Finish, plain_text};
use dsh_llm_script::Step;
use dsh_scope::Scope;
use dsh_session::{Event, Session, ToolResult, TurnEndReason};

use crate::kit::{Scene, calls, pass, says, spec, thinks};
use crate::log::{assert_sound, reason};

#[tokio::test(start_paused = true)]
async fn steering_during_a_tool_is_heard_in_the_next_step() {
    let scene = Scene::new([calls([("c1", "p", r#"{"ms":5}"#)]), says("read")]);
    let steer = async {
        pass(2).await;
        scene.steer("also this");
    };
    tokio::join!(scene.turn("go"), steer);
    let expected = [
        "call c1",
        "inbox step@0 +also this",
        "result c1 ok",
        "step/end 1",
        "step/start 2",
        "user: also this",
        "model: read",
    ];
    assert_eq!(scene.whole_log()[7..14], expected);
}

#[tokio::test(start_paused = true)]
async fn an_idle_agent_that_is_steered_starts_at_once() {
    let scene = Scene::new([thinks(5, says("one")), says("two")]);
    let act = async || {
        scene.steer("first");
        assert_eq!(scene.whole_log(), ["inbox step@0 +first", "turn/start 1"]);
        assert_eq!(scene.agent.status(), Status::Running);
        pass(2).await;
        scene.steer("second");
    };
    scene.driven(act).await;
    let expected = [
        "turn/start 1",
        "step/start 1",
        "user: first",
        "model: one",
        "step/start 2",
        "user: second",
        "model: two",
    ];
    assert_eq!(scene.log_of(&["turn/start", "step/start", "user:", "model:"]), expected);
}

#[tokio::test(start_paused = true)]
async fn an_injected_message_waits_for_whatever_turn_comes() {
    let scene = Scene::new([calls([("c1", "p", r#"{"ms":5}"#)]), says("read")]);
    let act = async || {
        scene.inject("for later");
        pass(2).await;
        assert_eq!(scene.whole_log(), ["inbox step@0 +for later"]);
        scene.followup("go");
        pass(2).await;
        scene.inject("meanwhile");
    };
    scene.driven(act).await;
    let expected = ["user: for later", "user: go", "result c1 ok", "user: meanwhile"];
    assert_eq!(scene.log_of(&["user:", "result"]), expected);
}

#[tokio::test(start_paused = true)]
async fn a_message_that_comes_while_the_model_speaks_is_in_the_next_request() {
    let scene = Scene::new([thinks(5, says("one")), says("two")]);
    let act = async || {
        scene.followup("go");
        pass(2).await;
        scene.inject("late");
    };
    scene.driven(act).await;
    let said: Vec<Vec<_>> = scene
        .requests()
        .iter()
        .map(|request| request.messages.iter().map(|message| plain_text(&message.content)).collect())
        .collect();
    assert_eq!(said, [vec!["go"], vec!["go", "one", "late"]]);
}

#[tokio::test(start_paused = true)]
async fn a_concluding_call_does_not_silence_steering() {
    let scene = Scene::new([calls([("c1", "p", r#"{"ms":5,"conclude":true}"#)]), says("read")]);
    let steer = async {
        pass(2).await;
        scene.steer("wait");
    };
    let (outcome, ()) = tokio::join!(scene.turn("go"), steer);
    assert_eq!((outcome.turn, outcome.reason), (1, TurnEndReason::Completed));
    assert_eq!(
        scene.log_of(&["turn/start", "result", "user:"]),
        ["turn/start 1", "user: go", "result c1 ok", "user: wait"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_ceiling_names_the_end_and_does_not_cut_what_follows() {
    let cut = thinks(5, Step { finish: Finish::MaxTokens, ..says("so far") });
    let scene = Scene::new([cut, calls([("c1", "p", "{}")]), says("done"), says("next turn")]);
    let steer = async {
        pass(2).await;
        scene.steer("go on");
    };
    let (outcome, ()) = tokio::join!(scene.turn("go"), steer);
    assert_eq!(outcome.reason, TurnEndReason::MaxTokens);
    let expected = ["model: so far", "model:  [c1]", "result c1 ok", "model: done", "turn/end max-tokens"];
    assert_eq!(scene.log_of(&["model:", "result", "turn/end"]), expected);
    assert_eq!(scene.turn("again").await.reason, TurnEndReason::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_result_never_stands_without_what_rides_on_it() {
    let scene =
        Scene::new([calls([("c1", "p", r#"{"say":"one"}"#), ("c2", "x", r#"{"say":"two"}"#)]), says("read")]);
    scene.turn("go").await;
    let events = scene.session().events();
    for length in 0..=events.len() {
        // The process ended here.
        let before: Vec<Event> = events[..length].iter().map(|event| (**event).clone()).collect();
        let before_last = before.last().map(|event| event.kind.to_string());
        let before_last = before_last.as_deref();
        let results = before.iter().filter(|event| event.read::<ToolResult>().is_some()).count();
        let session = Session::resume(spec(None), before).unwrap();
        let agent = Agent::new(Scope::root(), session);
        let waiting = agent.inbox().messages(Target::NextStep).len();
        if before_last == Some("tool/result") {
            assert_eq!(waiting, results, "at {length}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_rode_on_a_result_survives_the_process() {
    let scene = Scene::new([calls([("c1", "p", r#"{"say":"note"}"#)]), says("never said")]);
    scene.turn("go").await;
    let events = scene.session().events();
    let end = 1 + events.iter().position(|event| &*event.kind == "tool/result").unwrap();
    let before = events[..end].iter().map(|event| (**event).clone()).collect();
    let session = Session::resume(spec(None), before).unwrap();
    let second = Scene::continuing(session, [says("read")]);
    assert_eq!(second.waits(), "[note] []");
    second.turn("again").await;
    assert_eq!(second.log_of(&["probe:", "user:"]), ["user: go", "probe: note", "user: again"]);
}

#[tokio::test(start_paused = true)]
async fn a_context_that_finds_no_room_is_left_out_alone() {
    let config = LoopConfig { max_inbox_messages: NonZeroUsize::MIN, ..LoopConfig::default() };
    let rows = [("c1", "p", r#"{"say":"one"}"#), ("c2", "p", r#"{"say":"two"}"#), ("c3", "x", "{}")];
    let scene = Scene::with(config, [calls(rows), says("read")]);
    scene.turn("go").await;
    let expected = ["result c1 ok", "result c2 ok", "result c3 ok", "probe: one"];
    assert_eq!(scene.log_of(&["result", "probe:"]), expected);
}

#[tokio::test(start_paused = true)]
async fn a_prompt_that_finds_no_room_is_refused() {
    let config = LoopConfig { max_inbox_messages: NonZeroUsize::MIN, ..LoopConfig::default() };
    let scene = Scene::with(config, [says("fine"), says("fine")]);
    scene.inject("in the way");
    let refused = scene.broken_turn("go").await;
    insta::assert_snapshot!(refused, @"failed to queue the prompt: 1 messages wait already (`maxInboxMessages`); let the agent take some first, or retract one");
    assert_eq!((scene.log(), scene.agent.status()), (vec![], Status::Idle));
    scene.agent.inbox().retract("in the way").unwrap();
    scene.turn("go").await;
}

#[tokio::test(start_paused = true)]
async fn a_prompt_has_its_turn_after_those_that_waited() {
    let scene = Scene::new([says("one"), says("two"), says("three")]);
    scene.followup("first");
    scene.followup("second");
    let outcome = scene.turn("third").await;
    assert_eq!((outcome.turn, reason(&outcome.reason)), (3, "completed".to_owned()));
    assert_eq!(outcome.answer.as_deref().map(plain_text).as_deref(), Some("three"));
    let expected = ["user: first", "model: one", "user: second", "model: two", "user: third", "model: three"];
    assert_eq!(scene.log_of(&["user:", "model:"]), expected);
    assert_eq!(scene.noted(&["status"]), ["0 status running", "0 status idle"]);
}

#[tokio::test(start_paused = true)]
async fn two_agents_share_a_loop_and_nothing_else() {
    let scene = Scene::new([calls([("c1", "p", r#"{"ms":5,"say":"mine"}"#)]), says("one"), says("two")]);
    let other = Agent::with(Scope::root(), Session::create(spec(None)), AgentParts::default());
    let beside = async {
        pass(6).await;
        scene.turns.run_turn(&other, dsh_llm::text("hello"), &Cancel::new()).await.unwrap();
    };
    tokio::join!(scene.turn("go"), beside);
    assert_eq!(scene.log_of(&["probe:"]), ["probe: mine"]);
    assert_eq!(other.session().messages().len(), 2);
    assert_sound(other.session(), &[]);
}
