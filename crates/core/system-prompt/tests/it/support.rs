//! Short forms for the tests.

use std::sync::Arc;

use dsh_llm::ToolSchema;
use dsh_scope::Scope;
use dsh_system_prompt::{
    AssembleContext, AssembledText, Assembly, OfferedTools, ProviderError, SystemPrompt, ToolsProvider,
};

pub(crate) fn everybody() -> AssembleContext {
    AssembleContext::default()
}

pub(crate) fn within(scope: &Scope) -> AssembleContext {
    AssembleContext { scope: Some(scope.clone()), agent: None }
}

/// `name=text` of everything in a list.
pub(crate) fn shown(texts: &[AssembledText]) -> Vec<String> {
    texts.iter().map(|AssembledText { name, text }| format!("{name}={text}")).collect()
}

pub(crate) fn sections(prompt: &SystemPrompt, cx: &AssembleContext) -> Vec<String> {
    shown(&prompt.assemble(cx).unwrap().sections)
}

pub(crate) fn contexts(prompt: &SystemPrompt, cx: &AssembleContext) -> Vec<String> {
    shown(&prompt.assemble(cx).unwrap().contexts)
}

pub(crate) fn error(prompt: &SystemPrompt, cx: &AssembleContext) -> String {
    prompt.assemble(cx).unwrap_err().to_string()
}

pub(crate) fn schemas(names: &[&str]) -> Arc<[ToolSchema]> {
    let schema = |name: &&str| ToolSchema {
        name: (*name).into(),
        description: "".into(),
        parameters: dsh_json::object! { "type": "object" },
    };
    names.iter().map(schema).collect()
}

pub(crate) fn offer(names: &[&str]) -> Arc<dyn ToolsProvider> {
    offer_knowing(names, None)
}

pub(crate) fn offer_knowing(names: &[&str], known: Option<&[&str]>) -> Arc<dyn ToolsProvider> {
    let known_names = known.map(|known| known.iter().map(|name| Arc::from(*name)).collect());
    let offered = OfferedTools { schemas: schemas(names), known_names };
    Arc::new(move |_: &AssembleContext| Ok::<_, ProviderError>(offered.clone()))
}

pub(crate) fn tool_names(assembly: &Assembly) -> Vec<&str> {
    assembly.tools.iter().map(|tool| &*tool.name).collect()
}
