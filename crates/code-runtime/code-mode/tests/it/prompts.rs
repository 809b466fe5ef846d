//! What the prompt says in each presentation (spec 06 §1).

use dsh_system_prompt::{AssembleContext, Section};
use dsh_tools_core::Presentation;

use crate::stage::Stage;

fn prompt(stage: &Stage) -> String {
    stage.prompt.assemble(&AssembleContext::of(&stage.agent)).unwrap().render_prompt().unwrap()
}

#[test]
fn under_code_the_rule_comes_before_guidance_and_guidance_before_the_declarations() {
    let mut stage = Stage::new();
    stage.keep(|stage| stage.prompt.section(None, Section::new("tool:echo", 100, "GUIDANCE")).unwrap());
    let told = prompt(&stage);
    let at = |words: &str| told.find(words).unwrap_or_else(|| panic!("no {words:?} in {told}"));
    assert!(at("`run_code` is the only tool") < at("GUIDANCE") && at("GUIDANCE") < at("```ts"));
    assert!(told.contains("echo: ") && !told.contains("run_code: "), "{told}");
    assert_eq!(told, prompt(&stage), "the same tools, the same bytes");
}

#[test]
fn under_both_there_are_declarations_and_no_rule_and_under_native_neither() {
    let mut stage = Stage::new();
    let scope = stage.agent.scope().clone();
    stage.keep(|stage| stage.tools.present_as(Some(&scope), Presentation::Both).unwrap());
    let told = prompt(&stage);
    assert!(told.contains("```ts") && !told.contains("is the only tool"));
    let stage = Stage::new();
    let scope = stage.agent.scope().clone();
    let _native = stage.tools.present_as(Some(&scope), Presentation::Native).unwrap();
    assert!(!prompt(&stage).contains("```ts"));
}

#[test]
fn everything_goes_with_the_mount() {
    let mut stage = Stage::new();
    drop(std::mem::take(&mut stage.mounted));
    let view = stage.tools.view(Some(stage.agent.scope()));
    assert!(view.get("run_code").is_none() && view.offered().is_err());
    assert!(!prompt(&stage).contains("```ts"));
}

#[test]
fn the_tool_is_described_in_the_words_of_its_language() {
    use dsh_code_mode::{CodeMode, CodeModeConfig};
    use dsh_tool_sdk::Language;
    let described = Language::ALL.map(|language| {
        let tools = dsh_tools_core::Tools::new();
        let prompt = dsh_system_prompt::SystemPrompt::default();
        let code_mode =
            CodeMode::new(tools.clone(), dsh_lifecycle::Slot::empty(), language, CodeModeConfig::default());
        let _mounted = code_mode.register(&prompt).unwrap();
        let _shown = tools.present_as(None, Presentation::Code).unwrap();
        let tool = tools.definition(None, "run_code").unwrap();
        format!(
            "{}\n{}\n{}",
            tool.description(),
            tool.parameters().json().to_pretty(),
            tool.output().json().to_pretty()
        )
    });
    insta::assert_snapshot!(described.join("\n\n"));
}
