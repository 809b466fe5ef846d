//! Calls and what comes of them.

use std::num::NonZeroUsize;

use dsh_json::{Json, array, object};
use dsh_json_schema::Schema;
use dsh_mcp_server::McpServerConfig;
use dsh_session::{AssistantMessage, StepStart, ToolCall};

use crate::stage::{Probe, Stage, code, result, text_of};

#[tokio::test(start_paused = true)]
async fn a_value_is_structured_where_it_is_an_object() {
    let stage = Stage::new();
    stage.register(Probe::giving("any", Schema::new(&object! {}).unwrap(), true, false));
    let served = stage.serve(McpServerConfig::default(), async |client| {
        for (value, structured) in [
            (object! { "n": 1, "big": u64::MAX }, true),
            (array![1], false),
            (Json::Null, false),
            ("words".into(), false),
        ] {
            let result = client.call("any", object! { "value": value.clone() }).await;
            assert_eq!(
                (code(&result), result.is_error, text_of(&result)),
                ("ok".into(), Some(false), "done")
            );
            let sent = result.structured_content.map(|value| value.to_string());
            assert_eq!(sent, structured.then(|| value.to_text()));
        }
    });
    served.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_value_too_deep_for_clients_is_told() {
    let stage = Stage::new();
    let deep = (0..110).fold(Json::Null, |inner, _| object! { "in": inner });
    let served = stage.serve(McpServerConfig::default(), async |client| {
        let result = client.call("p", object! { "value": deep }).await;
        assert_eq!((code(&result).as_str(), result.structured_content.is_none()), ("JSON_TOO_DEEP", true));
    });
    served.await.unwrap();
    assert_eq!(stage.codes(), ["ok"]);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_would_ask_is_refused_by_name() {
    let stage = Stage::new();
    let served = stage.serve(McpServerConfig::default(), async |client| {
        let result = client.call("ask", object! {}).await;
        assert_eq!(code(&result), "APPROVAL_UNAVAILABLE");
        let said = text_of(&result);
        assert!(said.starts_with("Error: ") && said.contains("approv"), "{said}");
    });
    served.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn overlapping_calls_are_one_turn_in_the_order_of_arrival() {
    let stage = Stage::new();
    let served = stage.serve(McpServerConfig::default(), async |client| {
        let mut calls = Vec::new();
        for (name, ms) in [("p", 20), ("p", 10), ("x", 5), ("p", 1)] {
            calls.push(client.begin(name, &object! { "ms": ms }).await);
        }
        for call in calls {
            assert_eq!(code(&result(call.await_response().await)), "ok");
        }
        client.call("p", object! {}).await;
    });
    served.await.unwrap();
    let calls: Vec<_> =
        stage.events::<ToolCall>().iter().map(|call| (call.turn, call.name.to_string())).collect();
    let expected = [(1, "p"), (1, "p"), (1, "x"), (1, "p"), (2, "p")];
    assert_eq!(calls, expected.map(|(turn, name)| (turn, name.to_owned())));
    assert_eq!(stage.events::<StepStart>().len(), 2);
    assert_eq!(stage.events::<AssistantMessage>().len(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_turn_takes_so_many_calls_and_the_rest_begins_another() {
    let stage = Stage::new();
    let config =
        McpServerConfig { max_calls_per_turn: NonZeroUsize::new(2).unwrap(), ..McpServerConfig::default() };
    let served = stage.serve(config, async |client| {
        let mut calls = Vec::new();
        for _ in 0..5 {
            calls.push(client.begin("p", &object! { "ms": 5 }).await);
        }
        for call in calls {
            assert_eq!(code(&result(call.await_response().await)), "ok");
        }
    });
    served.await.unwrap();
    let turns: Vec<_> = stage.events::<ToolCall>().iter().map(|call| call.turn).collect();
    assert_eq!(turns, [1, 1, 2, 2, 3]);
}

#[tokio::test(start_paused = true)]
async fn more_calls_than_there_are_places_for_are_refused() {
    let stage = Stage::new();
    let config =
        McpServerConfig { max_calls_in_flight: NonZeroUsize::new(2).unwrap(), ..McpServerConfig::default() };
    let served = stage.serve(config, async |client| {
        let first = client.begin("p", &object! { "ms": 5 }).await;
        let second = client.begin("p", &object! { "ms": 5 }).await;
        let third = client.call("p", object! {}).await;
        assert_eq!(code(&third), "TOO_MANY_CALLS");
        assert!(text_of(&third).contains("2 calls are unanswered already (`maxCallsInFlight`)"));
        for call in [first, second] {
            assert_eq!(code(&result(call.await_response().await)), "ok");
        }
        assert_eq!(code(&client.call("p", object! {}).await), "ok");
    });
    served.await.unwrap();
}
