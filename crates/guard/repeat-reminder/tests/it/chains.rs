//! What counts, for whom, and what the model is told (spec 09 §C.3–4, §C.7.1–2).

use dsh_json::{Json, array, object};
use dsh_llm::Source;
use dsh_repeat_reminder::PLUGIN;
use dsh_tools_core::{Arguments, CallInput, JsonLimits, Outcome};

use crate::scene::{Scene, said, waits};

#[tokio::test]
async fn a_nudge_first_and_then_what_is_repeated() {
    let scene = Scene::new("{}");
    let agent = scene.agent();
    let mut told = Vec::new();
    for _ in 0..10 {
        told.push(
            said(&scene.call(&agent, "probe", object! { "b": array![1, 2], "a": "x" }).await)
                .unwrap_or_default(),
        );
    }
    insta::assert_snapshot!(told.join("\n---\n"));
}

#[tokio::test]
async fn the_smallest_threshold_is_the_first() {
    let scene = Scene::new(r#"{"thresholds": [4, 2]}"#);
    let agent = scene.agent();
    let mut told = Vec::new();
    for _ in 0..4 {
        told.push(said(&scene.call(&agent, "probe", object! {}).await));
    }
    assert!(told[1].as_ref().unwrap().starts_with("You have made the same call"), "{told:?}");
    assert!(told[3].as_ref().unwrap().starts_with("You have called `probe` 4 times"), "{told:?}");
    assert!(told[0].is_none() && told[2].is_none());
}

#[tokio::test]
async fn the_order_of_keys_and_the_text_of_numbers_make_no_difference() {
    let scene = Scene::new(r#"{"thresholds": [3]}"#);
    let agent = scene.agent();
    let texts = [r#"{"a": {"x": 1, "y": [2]}, "b": 1}"#, r#"{"b": 1.0, "a": {"y": [2], "x": 1}}"#];
    let [first, second] = texts.map(|text| Json::parse(text).unwrap());
    for arguments in [&first, &second] {
        assert_eq!(said(&scene.call(&agent, "probe", arguments.clone()).await), None);
    }
    assert!(said(&scene.call(&agent, "probe", first).await).is_some());
}

#[tokio::test]
async fn another_call_begins_anew_and_one_that_is_not_looked_at_does_not() {
    let scene = Scene::new(r#"{"thresholds": [2], "exclude": ["other"]}"#);
    let agent = scene.agent();
    let probe = |n: i64| scene.call(&agent, "probe", object! { "n": n });
    assert_eq!(said(&probe(1).await), None);
    assert_eq!(said(&probe(2).await), None);
    assert_eq!(said(&probe(1).await), None);
    for name in ["other", "other", "status", "status"] {
        assert_eq!(said(&scene.call(&agent, name, object! {}).await), None, "{name}");
    }
    assert!(said(&probe(1).await).is_some());
}

#[tokio::test]
async fn only_what_is_included_counts() {
    let scene = Scene::new(r#"{"thresholds": [2], "include": ["pr*"]}"#);
    let agent = scene.agent();
    assert!(scene.reminded(&agent, "other", 3).await.is_empty());
    assert_eq!(scene.reminded(&agent, "probe", 3).await, [2]);
}

#[tokio::test]
async fn failures_and_refusals_of_every_kind_count() {
    let scene = Scene::new("{}");
    let agent = scene.agent();
    assert_eq!(scene.reminded(&agent, "forbidden", 9).await, [3, 5, 8]);
    // One that no listener is asked about.
    assert_eq!(scene.reminded(&agent, "nobody_knows", 9).await, [3, 5, 8]);
    let mut with = Vec::new();
    for number in 1..=5 {
        let arguments = Arguments::parse("{\"a\": ", &JsonLimits::default());
        let input = CallInput { agent: Some(agent.clone()), ..CallInput::new("c", "probe", arguments) };
        let result = scene.tools.execute(input).await;
        assert!(matches!(result.outcome, Outcome::Failed(_)));
        if let Some(text) = said(&result) {
            with.push((number, text.contains(r#""{\"a\": ""#)));
        }
    }
    assert_eq!(with, [(3, false), (5, true)]);
}

#[tokio::test]
async fn a_call_that_was_stopped_before_it_began_is_no_repetition() {
    let scene = Scene::new(r#"{"thresholds": [2]}"#);
    let agent = scene.agent();
    for _ in 0..3 {
        let input = CallInput { agent: Some(agent.clone()), ..CallInput::new("c", "probe", object! {}) };
        input.cancel.cancel(dsh_lifecycle::Cause::User);
        let result = scene.tools.execute(input).await;
        assert!(said(&result).is_none() && waits(&agent).is_none());
    }
}

#[tokio::test]
async fn agents_know_nothing_of_each_other() {
    let scene = Scene::new(r#"{"thresholds": [3]}"#);
    let (one, two) = (scene.agent(), scene.agent());
    for _ in 0..2 {
        for agent in [&one, &two] {
            assert!(scene.reminded(agent, "probe", 1).await.is_empty());
        }
    }
    assert_eq!(scene.reminded(&one, "probe", 1).await, [1]);
    drop(two);
    // One with the same session's name begins at nothing.
    assert_eq!(scene.reminded(&scene.agent(), "probe", 3).await, [3]);
    // Without an agent nothing counts.
    for _ in 0..4 {
        assert!(said(&scene.tools.execute(CallInput::new("c", "probe", object! {})).await).is_none());
    }
}

#[tokio::test]
async fn a_person_s_word_begins_everything_anew_and_a_machine_s_does_not() {
    let scene = Scene::new(r#"{"thresholds": [3]}"#);
    let agent = scene.agent();
    assert!(scene.reminded(&agent, "probe", 2).await.is_empty());
    scene.step(&agent, Source::plugin(PLUGIN)).await;
    assert_eq!(scene.reminded(&agent, "probe", 1).await, [1]);
    scene.step(&agent, Source::User).await;
    assert_eq!(scene.reminded(&agent, "probe", 3).await, [3]);
}

#[tokio::test]
async fn programs_have_a_chain_of_their_own() {
    let scene = Scene::new(r#"{"thresholds": [3]}"#);
    let agent = scene.agent();
    let mut reminded = Vec::new();
    for _ in 1..=3 {
        // What a program calls does not hide that it is the same program again.
        let result = scene.call(&agent, "program", object! { "code": "…" }).await;
        let inner = result.value().unwrap().get("reminded").unwrap() == &Json::from(true);
        reminded.push((inner, said(&result).is_some()));
    }
    assert_eq!(reminded, [(false, false), (false, false), (true, true)]);
}

#[tokio::test]
async fn it_goes_with_its_mount() {
    let mut scene = Scene::new(r#"{"thresholds": [2]}"#);
    let agent = scene.agent();
    scene.kept = dsh_lifecycle::Registrations::new();
    let tool = scene.tools.register(None, crate::scene::tool("probe")).unwrap();
    assert!(scene.reminded(&agent, "probe", 4).await.is_empty());
    drop(tool);
}
