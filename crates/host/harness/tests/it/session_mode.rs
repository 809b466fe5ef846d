//! The sandbox mode of one session, and more reach for one call (spec 10 §B).

use std::sync::Arc;

use dsh_agent::Agent;
use dsh_harness::{CallTurn, Harness, RequestedCall, SessionChoice};
use dsh_lifecycle::Cancel;
use dsh_llm::plain_text;
use dsh_sandbox_policy::{ModeChanged, SandboxMode, set_session_mode};
use dsh_session::{Event, ToolResult};
use dsh_tools_core::Approval;

use crate::world::{Says, World, agent};

/// Makes one call as a turn of this agent. The code of its failure, and what the model reads.
async fn called(harness: &Harness, agent: &Agent, tool: &str, arguments: &str) -> (Option<String>, String) {
    let call = RequestedCall { id: "c".into(), name: tool.into(), arguments: arguments.into() };
    let turn = CallTurn { origin: "test".into(), note: "A test's call.".into(), calls: vec![call] };
    harness.run_calls(agent, turn, &Cancel::new()).await.unwrap();
    let read = |event: &Arc<Event>| event.read::<ToolResult>();
    let result = agent.session().events().iter().rev().find_map(read).unwrap().unwrap();
    let block = result.message.content.first().unwrap();
    let dsh_llm::ContentBlock::ToolResult { content, .. } = block else { panic!("no result: {block:?}") };
    (result.error.map(|error| error.code.to_string()), plain_text(content))
}

async fn writes(harness: &Harness, agent: &Agent) -> bool {
    let name = format!("f{}", agent.session().len());
    let arguments = format!(r#"{{"file_path": "{name}", "content": "x"}}"#);
    let (code, _) = called(harness, agent, "write", &arguments).await;
    assert!(code.as_deref().is_none_or(|code| code == "FS_SANDBOX_DENIED"), "{code:?}");
    code.is_none()
}

#[tokio::test]
async fn a_switch_holds_from_the_next_call_on_and_for_this_session_alone() {
    let world = World::new();
    let harness = world.configured("sandbox-policy.mode = 'read-only'").unwrap();
    let (one, other) = (agent(&harness), agent(&harness));
    assert!(!writes(&harness, &one).await);
    set_session_mode(one.session(), SandboxMode::WorkspaceWrite, None).unwrap();
    assert!(writes(&harness, &one).await && !writes(&harness, &other).await);
    set_session_mode(one.session(), SandboxMode::ReadOnly, None).unwrap();
    assert!(!writes(&harness, &one).await);
}

#[tokio::test]
async fn a_resumed_session_keeps_its_mode() {
    let world = World::new();
    let choice = SessionChoice::File(world.path("s.jsonl"));
    let harness = world.configured("").unwrap();
    let before = harness.agent(harness.open_session(&choice).unwrap().session);
    assert!(writes(&harness, &before).await);
    set_session_mode(before.session(), SandboxMode::ReadOnly, Some("test".into())).unwrap();
    drop(before);
    let harness = world.configured("").unwrap();
    let after = harness.agent(harness.open_session(&choice).unwrap().session);
    assert!(!writes(&harness, &after).await);
    let kept =
        after.session().events().iter().rev().find_map(|event| event.read::<ModeChanged>()).unwrap().unwrap();
    assert_eq!(kept, ModeChanged { mode: SandboxMode::ReadOnly, source: Some("test".into()) });
}

#[tokio::test]
async fn the_model_is_told_the_mode_and_each_switch() {
    let world = World::new();
    let script = r#"{"steps": [{"text": "One."}, {"text": "Two."}, {"text": "Three."}]}"#;
    let harness = world.scripted(script);
    let agent = agent(&harness);
    let told = || {
        let messages = agent.session().messages();
        let texts = messages.iter().map(|message| plain_text(&message.content));
        texts.filter(|text| text.contains("Sandbox: ")).collect::<Vec<_>>()
    };
    harness.run_turn(&agent, dsh_llm::text("Go."), &Cancel::new()).await.unwrap();
    assert!(told().len() == 1 && told()[0].contains("Sandbox: workspace-write."), "{:?}", told());
    harness.run_turn(&agent, dsh_llm::text("Go."), &Cancel::new()).await.unwrap();
    assert_eq!(told().len(), 1, "what did not change is not told again");
    set_session_mode(agent.session(), SandboxMode::ReadOnly, None).unwrap();
    harness.run_turn(&agent, dsh_llm::text("Go."), &Cancel::new()).await.unwrap();
    assert!(told().len() == 2 && told()[1].contains("Sandbox: read-only."), "{:?}", told());
}

#[tokio::test]
async fn more_reach_is_offered_where_somebody_can_be_asked() {
    let world = World::new();
    world.put("beside/notes.txt", "of the user\n");
    let asks = [
        ("read", r#""file_path": "../beside/notes.txt""#),
        ("write", r#""file_path": "../beside/new.txt", "content": "x""#),
        ("glob", r#""pattern": "*", "path": "../beside""#),
        ("grep", r#""pattern": "user", "path": "../beside""#),
    ];
    let wider =
        r#""sandbox_permissions": "danger-full-access", "justification": "the user keeps notes there""#;
    for somebody in [false, true] {
        let builder = world.builder();
        let harness =
            if somebody { builder.answerer(Arc::new(Says(Approval::AllowedOnce))) } else { builder }
                .build()
                .unwrap();
        let agent = agent(&harness);
        for (tool, arguments) in asks {
            let (code, told) = called(&harness, &agent, tool, &format!("{{{arguments}}}")).await;
            assert_eq!(code.as_deref(), Some("FS_SANDBOX_DENIED"), "{tool}");
            assert_eq!(told.contains("sandbox_permissions"), somebody, "{told}");
            let (code, told) = called(&harness, &agent, tool, &format!("{{{arguments}, {wider}}}")).await;
            assert_eq!(code.as_deref(), (!somebody).then_some("INVALID_ARGS"), "{tool}: {told}");
        }
        assert_eq!(world.path("beside/new.txt").exists(), somebody);
    }
}
