//! How calls and servers end before their time.

use std::sync::atomic::Ordering;
use std::time::Duration;

use dsh_agent::TurnError;
use dsh_json::object;
use dsh_lifecycle::Cause;
use dsh_mcp_server::McpServerConfig;
use tokio::time::sleep;

use crate::stage::{Stage, code, result};

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_stops_alone() {
    let stage = Stage::new();
    let served = stage.serve(McpServerConfig::default(), async |client| {
        let stopped = client.begin("p", &object! { "ms": 600_000 }).await;
        let beside = client.begin("p", &object! { "ms": 50 }).await;
        sleep(Duration::from_millis(10)).await;
        stopped.cancel(None).await.unwrap();
        assert_eq!(code(&result(beside.await_response().await)), "ok");
    });
    served.await.unwrap();
    assert_eq!(stage.codes(), ["ABORTED", "ok"]);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_leaves_stops_all_of_its_calls() {
    let stage = Stage::new();
    let served = stage.serve(McpServerConfig::default(), async |client| {
        let _calls = [
            client.begin("p", &object! { "ms": 600_000 }).await,
            client.begin("x", &object! { "ms": 600_000 }).await,
        ];
        sleep(Duration::from_millis(10)).await;
        client.service.cancel().await.unwrap();
    });
    served.await.unwrap();
    assert_eq!(stage.codes(), ["ABORTED", "ABORTED_BEFORE_DISPATCH"]);
}

#[tokio::test(start_paused = true)]
async fn a_stopped_server_answers_what_is_open() {
    let stage = Stage::new();
    let served = stage.serve(McpServerConfig::default(), async |client| {
        let running = client.begin("p", &object! { "ms": 600_000 }).await;
        let waiting = client.begin("x", &object! {}).await;
        sleep(Duration::from_millis(10)).await;
        stage.stop.cancel(Cause::User);
        assert_eq!(code(&result(running.await_response().await)), "ABORTED");
        assert_eq!(code(&result(waiting.await_response().await)), "ABORTED_BEFORE_DISPATCH");
    });
    served.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_log_that_cant_be_written_ends_the_server_and_is_told() {
    let stage = Stage::new();
    let served = stage.serve(McpServerConfig::default(), async |client| {
        let call = client.begin("p", &object! { "ms": 50 }).await;
        sleep(Duration::from_millis(10)).await;
        stage.log_is_broken.store(true, Ordering::SeqCst);
        assert_eq!(code(&result(call.await_response().await)), "TOOL_OUTCOME_UNKNOWN");
    });
    let failed = served.await;
    assert!(matches!(failed, Err(TurnError::Log(_))), "{failed:?}");
}
