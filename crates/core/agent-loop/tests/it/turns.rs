//! How turns and steps begin, follow each other and end.

use std::num::NonZeroU32;

use dsh_agent::{CallTurn, RequestedCall, TurnError, TurnRunner};
use dsh_agent_loop::LoopConfig;
use dsh_lifecycle::Cancel;
use dsh_llm::{ContentBlock, ErrorFacts, Finish, Message, Role, Source, plain_text, text};
use dsh_llm_script::Step;
use dsh_session::{AssistantMessage, TurnEndReason};
use dsh_system_prompt::{Context, Section};

use crate::kit::{Scene, calls, says};
use crate::log::{all, reason};

#[tokio::test(start_paused = true)]
async fn a_turn_nests_its_steps_and_a_step_its_calls() {
    let scene = Scene::new([calls([("c1", "p", "{}")]), says("all done")]);
    let outcome = scene.turn("go").await;
    let answer = outcome.answer.as_deref().map(plain_text);
    assert_eq!(
        (outcome.turn, reason(&outcome.reason), answer),
        (1, "completed".to_owned(), Some("all done".to_owned()))
    );
    let expected = [
        "turn/start 1",
        "step/start 1",
        "user: go",
        "header initial",
        "route inline",
        "model:  [c1]",
        "call c1",
        "result c1 ok",
        "step/end 1",
        "step/start 2",
        "model: all done",
        "step/end 2",
        "turn/end completed",
    ];
    assert_eq!(scene.log(), expected);
}

#[tokio::test(start_paused = true)]
async fn results_reach_the_model_in_the_next_request() {
    let scene = Scene::new([calls([("c1", "p", "{}"), ("c2", "x", "{}")]), says("done")]);
    scene.turn("go").await;
    let requests = scene.requests();
    assert_eq!(requests.iter().map(|request| request.messages.len()).collect::<Vec<_>>(), [1, 4]);
    let results: Vec<_> = requests[1].messages[2..].iter().map(|message| seen_result(message)).collect();
    assert_eq!(results, [("c1", "done c1".to_owned(), false), ("c2", "done c2".to_owned(), false)]);
}

fn seen_result(message: &Message) -> (&str, String, bool) {
    assert_eq!(message.role, Role::User);
    let [ContentBlock::ToolResult { tool_call_id, content, is_error }] = &*message.content else {
        unreachable!()
    };
    (tool_call_id, plain_text(content), *is_error)
}

