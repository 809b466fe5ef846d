//! What a model is told, whole, in each presentation of the default tools.

use dsh_system_prompt::AssembleContext;
use dsh_tools_core::Presentation;

use dsh_harness::SessionChoice;

use crate::world::World;

/// The prompt, the names of the tools of a request, and the state of the session.
fn told(mode: Presentation) -> String {
    let world = World::new();
    let harness = world.builder().mode(mode).build().unwrap();
    let session = harness.open_session(&SessionChoice::Memory).unwrap().session;
    let agent = harness.agent(session);
    let assembly = harness.host().prompt.assemble(&AssembleContext::of(&agent)).unwrap();
    let tools: Vec<_> = assembly.tools.iter().map(|tool| &*tool.name).collect();
    let (prompt, contexts) = (assembly.render_prompt().unwrap(), assembly.render_contexts().unwrap());
    let whole = format!("{prompt}\n\n=== tools: {}\n=== contexts\n{}\n", tools.join(" "), contexts.text);
    whole.replace(world.path("").to_str().unwrap(), "$DIR/")
}

#[tokio::test]
async fn with_direct_calls() {
    insta::assert_snapshot!(told(Presentation::Native));
}

#[tokio::test]
async fn with_programs() {
    insta::assert_snapshot!(told(Presentation::Code));
}

#[tokio::test]
async fn with_both() {
    insta::assert_snapshot!(told(Presentation::Both));
}
