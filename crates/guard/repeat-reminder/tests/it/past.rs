//! A session that goes on in another process (spec 09 §C.5, §C.7.6).

use std::sync::Arc;

use dsh_agent::Agent;
use dsh_json::object;
use dsh_llm::{Message, Role, Source, text};
use dsh_session::{AssistantMessage, StepStart, ToolCall, TurnStart, UserMessage};
use dsh_tools_core::{ContentBlock, Execution, Layer, Next, PreDecision, ToolError, codes};

use crate::scene::{Scene, forked, logged_result, resumed};

const SAME: &str = r#"{"a": 1}"#;

/// Longer than a call may be, and else as good as any.
const LONG: &str = r#"{"text": "0123456789012345678901234567890123456789012345678901234567890123456789"}"#;

async fn say(scene: &Scene, agent: &Agent, source: Source) {
    let id = format!("m{}", agent.session().len()).into();
    let message = Message { id, role: Role::User, content: text("Go on."), source: source.clone() };
    agent.session().append(&UserMessage(message)).unwrap();
    scene.step(agent, source).await;
}

/// What comes of each call, when the session goes on in another process after `cut` of them.
async fn outcomes(config: &str, calls: &[(&str, &str)], cut: Option<usize>) -> Vec<String> {
    let mut scene = Scene::new(config);
    let mut agent = scene.agent();
    let (mut outcomes, mut sky) = (Vec::new(), "");
    for (number, (tool, arguments)) in calls.iter().enumerate() {
        if cut == Some(number) {
            scene = Scene::new(config);
            agent = scene.agent_of(resumed(agent.session()));
            scene.gives(sky);
        }
        match *tool {
            "a person" => say(&scene, &agent, Source::User).await,
            "the sky" => {
                sky = arguments;
                scene.gives(sky);
            }
            "a plugin" => say(&scene, &agent, Source::plugin("another")).await,
            tool => outcomes.push(scene.logged(&agent, tool, arguments).await),
        }
    }
    outcomes
}

