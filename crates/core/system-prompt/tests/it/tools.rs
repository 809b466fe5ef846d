use std::sync::Arc;

use dsh_scope::Scope;
use dsh_system_prompt::{
    AssembleContext, OfferedTools, PromptConfig, PromptError, ProviderError, SystemPrompt, ToolOrder,
    ToolOrderError, ToolsProvider, UNLISTED_TOOLS,
};

use crate::support::{error, everybody, offer, offer_knowing, schemas, tool_names, within};

fn ordered(names: &[&str]) -> SystemPrompt {
    let tool_order = Some(ToolOrder::new(names.iter().copied()).unwrap());
    SystemPrompt::with_config(PromptConfig { tool_order, ..PromptConfig::default() }).unwrap()
}

#[track_caller]
fn check(prompt: &SystemPrompt, cx: &AssembleContext, want: &[&str]) {
    assert_eq!(tool_names(&prompt.assemble(cx).unwrap()), want);
}

#[test]
fn tools_go_by_name_whoever_offers_them() {
    let prompt = SystemPrompt::default();
    check(&prompt, &everybody(), &[]);
    prompt.tools(None, offer(&["write", "a_b", "aB", "read"])).keep();
    prompt.tools(None, offer(&["Zip", "glob"])).keep();
    check(&prompt, &everybody(), &["Zip", "aB", "a_b", "glob", "read", "write"]);
}

#[test]
fn a_scope_adds_its_tools() {
    let prompt = SystemPrompt::default();
    let scope = Scope::root();
    prompt.tools(None, offer(&["read"])).keep();
    let own = prompt.tools(Some(&scope), offer(&["glob"]));
    check(&prompt, &everybody(), &["read"]);
    check(&prompt, &within(&scope.child()), &["glob", "read"]);
    drop(own);
    check(&prompt, &within(&scope), &["read"]);
}

#[test]
fn a_configured_order_puts_the_rest_at_the_marker() {
    let prompt = ordered(&["write", UNLISTED_TOOLS, "bash"]);
    prompt.tools(None, offer(&["bash", "read", "write", "glob"])).keep();
    check(&prompt, &everybody(), &["write", "glob", "read", "bash"]);
}

#[test]
fn a_tool_that_is_known_but_hidden_is_simply_absent() {
    let prompt = ordered(&["write", UNLISTED_TOOLS]);
    prompt.tools(None, offer_knowing(&["read"], Some(&["read", "write"]))).keep();
    check(&prompt, &everybody(), &["read"]);
}

#[test]
fn a_name_that_nobody_knows_is_refused() {
    let prompt = ordered(&["wirte", UNLISTED_TOOLS, "bsh", "read"]);
    assert_eq!(
        error(&prompt, &everybody()),
        "the tool order names unknown tools: wirte, bsh, read; known tools: (none)"
    );
    prompt.tools(None, offer(&["write"])).keep();
    prompt.tools(None, offer_knowing(&["read"], Some(&["read", "bash"]))).keep();
    assert_eq!(
        error(&prompt, &everybody()),
        "the tool order names unknown tools: wirte, bsh; known tools: bash, read, write"
    );
}

#[test]
fn an_order_needs_its_marker_and_every_name_once() {
    let check = |names: &[&str], want| assert_eq!(ToolOrder::new(names.iter().copied()), Err(want));
    check(&[], ToolOrderError::NoMarker);
    check(&["read"], ToolOrderError::NoMarker);
    check(&["read", UNLISTED_TOOLS, "read"], ToolOrderError::Repeated("read".into()));
    check(&[UNLISTED_TOOLS, UNLISTED_TOOLS], ToolOrderError::Repeated(UNLISTED_TOOLS.into()));
}

#[test]
fn the_marker_is_not_a_tool() {
    let prompt = SystemPrompt::default();
    prompt.tools(None, offer(&["read", UNLISTED_TOOLS])).keep();
    assert!(matches!(prompt.assemble(&everybody()), Err(PromptError::ReservedToolName)));
}

#[test]
fn two_tools_of_one_name_are_refused() {
    let prompt = SystemPrompt::default();
    prompt.tools(None, offer(&["read"])).keep();
    prompt.tools(None, offer(&["glob", "read"])).keep();
    assert_eq!(error(&prompt, &everybody()), "the assembly has more than one tool \"read\"");
}

#[test]
fn an_unchanged_ordered_list_is_handed_on_without_a_copy() {
    let prompt = SystemPrompt::default();
    let (sorted, unsorted) = (schemas(&["glob", "read"]), schemas(&["read", "glob"]));
    let offer = |schemas: &Arc<[_]>| {
        let offered = OfferedTools { schemas: Arc::clone(schemas), known_names: None };
        Arc::new(move |_: &AssembleContext| Ok::<_, ProviderError>(offered.clone())) as Arc<dyn ToolsProvider>
    };
    let held = prompt.tools(None, offer(&sorted));
    assert!(Arc::ptr_eq(&prompt.assemble(&everybody()).unwrap().tools, &sorted));
    drop(held);
    prompt.tools(None, offer(&unsorted)).keep();
    assert_eq!(prompt.assemble(&everybody()).unwrap().tools, sorted);
}

#[test]
fn a_provider_added_during_the_evaluation_joins_the_next_assembly() {
    let prompt = SystemPrompt::default();
    let registry = prompt.clone();
    let adding = move |_: &AssembleContext| {
        registry.tools(Some(&Scope::root()), offer(&["elsewhere"])).keep();
        if registry.version() < 3 {
            registry.tools(None, offer(&["late"])).keep();
        }
        Ok::<_, ProviderError>(OfferedTools { schemas: schemas(&["first"]), known_names: None })
    };
    prompt.tools(None, Arc::new(adding)).keep();
    check(&prompt, &everybody(), &["first"]);
    check(&prompt, &everybody(), &["first", "late"]);
}

#[test]
fn a_failing_provider_is_named_by_its_place() {
    let prompt = SystemPrompt::default();
    prompt.tools(None, offer(&["read"])).keep();
    let failing = |_: &AssembleContext| Err::<OfferedTools, ProviderError>("no transport".into());
    prompt.tools(None, Arc::new(failing)).keep();
    assert_eq!(error(&prompt, &everybody()), "tools provider \"2\" failed: no transport");
}