#[tokio::test(start_paused = true)]
async fn contexts_follow_the_last_result_in_model_order() {
    let slow_first = [("c1", "p", r#"{"ms":9,"say":"one"}"#), ("c2", "p", r#"{"say":"two"}"#)];
    let scene = Scene::new([calls(slow_first), says("read")]);
    scene.turn("go").await;
    let tail = ["result c2 ok", "step/end 1", "step/start 2", "probe: one", "probe: two", "model: read"];
    assert_eq!(scene.log()[9..15], tail);
}

#[tokio::test(start_paused = true)]
async fn a_concluding_call_saves_the_next_request() {
    let scene = Scene::new([calls([("c1", "p", r#"{"conclude":true}"#), ("c2", "p", r#"{"ms":5}"#)])]);
    assert_eq!(scene.turn("go").await.reason, TurnEndReason::Completed);
    assert_eq!(scene.requests().len(), 1);
    assert_eq!(scene.log_of(&["result"]), ["result c1 ok", "result c2 ok"]);
}

#[tokio::test(start_paused = true)]
async fn a_failed_call_concludes_nothing() {
    let scene = Scene::new([calls([("c1", "p", r#"{"conclude":true,"fail":true}"#)]), says("done")]);
    scene.turn("go").await;
    assert_eq!(scene.requests().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_concluding_call_with_a_context_costs_one_request_more() {
    let scene = Scene::new([calls([("c1", "p", r#"{"conclude":true,"say":"read me"}"#)]), says("read")]);
    scene.turn("go").await;
    assert_eq!(scene.log_of(&["probe:", "model:"]), ["model:  [c1]", "probe: read me", "model: read"]);
    assert_eq!(scene.requests().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn the_content_decides_and_not_the_finish() {
    let scene = Scene::new([
        Step { finish: Finish::Stop, ..calls([("c1", "p", "{}")]) },
        Step { finish: Finish::ToolCalls, ..says("no calls") },
    ]);
    assert_eq!(scene.turn("go").await.reason, TurnEndReason::Completed);
    assert_eq!(scene.log_of(&["result", "model:"]), ["model:  [c1]", "result c1 ok", "model: no calls"]);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_hits_the_ceiling_keeps_its_text_and_runs_nothing() {
    let cut =
        Step { finish: Finish::MaxTokens, ..Step::calls("so far", calls([("c1", "p", "{}")]).tool_calls) };
    let scene = Scene::new([cut, says("next turn")]);
    let outcome = scene.turn("go").await;
    assert_eq!((outcome.reason, outcome.answer), (TurnEndReason::MaxTokens, Some(text("so far"))));
    assert_eq!(scene.log_of(&["model:", "call", "turn/end"]), ["model: so far", "turn/end max-tokens"]);
    assert_eq!(scene.turn("again").await.reason, TurnEndReason::Completed);
}

#[tokio::test(start_paused = true)]
async fn an_empty_answer_is_logged_and_not_derived() {
    let scene = Scene::new([says("")]);
    let outcome = scene.turn("go").await;
    assert_eq!((outcome.reason, outcome.answer), (TurnEndReason::Completed, None));
    assert_eq!(all::<AssistantMessage>(scene.session()).len(), 1);
    assert_eq!(scene.session().messages().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_used_up_its_steps_says_so_and_loses_no_context() {
    let config = LoopConfig { max_steps_per_turn: NonZeroU32::new(2).unwrap(), ..LoopConfig::default() };
    let again = |id| calls([(id, "p", r#"{"say":"note"}"#)]);
    let scene = Scene::with(config, [again("c1"), again("c2"), says("done")]);
    assert_eq!(scene.turn("go").await.reason, TurnEndReason::StepLimit);
    assert_eq!(scene.requests().len(), 2);
    assert_eq!(scene.turn("and now?").await.reason, TurnEndReason::Completed);
    let expected = ["user: go", "probe: note", "probe: note", "user: and now?"];
    assert_eq!(scene.log_of(&["user:", "probe:"]), expected);
}

#[tokio::test(start_paused = true)]
async fn the_facts_of_a_failed_answer_end_the_turn_verbatim() {
    let facts = ErrorFacts {
        status: Some(429),
        provider_retry_after_ms: Some(1_500),
        request_id: Some("r1".into()),
        ..ErrorFacts::new("RATE_LIMITED", "slow down")
    };
    let scene =
        Scene::new([Step { finish: Finish::Error(facts.clone()), ..says("half an ans") }, says("fine")]);
    let outcome = scene.turn("go").await;
    assert_eq!((outcome.reason, outcome.answer), (TurnEndReason::Error { error: facts }, None));
    assert_eq!(scene.log_of(&["model:"]), [""; 0]);
    assert_eq!(scene.turn("again").await.reason, TurnEndReason::Completed);
}

#[tokio::test(start_paused = true)]
async fn an_abort_that_nobody_asked_for_is_an_error() {
    let scene = Scene::new([Step { finish: Finish::Aborted, ..says("half") }]);
    assert_eq!(reason(&scene.turn("go").await.reason), "error UNKNOWN");
}

#[tokio::test(start_paused = true)]
async fn without_a_model_the_turn_says_how_to_name_one() {
    let scene = Scene::new([says("hello")]);
    scene.unplug();
    let TurnEndReason::Error { error } = scene.turn("go").await.reason else { unreachable!() };
    assert_eq!(&*error.code, "NO_MODEL");
    insta::assert_snapshot!(error.message, @"no model is configured; name one with `--model`, or as `use` under `[model]` in dsh.toml");
    assert_eq!(
        scene.log(),
        ["turn/start 1", "step/start 1", "user: go", "step/end 1", "turn/end error NO_MODEL"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_prompt_that_can_not_be_assembled_closes_a_turn_without_steps() {
    let scene = Scene::new([says("fine")]);
    let bad = scene.prompt.section(None, Section::new("bad", 0, "{{nobody}}")).unwrap();
    let TurnEndReason::Error { error } = scene.turn("go").await.reason else { unreachable!() };
    assert!(error.message.starts_with("the prompt could not be assembled: "), "{}", error.message);
    assert_eq!(scene.log(), ["turn/start 1", "turn/end error UNKNOWN"]);
    drop(bad);
    assert_eq!(scene.turn("again").await.reason, TurnEndReason::Completed);
}

#[tokio::test(start_paused = true)]
async fn the_runtime_speaks_after_the_person_and_only_when_something_changed() {
    let scene = Scene::new([calls([("c1", "p", "{}")]), says("one"), says("two")]);
    let mode = scene.prompt.context(None, Context::new("mode", 0, "mode: calm")).unwrap();
    scene.turn("go").await;
    drop(mode);
    scene.turn("again").await;
    let told: Vec<_> = scene.requests()[2].messages.iter().filter_map(|message| told_by(message)).collect();
    assert_eq!(told, ["person", "runtime", "person", "runtime"]);
}

fn told_by(message: &Message) -> Option<&'static str> {
    match &message.source {
        Source::User => Some("person"),
        Source::Plugin { .. } => Some("runtime"),
        Source::Model { .. } | Source::Tool { .. } | Source::Other(_) => None,
    }
}

#[tokio::test(start_paused = true)]
async fn an_agent_runs_one_turn_at_a_time() {
    let scene = Scene::new([calls([("c1", "p", r#"{"ms":5}"#)]), says("done")]);
    let second = async {
        let busy = scene.turns.run_turn(&scene.agent, text("me too"), &Cancel::new()).await;
        assert!(matches!(busy, Err(TurnError::Busy)), "{busy:?}");
        let busy = scene.turns.run_calls(&scene.agent, requested(&[]), &Cancel::new()).await;
        assert!(matches!(busy, Err(TurnError::Busy)), "{busy:?}");
    };
    tokio::join!(scene.turn("go"), second);
    scene.turn("again").await;
    assert_eq!(scene.log_of(&["turn/start"]), ["turn/start 1", "turn/start 2"]);
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_was_dropped_is_closed_before_the_next_one() {
    let scene = Scene::new([calls([("c1", "p", r#"{"ms":50}"#)]), says("done")]);
    let dropped = tokio::time::timeout(std::time::Duration::from_millis(5), scene.turn("go")).await;
    assert!(dropped.is_err());
    scene.turn("again").await;
    let expected =
        ["call c1", "result c1 TOOL_OUTCOME_UNKNOWN", "turn/end interrupted", "turn/end completed"];
    assert_eq!(scene.log_of(&["call", "result", "turn/end"]), expected);
}

#[tokio::test(start_paused = true)]
async fn calls_of_a_program_are_a_turn_that_says_whose_they_are() {
    let scene = Scene::new([says("I see")]);
    let calls = requested(&[("c1", "p", r#"{"say":"for later"}"#), ("c2", "nosuch", "{}")]);
    let reason = scene.turns.run_calls(&scene.agent, calls, &scene.cancel).await.unwrap();
    assert_eq!(reason, TurnEndReason::Completed);
    let expected = [
        "turn/start 1",
        "step/start 1",
        "model: A program asks. [c1 c2]",
        "call c1",
        "result c1 ok",
        "call c2",
        "result c2 UNKNOWN_TOOL",
        "step/end 1",
        "turn/end completed",
    ];
    assert_eq!(scene.log(), expected);
    let message = &all::<AssistantMessage>(scene.session())[0].message;
    let source = Source::Model { provider: "dsh".into(), model: "test".into(), replay_state: None };
    assert_eq!(message.source, source);

    scene.turn("go on").await;
    assert_eq!(scene.log_of(&["probe:", "user:"]), ["probe: for later", "user: go on"]);
}

#[tokio::test(start_paused = true)]
async fn a_program_s_turn_delivers_what_waited_too() {
    let scene = Scene::new([]);
    for id in ["c1", "c2"] {
        let calls = requested(&[(id, "p", r#"{"say":"note"}"#)]);
        scene.turns.run_calls(&scene.agent, calls, &scene.cancel).await.unwrap();
    }
    scene.assert_sound();
    let expected = ["model: A program asks. [c1]", "probe: note", "model: A program asks. [c2]"];
    assert_eq!(scene.log_of(&["probe:", "model:"]), expected);
}

pub(crate) fn requested(rows: &[(&str, &str, &str)]) -> CallTurn {
    let call = |(id, name, arguments): &(&str, &str, &str)| RequestedCall {
        id: (*id).into(),
        name: (*name).into(),
        arguments: (*arguments).into(),
    };
    let calls = rows.iter().map(call).collect();
    CallTurn { origin: "test".into(), note: "A program asks.".into(), calls }
}
