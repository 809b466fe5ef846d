//! What becomes of calls with and without a budget (spec 09 §B.4).

use std::time::Duration;

use dsh_lifecycle::{Cancel, Cause};
use dsh_llm::plain_text;
use dsh_timeout_policy::{TOOL_TIMEOUT, TOOL_TIMEOUT_ABANDONED};
use tokio::time::{Instant, sleep};

use crate::scene::{Does, Scene, told};

/// What came of one call, and how long it took.
async fn called(scene: &Scene) -> (String, u128) {
    let began = Instant::now();
    let result = scene.call(&Cancel::new()).await;
    (told(&result), began.elapsed().as_millis())
}

#[tokio::test(start_paused = true)]
async fn a_call_ends_at_its_budget_and_not_before() {
    for (config, budget, does, expected) in [
        // No budget: it takes as long as it takes.
        ("{}", None, Does::EndsAfter(90_000), ("done", 90_000)),
        ("{}", Some(100), Does::EndsAfter(100), ("done", 100)),
        ("{}", Some(100), Does::EndsAfter(99), ("done", 99)),
        ("{}", Some(100), Does::StopsWithin(0), (TOOL_TIMEOUT, 100)),
        ("{}", Some(100), Does::StopsWithin(20), (TOOL_TIMEOUT, 120)),
        // One that does not listen is waited for.
        ("{}", Some(100), Does::EndsAfter(60_000), (TOOL_TIMEOUT, 60_000)),
        (
            r#"{"graceMs": 500, "abandon": true}"#,
            Some(100),
            Does::EndsAfter(60_000),
            (TOOL_TIMEOUT_ABANDONED, 600),
        ),
        (r#"{"graceMs": 500, "abandon": true}"#, Some(100), Does::StopsWithin(400), (TOOL_TIMEOUT, 500)),
        (r#"{"defaultMs": 70}"#, None, Does::StopsWithin(0), (TOOL_TIMEOUT, 70)),
        (r#"{"defaultMs": 70}"#, Some(100), Does::StopsWithin(0), (TOOL_TIMEOUT, 100)),
        (r#"{"maxMs": 50}"#, Some(100), Does::StopsWithin(0), (TOOL_TIMEOUT, 50)),
        (r#"{"maxMs": 50}"#, None, Does::EndsAfter(1_000), ("done", 1_000)),
        // Longer than 32 bits of milliseconds.
        ("{}", Some(4_294_967_296_000), Does::EndsAfter(5), ("done", 5)),
    ] {
        let scene = Scene::new(config, budget, does);
        let (told, took) = called(&scene).await;
        assert_eq!((told.as_str(), took), expected, "{config} {budget:?} {does:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_timed_out_call_says_what_it_was_allowed_how_long_it_took_and_what_to_do() {
    let scene = Scene::new("{}", Some(100), Does::StopsWithin(20));
    let result = scene.call(&Cancel::new()).await;
    let error = result.error().unwrap();
    assert_eq!(error.info.as_ref().unwrap().name, "ToolTimeoutError");
    let text = "the call timed out: 100 ms are allowed, and it ended after 120 ms. It may have done a part of its work; ask \
                for less, or in smaller parts.";
    assert_eq!(error.message, text);
    assert_eq!(plain_text(&result.content), format!("Error: {text}"));
    assert_eq!((&result.meta, result.value(), result.concludes_turn()), (&None, None, false));
    // What the body said by the way is told nevertheless.
    assert_eq!(result.contexts.len(), 1);
    let late = Scene::new("{}", Some(100), Does::EndsAfter(130)).call(&Cancel::new()).await;
    assert!(late.error().unwrap().message.contains("It came to its end, too late"), "{late:?}");
}

#[tokio::test(start_paused = true)]
async fn without_a_budget_the_body_has_the_caller_s_own_cancellation() {
    for (budget, own) in [(None, true), (Some(100), false)] {
        let scene = Scene::new("{}", budget, Does::EndsAfter(1));
        let first = Cancel::new();
        scene.call(&first).await;
        let given = scene.given.lock().pop().unwrap();
        let seen = scene.after.lock().pop().unwrap();
        // A deadline's cancellation is not heard by the stage behind.
        given.cancel(Cause::Deadline);
        assert_eq!(seen.is_cancelled(), own, "{budget:?}");
        assert!(!first.is_cancelled(), "nobody cancels the caller");
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_stops_it_first_decides_what_it_was() {
    for (stopped_after, expected) in [(50, "OWN"), (99, "OWN"), (110, TOOL_TIMEOUT)] {
        let scene = Scene::new("{}", Some(100), Does::StopsWithin(50));
        let cancel = Cancel::new();
        let stop = async {
            sleep(Duration::from_millis(stopped_after)).await;
            cancel.cancel(Cause::User);
        };
        let (result, ()) = tokio::join!(scene.call(&cancel), stop);
        assert_eq!(told(&result), expected, "{stopped_after}");
    }
    // A deadline of somebody else's is a cancellation like any other.
    let scene = Scene::new("{}", Some(100), Does::EndsAfter(90));
    let cancel = Cancel::new();
    cancel.cancel(Cause::Deadline);
    assert_eq!(told(&*scene.call(&cancel).await), "ABORTED_BEFORE_DISPATCH");
}

#[tokio::test(start_paused = true)]
async fn it_goes_with_its_mount() {
    let mut scene = Scene::new("{}", Some(100), Does::EndsAfter(500));
    assert_eq!(called(&scene).await.0, TOOL_TIMEOUT);
    scene.policy = None;
    assert_eq!(called(&scene).await, ("done".to_owned(), 500));
}
