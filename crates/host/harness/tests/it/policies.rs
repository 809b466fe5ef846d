//! Policies of the table, mounted with the rest.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use dsh_harness::{Agent, Harness, Host, SessionChoice, row};
use dsh_json::Json;
use dsh_lifecycle::Cancel;
use dsh_llm::{Source, plain_text, text};
use dsh_session::{Header, ToolResult, UserMessage};
use dsh_session_jsonl::fork;
use dsh_tools_core::{
    AnyTool, Approval, BoxFuture, Content, Definition, Registrations, RunContext, Schema, ToolError, object,
};
use dsh_user_approval::{ApprovalAsked, ApprovalDecided};
use serde::Deserialize;

use crate::world::{SCRIPTED, Says, World, agent, call, call_of, config, verdict};

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
    reminders_of(harness, &agent(harness)).await
}

async fn reminders_of(harness: &Harness, agent: &Agent) -> String {
    harness.run_turn(agent, text("Do it."), &Cancel::new()).await.unwrap();
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

/// The same for a call that a person refuses each time; every question and its answer stand in the log.
#[tokio::test]
async fn a_call_that_a_person_refuses_again_and_again_is_noticed() {
    let world = World::new();
    let call = r#"{"name": "write", "arguments": {"file_path": "a", "content": "x"}}"#;
    let steps = vec![format!(r#"{{"toolCalls": [{call}]}}"#); 8].join(", ");
    world.put("script.json", &format!(r#"{{"steps": [{steps}, {{"text": "I give up."}}]}}"#));
    let text = format!("{SCRIPTED}\n[permission-rules]\nask = ['write']\n");
    let builder = world.builder().config(config(&world.file("dsh.toml"), &text));
    let harness = builder.answerer(Arc::new(Says(Approval::Rejected))).build().unwrap();
    let agent = agent(&harness);
    insta::assert_snapshot!("not-approved", reminders_of(&harness, &agent).await);
    assert!(!world.file("a").exists());
    let events = agent.session().events();
    let asked: Vec<ApprovalAsked> = events.iter().filter_map(|event| event.read()?.ok()).collect();
    let decided: Vec<ApprovalDecided> = events.iter().filter_map(|event| event.read()?.ok()).collect();
    assert_eq!((asked.len(), decided.len()), (8, 8));
    for (asked, decided) in asked.iter().zip(&decided) {
        assert_eq!((&asked.id, decided.outcome), (&decided.id, Approval::Rejected));
        assert!(asked.reason.as_deref().unwrap().contains("[permission-rules] ask = \"write\""), "{asked:?}");
    }
}

/// A question that is asked from within a program holds up its own call, and what is in the log tells who answered.
#[tokio::test]
async fn a_program_waits_for_the_answer_to_one_of_its_calls_and_goes_on() {
    let world = World::new();
    world.put("root/a.txt", "one\n");
    let code = "const asked = tools.write({ file_path: 'b', content: 'x' }).catch(error => error.message); \
                const { lines } = await tools.read({ file_path: 'a.txt' }); \
                return [lines.length, await asked];";
    world.put(
        "script.json",
        &format!(
            r#"{{"steps": [{{"toolCalls": [{{"name": "run_code", "arguments": {{"description": "Tries",
                "code": "{code}"}}}}]}}, {{"text": "Done."}}]}}"#
        ),
    );
    let text =
        format!("{SCRIPTED}\n[code-mode]\nisolation = 'thread'\n[permission-rules]\nask = ['write']\n");
    for (answer, says) in [(Approval::Rejected, "the user refused"), (Approval::AllowedOnce, "absolute")] {
        let _ = std::fs::remove_file(world.file("b"));
        let builder = world.builder().config(config(&world.file("dsh.toml"), &text));
        let harness = builder.answerer(Arc::new(Says(answer))).build().unwrap();
        let agent = agent(&harness);
        harness.run_turn(&agent, dsh_llm::text("Go."), &Cancel::new()).await.unwrap();
        assert!(verdict(agent.session()).is_ok());
        let told = agent
            .session()
            .messages()
            .iter()
            .map(|message| format!("{message:?}"))
            .collect::<Vec<_>>()
            .concat();
        assert_eq!(world.file("b").exists(), answer == Approval::AllowedOnce);
        assert!(told.contains(says) || answer == Approval::AllowedOnce, "{told}");
        harness.shut_down().await;
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Amount {
    lines: usize,
}

pub(crate) fn lines(count: usize) -> String {
    (1..=count).map(|line| format!("line {line}\n")).collect::<Vec<_>>().concat()
}

/// Prints so many numbered lines.
struct Talker(usize);

impl AnyTool for Talker {
    fn execute<'a>(&'a self, _: &'a Json, _: &'a RunContext) -> BoxFuture<'a, Result<Json, ToolError>> {
        Box::pin(std::future::ready(Ok(object! {})))
    }

    fn render(&self, _: &Json, _: &Json) -> Result<Content, ToolError> {
        Ok(text(lines(self.0)))
    }
}