#[tokio::test]
async fn a_session_that_goes_on_is_told_what_it_would_have_been_told() {
    let program = ("program", r#"{"code": "…"}"#);
    for calls in [
        vec![("probe", SAME); 7],
        vec![("forbidden", SAME); 6],
        vec![("nobody_knows", SAME); 6],
        vec![("probe", r#"{"a": "#); 6],
        vec![("probe", "9007199254740993000000"); 4],
        vec![("probe", LONG); 4],
        vec![
            ("probe", r#"{"a": 1, "b": 2}"#),
            ("probe", r#"{"b": 2.0, "a": 1}"#),
            ("probe", r#"{"b":2,"a":1}"#),
        ],
        vec![("probe", ""), ("probe", "{}"), ("probe", " {}")],
        [("probe", "[0]"), ("other", "[0]"), ("status", "{}")].repeat(6),
        [("the sky", "rain"), ("weather", SAME), ("weather", SAME)].repeat(4),
        ["rain", "sun", "sun", "fails", "sun", "sun", "sun", "sun"]
            .into_iter()
            .flat_map(|sky| [("the sky", sky), ("weather", SAME)])
            .collect(),
        vec![program; 5],
        [("probe", SAME), program].repeat(5),
        vec![("probe", SAME), ("probe", SAME), ("a person", ""), ("probe", SAME), ("probe", SAME)],
        vec![("probe", SAME), ("probe", SAME), ("a plugin", ""), ("probe", SAME), ("probe", SAME)],
    ] {
        // Where calls may be denied, chains are looked at before the call, else when its result may be in the log.
        for further in [r#", "denyAt": 5"#, "", r#", "denyAt": 5, "sameResults": true"#] {
            let config = format!(r#"{{"thresholds": [2, 3], "every": 1, "maxPeriod": 3{further}}}"#);
            let whole = outcomes(&config, &calls, None).await;
            for cut in 0..calls.len() {
                assert_eq!(outcomes(&config, &calls, Some(cut)).await, whole, "{calls:?}, cut at {cut}");
            }
        }
    }
}

/// Numbers of the further calls with which a reminder comes.
async fn reminded(config: &str, session: dsh_session::Session) -> Vec<usize> {
    let scene = Scene::new(config);
    scene.reminded(&scene.agent_of(session), "probe", 3).await
}

#[tokio::test]
async fn only_so_many_calls_are_looked_at() {
    let scene = Scene::new("{}");
    let agent = scene.agent();
    for _ in 0..4 {
        scene.logged(&agent, "probe", SAME).await;
    }
    for (calls, numbers) in [(0, vec![]), (2, vec![2]), (3, vec![1]), (1000, vec![])] {
        let config = format!(r#"{{"thresholds": [4], "resumeCalls": {calls}}}"#);
        assert_eq!(reminded(&config, resumed(agent.session())).await, numbers, "{calls}");
    }
}

#[tokio::test]
async fn a_person_s_word_comes_before_the_past() {
    let scene = Scene::new(r#"{"thresholds": [3]}"#);
    let agent = scene.agent();
    scene.logged(&agent, "probe", SAME).await;
    scene.logged(&agent, "probe", SAME).await;
    let agent = scene.agent_of(resumed(agent.session()));
    // Also one that the log never has, since the step was refused.
    scene.step(&agent, Source::User).await;
    assert_eq!(scene.reminded(&agent, "probe", 3).await, [3]);
}

#[tokio::test]
async fn what_another_session_called_is_not_a_fork_s() {
    let scene = Scene::new("{}");
    let agent = scene.agent();
    for _ in 0..2 {
        scene.logged(&agent, "probe", SAME).await;
    }
    assert_eq!(reminded(r#"{"thresholds": [3]}"#, resumed(agent.session())).await, [1]);
    let child = forked(agent.session());
    assert_eq!(reminded(r#"{"thresholds": [3]}"#, child.clone()).await, [3]);
    // What it called itself is.
    let scene = Scene::new("{}");
    scene.logged(&scene.agent_of(child.clone()), "probe", SAME).await;
    let events = child.events().iter().map(|event| (**event).clone()).collect();
    let (header, vocabulary) = (child.header().clone(), Arc::clone(child.vocabulary()));
    let clock = Arc::new(dsh_lifecycle::SteppingClock::starting_at(0));
    let spec = dsh_session::SessionSpec { header, vocabulary, clock, sink: None };
    let resumed = dsh_session::Session::resume(spec, events).unwrap();
    assert_eq!(reminded(r#"{"thresholds": [3]}"#, resumed).await, [2]);
}

#[tokio::test]
async fn calls_that_came_to_no_end_do_not_count() {
    let scene = Scene::new("{}");
    let agent = scene.agent();
    let session = agent.session();
    session.append(&TurnStart { turn: 1 }).unwrap();
    session.append(&StepStart { turn: 1, step: 1 }).unwrap();
    let block = |id: &str| ContentBlock::ToolCall {
        id: id.into(),
        name: "probe".into(),
        arguments: SAME.into(),
        provider_call_id: None,
    };
    let source = Source::Model { provider: "p".into(), model: "m".into(), replay_state: None };
    let content = ["stopped", "unknown", "never"].map(block).into();
    let message = Message { id: "m".into(), role: Role::Assistant, content, source };
    session.append_from(&AssistantMessage { turn: 1, step: 1, message, usage: None }, &[]).unwrap();
    let call = |id: &str| {
        let (call_id, name, arguments) = (id.into(), "probe".into(), SAME.into());
        session.append(&ToolCall { turn: 1, step: 1, call_id, name, arguments }).unwrap().seq
    };
    let error = ToolError::new("AbortError", codes::ABORTED_BEFORE_DISPATCH, "stopped");
    let stopped = logged_result(&"stopped".into(), &dsh_tools_core::ToolResult::failed(error));
    session.append_from(&stopped, &[call("stopped")]).unwrap();
    call("unknown");
    let resumed = resumed(session);
    assert!(resumed.messages().len() >= 4, "all three are answered");
    assert_eq!(reminded(r#"{"thresholds": [2]}"#, resumed).await, [2]);
}

#[tokio::test]
async fn what_takes_the_place_of_a_result_is_no_call() {
    let scene = Scene::new("{}");
    let agent = scene.agent();
    scene.logged(&agent, "probe", SAME).await;
    let session = agent.session();
    let seq = session.surface().0[0];
    let result = session.event(seq).unwrap();
    let call = result.source_event_seqs.as_deref().unwrap()[0];
    let same = result.read::<dsh_session::ToolResult>().unwrap().unwrap();
    session.replace(&same, seq, seq, &[call, seq]).unwrap();
    assert_eq!(reminded(r#"{"thresholds": [2]}"#, resumed(session)).await, [1]);
}

/// A listener that lets no call go on, nor any other listener hear of it.
struct Ill;

#[async_trait::async_trait]
impl Layer<Execution, PreDecision> for Ill {
    async fn call(
        &self,
        _: &Execution,
        _: Next<'_, Execution, PreDecision>,
    ) -> Result<PreDecision, ToolError> {
        Err(ToolError::plain("ill"))
    }
}

#[tokio::test]
async fn a_call_that_is_in_the_log_when_it_is_looked_at_counts_once() {
    for (threshold, is_told) in [(2, true), (3, false)] {
        let scene = Scene::new("{}");
        let agent = scene.agent();
        scene.logged(&agent, "probe", SAME).await;
        let mut scene = Scene::new(&format!(r#"{{"thresholds": [{threshold}]}}"#));
        scene.kept.push(scene.tools.on_pre_execute(None, Arc::new(Ill)));
        let outcome = scene.logged(&scene.agent_of(resumed(agent.session())), "probe", SAME).await;
        assert_eq!(outcome.contains("You have made the same call"), is_told, "{threshold}: {outcome}");
    }
}

#[tokio::test]
async fn a_session_that_is_fresh_has_no_past() {
    let scene = Scene::new("{}");
    let agent = scene.agent();
    for _ in 0..2 {
        scene.logged(&agent, "probe", SAME).await;
    }
    // Another agent, whose session was never another life's.
    assert_eq!(reminded(r#"{"thresholds": [3]}"#, agent.session().clone()).await, [3]);
    let result = scene.call(&agent, "probe", object! { "a": 1 }).await;
    assert!(crate::scene::said(&result).is_some());
}
