//! The cap on parallel calls: configured, stored, and read when calls begin.

use std::num::NonZeroUsize;

use dsh_agent_loop::LoopConfig;
use dsh_json::Json;

use crate::kit::{Scene, calls, says};

fn json(text: &str) -> Json {
    Json::parse(text).unwrap()
}

#[test]
fn a_cap_is_a_positive_integer_and_ten_unless_it_is_given() {
    let read = |text: &str| json(text).read::<LoopConfig>();
    assert_eq!(read("{}").unwrap().max_parallel_tool_calls.get(), 10);
    assert_eq!(read(r#"{"maxParallelToolCalls":1}"#).unwrap().max_parallel_tool_calls.get(), 1);
    for bad in ["0", "1.5", "-1", "\"3\"", "null"] {
        assert!(read(&format!(r#"{{"maxParallelToolCalls":{bad}}}"#)).is_err(), "{bad}");
    }
    assert_eq!(NonZeroUsize::new(0), None, "nor can a loop be made with one");
}

#[tokio::test(start_paused = true)]
async fn a_stored_cap_holds_from_the_next_step_until_the_store_is_gone() {
    let batch = |prefix: &str| {
        let ids: Vec<_> = ["1", "2", "3"].map(|n| format!("{prefix}{n}")).into();
        calls([
            (&*ids[0], "p", r#"{"ms":1}"#),
            (&*ids[1], "p", r#"{"ms":1}"#),
            (&*ids[2], "p", r#"{"ms":1}"#),
        ])
    };
    let scene = Scene::new([batch("a"), says("1"), batch("b"), says("2"), batch("c"), says("3")]);
    let settings = scene.turns.settings().clone();
    let took = async |prompt: &str| {
        let before = tokio::time::Instant::now();
        scene.turn(prompt).await;
        before.elapsed().as_millis()
    };
    assert_eq!(took("one").await, 1);
    let store = settings.attach();
    settings.write(&json(r#"{"maxParallelToolCalls":1}"#)).unwrap();
    assert_eq!((took("two").await, settings.max_parallel_tool_calls().get()), (3, 1));
    drop(store);
    assert_eq!((took("three").await, settings.max_parallel_tool_calls().get()), (1, 10));
}

#[test]
fn a_bad_write_is_refused_and_the_last_good_value_stays() {
    let scene = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let scene = scene.block_on(async { Scene::new([]) });
    let settings = scene.turns.settings();
    settings.write(&json(r#"{"maxParallelToolCalls":4}"#)).unwrap();
    for bad in
        [r#"{"maxParallelToolCalls":0}"#, r#"{"maxParallelToolCalls":1.5}"#, r#"{"maxStepsPerTurn":5}"#, "7"]
    {
        settings.write(&json(bad)).unwrap_err();
        assert_eq!(settings.max_parallel_tool_calls().get(), 4, "{bad}");
    }
    let refused = settings.write(&json(r#"{"maxStepsPerTurn":5}"#)).unwrap_err();
    insta::assert_snapshot!(refused, @"the stored settings of `agent-loop` are refused: $.maxStepsPerTurn: unknown field `maxStepsPerTurn`, expected `maxParallelToolCalls`");
    settings.write(&json("{}")).unwrap();
    assert_eq!(settings.max_parallel_tool_calls().get(), 10, "nothing stored is what is configured");
}
