//! Progress of programs.

use dsh_json::object;
use dsh_mcp_server::McpServerConfig;
use dsh_tools_core::Presentation;

use crate::stage::{Heard, Stage, code};

/// What is told of a program of so many calls, each of so many milliseconds.
async fn told(calls: u64, ms: u64) -> Vec<String> {
    let stage = Stage::new().with_programs(Presentation::Both);
    let mut told = Vec::new();
    let served = stage.serve(McpServerConfig::default(), async |mut client| {
        let result = client.call("run_code", object! { "calls": calls, "ms": ms }).await;
        assert_eq!(code(&result), "ok");
        // It came before the answer, and is handed over beside it.
        tokio::task::yield_now().await;
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        while let Ok(Heard::Progress(progress)) = client.heard.try_recv() {
            told.push(progress.message.unwrap());
        }
    });
    served.await.unwrap();
    told
}

#[tokio::test(start_paused = true)]
async fn each_call_is_told_where_there_is_time() {
    let expected =
        ["1 call done; the last was p", "2 calls done; the last was p", "3 calls done; the last was p"];
    assert_eq!(told(3, 200).await, expected);
}

#[tokio::test(start_paused = true)]
async fn many_are_told_at_a_bounded_rate_and_the_last_always() {
    let told = told(1_000, 1).await;
    // A second at ten a second.
    assert!((9..=13).contains(&told.len()), "{told:?}");
    assert_eq!(told.last().map(String::as_str), Some("1000 calls done; the last was p"));
}

#[tokio::test(start_paused = true)]
async fn without_calls_nothing_is_told() {
    assert_eq!(told(0, 0).await, [""; 0]);
}
