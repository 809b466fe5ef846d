//! Policies of the table, mounted with the rest.

use std::fmt::Write as _;
use std::time::Duration;

use dsh_harness::{Harness, Host, row};
use dsh_json::Json;
use dsh_lifecycle::Cancel;
use dsh_llm::{Source, plain_text, text};
use dsh_session::{ToolResult, UserMessage};
use dsh_tools_core::{AnyTool, BoxFuture, Content, Definition, Registrations, RunContext, Schema, ToolError};
use serde::Deserialize;

use crate::world::{World, agent, call, config, verdict};

/// Waits until it is told to stop.
struct Patient;

impl AnyTool for Patient {
    fn execute<'a>(&'a self, _: &'a Json, cx: &'a RunContext) -> BoxFuture<'a, Result<Json, ToolError>> {
        Box::pin(async {
            cx.cancel().cancelled().await;
            Err(ToolError::plain("stopped"))
        })
    }

    fn render(&self, _: &Json, _: &Json) -> Result<Content, ToolError> {
        Ok(text("never"))
    }
}

#[derive(Deserialize)]
struct Nothing {}

fn patient() -> dsh_harness::Row {
    row("patient", "a tool that takes its time", |_: Nothing, host: &Host| {
        let any = || Schema::object().open().build();
        let tool = Definition::raw("patient", "Waits.", any()?, any()?, Patient)?;
        let tool = tool.with_timeout(Duration::from_millis(30))?;
        Ok(Registrations::from(host.tools.register(None, tool)?))
    })
}

#[tokio::test]
async fn a_tool_with_a_budget_is_stopped_and_the_configuration_cuts_budgets() {
    for (text, ms) in [("", "30 ms"), ("[timeout-policy]\nmaxMs = 10\n", "10 ms")] {
        let world = World::new();
        let builder = world.builder().config(config(&world.file("dsh.toml"), text)).row(patient());
        let harness = builder.build().unwrap();
        let (told, code) = call(&harness, "patient", "{}").await;
        assert_eq!(code.as_deref(), Some("TOOL_TIMEOUT"));
        assert!(told.contains(&format!("{ms} are allowed")), "{told}");
    }
}

/// Where reminders stand among the results of a script that makes one call again and again.
async fn reminders(harness: &Harness) -> String {
    let agent = agent(harness);
    harness.run_turn(&agent, text("Do it."), &Cancel::new()).await.unwrap();
    assert!(verdict(agent.session()).is_ok());
    let mut seen = String::new();
    for event in agent.session().events() {
        if let Some(Ok(result)) = event.read::<ToolResult>() {
            let code = result.error.map(|error| error.code.to_string()).unwrap_or_default();
            let _ = writeln!(seen, "result {code}");
        } else if let Some(Ok(said)) = event.read::<UserMessage>()
            && said.0.source == Source::plugin_form("repeat-reminder", "notice")
        {
            let text = plain_text(&said.0.content);
            let _ = writeln!(seen, "  {}", text.lines().next().unwrap_or_default());
        }
    }
    seen
}

/// The model is reminded at 3, 5 and 8, whether the call was refused by a policy or is no call at all.
#[tokio::test]
async fn a_call_that_is_refused_again_and_again_is_noticed() {
    let world = World::new();
    for (name, call) in [
        ("refused", r#"{"name": "write", "arguments": {"file_path": "/outside/of/it", "content": "x"}}"#),
        ("unknown", r#"{"name": "wirte", "arguments": {"file_path": "a", "content": "x"}}"#),
    ] {
        let steps = vec![format!(r#"{{"toolCalls": [{call}]}}"#); 9].join(", ");
        let harness = world.scripted(&format!(r#"{{"steps": [{steps}, {{"text": "I give up."}}]}}"#));
        insta::assert_snapshot!(name, reminders(&harness).await);
    }
}
