//! Calls that need approval, with clients that can ask and with those that can't.

use std::sync::Arc;

use dsh_mcp_server::McpServerConfig;
use dsh_tools_core::{Presentation, object};
use dsh_user_approval::{ApprovalAsked, ApprovalDecided};
use parking_lot::Mutex;
use rmcp::model::{ElicitResult, ElicitationAction};
use serde_json::json;

use crate::stage::{Client, Heard, Stage, code, result};

fn says(action: ElicitationAction, content: serde_json::Value) -> ElicitResult {
    ElicitResult::new(action).with_content(content)
}

fn stage(answers: impl IntoIterator<Item = Option<ElicitResult>>) -> Stage {
    let mut stage = Stage::new();
    stage.user = Some(Arc::new(Mutex::new(answers.into_iter().collect())));
    stage
}

#[tokio::test]
async fn the_user_of_the_client_is_asked_and_only_a_yes_runs() {
    let stage = stage(
        [
            says(ElicitationAction::Accept, json!({ "allow": true })),
            says(ElicitationAction::Accept, json!({ "allow": false })),
            says(ElicitationAction::Decline, json!({})),
            says(ElicitationAction::Cancel, json!({})),
            says(ElicitationAction::Accept, json!({})),
        ]
        .map(Some),
    );
    let act = async |mut client: Client| {
        for expected in
            ["ok", "APPROVAL_REJECTED", "APPROVAL_REJECTED", "APPROVAL_CANCELLED", "APPROVAL_UNAVAILABLE"]
        {
            let said = client.call("ask", object! { "path": "a", "text": "one\ntwo" }).await;
            assert_eq!(code(&said), expected);
            let Some(Heard::Question(asked)) = client.heard.recv().await else { panic!("nobody was asked") };
            insta::allow_duplicates!(insta::assert_snapshot!(asked, @r"
            Allow `ask`?

            path:
            | a
            text:
            | one
            | two

            Why:
            | it is dangerous

            Yes allows this one call, as it is shown. Nothing is remembered.
            "));
        }
    };
    stage.serve(McpServerConfig::default(), act).await.unwrap();
    assert_eq!((stage.events::<ApprovalAsked>().len(), stage.events::<ApprovalDecided>().len()), (5, 5));
    assert!(stage.events::<ApprovalDecided>().iter().all(|decided| decided.by.as_deref() == Some("mcp")));
}

#[tokio::test]
async fn a_call_that_is_cancelled_takes_its_question_away() {
    let stage = stage([None]);
    let act = async |mut client: Client| {
        let asked = client.begin("ask", &object! {}).await;
        assert!(matches!(client.heard.recv().await, Some(Heard::Question(_))));
        asked.cancel(None).await.unwrap();
        assert!(matches!(client.heard.recv().await, Some(Heard::Withdrawn)));
        // Others go on.
        assert_eq!(code(&client.call("p", object! {}).await), "ok");
    };
    stage.serve(McpServerConfig::default(), act).await.unwrap();
    assert_eq!(stage.codes()[0], "ABORTED_BEFORE_DISPATCH");
}

#[tokio::test]
async fn a_client_that_leaves_while_it_is_asked_leaves_a_closed_log() {
    let stage = stage([None]);
    let act = async |mut client: Client| {
        let _asked = client.begin("ask", &object! {}).await;
        assert!(matches!(client.heard.recv().await, Some(Heard::Question(_))));
        client.service.cancel().await.unwrap();
    };
    stage.serve(McpServerConfig::default(), act).await.unwrap();
    assert_eq!(stage.codes(), ["ABORTED_BEFORE_DISPATCH"]);
}

#[tokio::test]
async fn a_question_holds_up_its_own_call_and_no_other() {
    let stage = stage([None]).with_programs(Presentation::Both);
    let act = async |mut client: Client| {
        let asked = client.begin("ask", &object! {}).await;
        assert!(matches!(client.heard.recv().await, Some(Heard::Question(_))));
        let other = client.begin("p", &object! {}).await;
        // It runs while the question is open; that its answer waits for its turn in the log is the model's order.
        asked.cancel(None).await.unwrap();
        assert_eq!(code(&result(other.await_response().await)), "ok");
    };
    stage.serve(McpServerConfig::default(), act).await.unwrap();
}