pub(crate) fn talker() -> dsh_harness::Row {
    row("talker", "a tool that says much", |amount: Amount, host: &Host| {
        let any = || Schema::object().open().build();
        let tool = Definition::raw("talk", "Talks.", any()?, any()?, Talker(amount.lines))?;
        Ok(Registrations::from(host.tools.register(None, tool)?))
    })
}

/// The locator in what the model read of a result that was stored.
fn locator(told: &str) -> String {
    let (_, rest) = told.split_once("is stored at ").unwrap_or_else(|| panic!("nothing is stored: {told}"));
    rest.split_once(".txt.").unwrap().0.to_owned() + ".txt"
}

/// What is too large is stored whole, shown in part, and read on with the tools: by this session, also in a later life, and
/// by one that was forked from it; by no other.
#[tokio::test]
async fn a_large_result_is_read_on_by_its_own_session_and_no_other() {
    let world = World::new();
    let text = "talker.lines = 10000\n[spill-policy]\nmaxInlineBytes = 2000\n";
    let settings = config(&world.file("dsh.toml"), text);
    let build = || world.builder().config(settings.clone()).row(talker()).build().unwrap();
    let open = |harness: &Harness, name: &str| {
        harness.agent(harness.open_session(&SessionChoice::File(world.path(name))).unwrap().session)
    };
    let harness = build();
    let first = open(&harness, "first.jsonl");
    let (told, code) = call_of(&harness, &first, "talk", "{}").await;
    assert!(code.is_none() && told.len() <= 2_000, "{told}");
    assert!(told.starts_with("line 1\nline 2\n") && told.contains("\nline 10000\n"), "{told}");
    let stored = locator(&told);
    assert!(stored.starts_with(world.path("spill/session-").to_str().unwrap()), "{stored}");
    assert_eq!(std::fs::read_to_string(&stored).unwrap(), lines(10_000));
    let child = Header::new("child", 0).unwrap();
    drop(first);
    fork(world.path("first.jsonl"), None, world.path("child.jsonl"), child, &harness.host().vocabulary())
        .unwrap();
    drop(harness);

    let harness = build();
    let page = format!(r#"{{"file_path": "{stored}", "offset": 5000, "limit": 2}}"#);
    let search = format!(r#"{{"pattern": "line 77[0-3]$", "path": "{stored}"}}"#);
    for name in ["first.jsonl", "child.jsonl"] {
        let agent = open(&harness, name);
        let (page, code) = call_of(&harness, &agent, "read", &page).await;
        assert!(code.is_none() && page.contains("5000: line 5000\n5001: line 5001\n"), "{name}: {page}");
        let (found, code) = call_of(&harness, &agent, "grep", &search).await;
        assert!(code.is_none() && found.contains("line 773"), "{found}");
        // It is there to be read, and no tool's to change.
        let write = format!(r#"{{"file_path": "{stored}", "content": "x"}}"#);
        let (_, code) = call_of(&harness, &agent, "write", &write).await;
        assert_eq!(code.as_deref(), Some("FS_SANDBOX_DENIED"));
    }
    let other = open(&harness, "other.jsonl");
    let above = world.path("spill");
    let listing = format!(r#"{{"pattern": "**", "path": "{}"}}"#, above.display());
    for (tool, arguments) in [("read", &page), ("grep", &search), ("glob", &listing)] {
        let (told, code) = call_of(&harness, &other, tool, arguments).await;
        assert_eq!(code.as_deref(), Some("FS_SANDBOX_DENIED"), "{tool}: {told}");
    }
}

/// Whatever becomes of the store, the call stays what it was.
#[tokio::test]
async fn a_store_that_can_not_store_leaves_the_result_whole() {
    let world = World::new();
    world.put("file", "");
    let text = "talker.lines = 1000\nspill-policy.maxInlineBytes = 2000\nspill-local.root = '../file'\n";
    let builder = world.builder().config(config(&world.file("dsh.toml"), text)).row(talker());
    let harness = builder.build().unwrap();
    let (told, code) = call(&harness, "talk", "{}").await;
    assert!(code.is_none() && told.ends_with("line 999\nline 1000\n"), "{code:?}");
}
