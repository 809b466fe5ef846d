//! What can be configured, and which tools are looked at (spec 09 §C.1).

use std::sync::Arc;

use dsh_json::{Json, object};
use dsh_lifecycle::SeededIds;
use dsh_repeat_reminder::{RepeatConfig, RepeatReminder};
use dsh_tools_core::Tools;

use crate::scene::{Scene, said, tool};

#[test]
fn what_is_no_configuration_is_refused() {
    for (text, says) in [
        (r#"{"thresholds": []}"#, "`thresholds` is empty"),
        (r#"{"thresholds": [3, 1]}"#, "`thresholds` has 1"),
        (r#"{"thresholds": [5, 3, 5]}"#, "`thresholds` has 5 twice"),
        (r#"{"thresholds": [2.5]}"#, "thresholds"),
        (r#"{"thresholds": [-3]}"#, "thresholds"),
        (r#"{"argumentsPreviewChars": 0}"#, "argumentsPreviewChars"),
        (r#"{"argumentsPreviewChars": 1.5}"#, "argumentsPreviewChars"),
        (r#"{"treshold": [3]}"#, "treshold"),
        (r#"{"sameResults": 1}"#, "sameResults"),
    ] {
        let read = Json::parse(text).unwrap().read::<RepeatConfig>().map_err(|error| error.to_string());
        let made = read.and_then(|config| {
            let made = RepeatReminder::new(Tools::new(), Arc::new(SeededIds::new(1)), config);
            made.map(drop).map_err(|error| error.to_string())
        });
        let told = made.expect_err(text);
        assert!(told.contains(says), "{text}: {told}");
    }
}

#[tokio::test]
async fn exclusion_wins_and_stars_stand_for_anything() {
    let config = r#"{"thresholds": [2], "include": ["web_*", "probe"], "exclude": ["web_status", "pr.be"]}"#;
    let scene = Scene::new(config);
    for name in ["web_search", "web_", "web_status", "read", "a_web_b", "probe"] {
        let _there = (name != "probe").then(|| scene.tools.register(None, tool(name)).unwrap());
        let told = scene.reminded(&scene.agent(), name, 3).await;
        let looked_at = ["web_search", "web_", "probe"].contains(&name);
        assert_eq!(told, if looked_at { vec![2] } else { vec![] }, "{name}");
    }
}

#[tokio::test]
async fn quotations_are_cut_between_characters_and_say_how_much_is_missing() {
    let arguments = object! { "text": "é".repeat(400) };
    assert_eq!(arguments.canonical().chars().count(), 411);
    for (preview, quoted) in [
        (24, format!("{{\"text\":\"{} … (387 more characters)\n", "é".repeat(15))),
        (411, format!("{}\n", arguments.canonical())),
    ] {
        let scene = Scene::new(&format!(r#"{{"thresholds": [2, 3], "argumentsPreviewChars": {preview}}}"#));
        let (agent, mut told) = (scene.agent(), None);
        for _ in 0..3 {
            told = said(&scene.call(&agent, "probe", arguments.clone()).await);
        }
        assert!(told.as_ref().is_some_and(|told| told.contains(&quoted)), "{preview}: {told:?}");
    }
}

/// Calls whose results are these; the numbers of those with which a reminder came.
async fn with_results(config: &str, results: &[&str]) -> Vec<usize> {
    let scene = Scene::new(config);
    let (agent, mut with) = (scene.agent(), Vec::new());
    for (number, result) in (1..).zip(results) {
        scene.gives(result);
        let told = said(&scene.call(&agent, "weather", object! { "a": 1 }).await);
        with.extend(told.map(|_| number));
    }
    with
}

#[tokio::test]
async fn where_results_count_what_gives_something_else_is_progress() {
    let same = r#"{"thresholds": [2, 3], "sameResults": true}"#;
    for (results, told) in [
        (vec!["rain"; 4], vec![2, 3]),
        (vec!["rain", "sun", "rain", "sun"], vec![]),
        (vec!["rain", "rain", "sun", "sun", "sun"], vec![2, 4, 5]),
        // A failure is no progress, whatever its words are; the first that gives something is.
        (vec!["fails at 1", "fails at 2", "fails at 3"], vec![2, 3]),
        (vec!["fails at 1", "fails at 2", "rain", "rain"], vec![2, 4]),
        (vec!["rain", "fails at 1", "rain", "sun"], vec![2, 3]),
    ] {
        assert_eq!(with_results(same, &results).await, told, "{results:?}");
        let all = with_results(r#"{"thresholds": [2, 3]}"#, &results).await;
        assert_eq!(all, [2, 3], "by default: {results:?}");
    }
}

#[tokio::test]
async fn what_is_denied_for_its_repetition_is_no_progress() {
    let scene = Scene::new(r#"{"thresholds": [2], "sameResults": true, "denyAt": 3}"#);
    let (agent, mut ends) = (scene.agent(), Vec::new());
    scene.gives("rain");
    for _ in 0..6 {
        ends.push(scene.call(&agent, "weather", object! { "a": 1 }).await.is_error());
    }
    assert_eq!(ends, [false, false, true, true, true, true]);
}
