//! Programs in a whole harness: what a model is offered, and what it may call (spec 06 §1).

use dsh_lifecycle::Cancel;
use dsh_llm::{plain_text, text};
use dsh_session::{RequestHeader, TurnEndReason};
use dsh_tools_core::Presentation;

use crate::world::{SCRIPTED, World, agent, config, verdict};

#[tokio::test]
async fn without_a_worker_a_program_fails_by_name_and_is_run_nowhere_else() {
    let world = World::new();
    let harness = world.scripted(
        r#"{"steps": [{"toolCalls": [{"name": "run_code", "arguments":
            {"description": "Adds", "code": "return 1 + 1;"}}]}, {"text": "Done."}]}"#,
    );
    let agent = agent(&harness);
    harness.run_turn(&agent, text("Go."), &Cancel::new()).await.unwrap();
    let told = results(&agent);
    let expected = "Error: code run failed (unavailable): WORKER_UNAVAILABLE: no worker can be started";
    assert!(told[0].starts_with(expected), "{told:?}");
}

/// What the model read of its calls.
fn results(agent: &dsh_harness::Agent) -> Vec<String> {
    let messages = agent.session().messages();
    let results = messages.iter().filter(|message| matches!(message.source, dsh_llm::Source::Tool { .. }));
    let told = results.map(|message| match &*message.content {
        [dsh_llm::ContentBlock::ToolResult { content, .. }] => plain_text(content),
        other => panic!("{other:?}"),
    });
    told.collect()
}

/// A turn in which the model calls a tool directly and then writes a program, in this mode: the names that it was
/// offered, and what it read.
async fn turn(mode: Presentation) -> (Vec<String>, Vec<String>) {
    let world = World::new();
    world.put("root/a.txt", "one\ntwo\n");
    world.put(
        "script.json",
        r#"{"steps": [
            {"toolCalls": [{"name": "read", "arguments": {"file_path": "a.txt"}}]},
            {"toolCalls": [{"name": "run_code", "arguments": {"description": "Counts lines",
                "code": "const { lines } = await tools.read({ file_path: 'a.txt' }); return lines.length;"}}]},
            {"text": "Done."}
        ]}"#,
    );
    // Tests are no workers; what runs programs in workers is tested where it is.
    let text_of = format!("{SCRIPTED}\n[code-mode]\nisolation = 'thread'");
    let config = config(&world.file("dsh.toml"), &text_of);
    let harness = world.builder().config(config).mode(mode).build().unwrap();
    let agent = agent(&harness);
    let outcome = harness.run_turn(&agent, text("Go."), &Cancel::new()).await.unwrap();
    assert_eq!(outcome.reason, TurnEndReason::Completed);
    assert!(verdict(agent.session()).is_ok());
    let events = agent.session().events();
    let header = events.iter().find_map(|event| event.read::<RequestHeader>()).unwrap().unwrap();
    let offered = header.header.tools.unwrap().iter().map(|tool| tool.name.to_string()).collect();
    (offered, results(&agent))
}

#[tokio::test]
async fn under_code_there_is_one_tool_and_programs_reach_the_others() {
    let (offered, told) = turn(Presentation::Code).await;
    assert_eq!(offered, ["run_code"]);
    assert!(told[0].starts_with("Error: `read` can't be called directly: only `run_code` can"), "{told:?}");
    assert_eq!(told[1], "2");
}

#[tokio::test]
async fn under_both_there_are_all_and_under_native_no_program() {
    let (offered, told) = turn(Presentation::Both).await;
    assert_eq!(offered, ["edit", "glob", "grep", "read", "run_code", "write"]);
    assert!(told[0].contains("1: one") && told[1] == "2", "{told:?}");
    let (offered, told) = turn(Presentation::Native).await;
    assert_eq!(offered, ["edit", "glob", "grep", "read", "write"]);
    assert!(told[1].starts_with("Error: there is no tool `run_code`"), "{told:?}");
}

#[tokio::test]
async fn an_order_of_tools_may_name_what_is_offered_and_nothing_else() {
    for (mode, order, fits) in [
        (Presentation::Both, "['run_code', 'read', '<unlisted-tools>']", true),
        (Presentation::Code, "['run_code', '<unlisted-tools>']", true),
        (Presentation::Code, "['read', '<unlisted-tools>']", false),
    ] {
        let world = World::new();
        world.put("script.json", r#"{"steps": [{"text": "Done."}]}"#);
        let text_of = format!("{SCRIPTED}\nsystem-prompt.toolOrder = {order}");
        let harness =
            world.builder().config(config(&world.file("dsh.toml"), &text_of)).mode(mode).build().unwrap();
        let outcome = harness.run_turn(&agent(&harness), text("Go."), &Cancel::new()).await.unwrap();
        assert_eq!(outcome.reason == TurnEndReason::Completed, fits, "{order}: {:?}", outcome.reason);
    }
}
