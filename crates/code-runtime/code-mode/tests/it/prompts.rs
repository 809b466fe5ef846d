//! What the prompt says in each presentation (spec 06 §1).

use std::sync::Arc;

use dsh_system_prompt::{AssembleContext, AssembleListener, Assembly, Next, ProviderError, Section};
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
    let at = |words: &str| told.find(words).unwrap_or_else(|| panic!("no {words:?} in {told}"));
    assert!(at("Call a tool directly for a single step") < at("```ts"));
    let stage = Stage::new();
    let scope = stage.agent.scope().clone();
    let _native = stage.tools.present_as(Some(&scope), Presentation::Native).unwrap();
    let told = prompt(&stage);
    assert!(!told.contains("```ts") && !told.contains("run_code"), "{told}");
}

/// Takes away what Code Mode says.
struct Without;

impl AssembleListener for Without {
    fn name(&self) -> &'static str {
        "without"
    }

    fn assemble(
        &self,
        _: &AssembleContext,
        draft: Assembly,
        next: Next<'_>,
    ) -> Result<Assembly, ProviderError> {
        let mut assembly = next.run(draft)?;
        assembly.sections.retain(|section| !section.name.starts_with("tools:"));
        Ok(assembly)
    }
}

#[test]
fn a_listener_may_take_the_declarations_away_and_a_scope_may_have_its_own() {
    let mut stage = Stage::new();
    let scope = stage.agent.scope().clone();
    let own = stage.prompt.section(Some(&scope), Section::new("tools:sdk", 150, "OWN DECLARATIONS")).unwrap();
    let told = prompt(&stage);
    assert!(told.contains("OWN DECLARATIONS") && !told.contains("```ts"), "{told}");
    let others = stage.prompt.assemble(&AssembleContext::default()).unwrap().render_prompt().unwrap();
    assert!(others.contains("```ts"));
    drop(own);
    stage.keep(|stage| stage.prompt.on_assemble(None, Arc::new(Without)));
    let told = prompt(&stage);
    assert!(!told.contains("```ts") && !told.contains("run_code"), "{told}");
}

/// Runs programs of a language that nobody here writes.
struct Ruby;

#[async_trait::async_trait]
impl dsh_code_runtime::CodeRuntime for Ruby {
    fn language(&self) -> &'static str {
        "ruby"
    }

    fn isolation(&self) -> dsh_code_runtime::Isolation {
        dsh_code_runtime::Isolation::Thread
    }

    async fn run(
        &self,
        _: dsh_code_runtime::Request,
        _: &dyn dsh_code_runtime::Host,
    ) -> Result<dsh_code_runtime::Outcome, dsh_code_runtime::Misuse> {
        Err(dsh_code_runtime::Misuse::Closed)
    }

    async fn close(&self) {}
}

#[tokio::test]
async fn a_runtime_of_another_language_is_refused_by_name() {
    let stage = Stage::over(Arc::new(Ruby));
    let refused = stage.tools.view(None).offered().map(drop).unwrap_err().to_string();
    assert_eq!(
        refused,
        "the tools are presented as `code`, and no program can be run: the code runtime that is mounted runs \"ruby\", \
         and programs are written in \"typescript\" here"
    );
    let scope = stage.agent.scope().clone();
    let _both = stage.tools.present_as(Some(&scope), Presentation::Both).unwrap();
    let refused = stage.tools.view(Some(&scope)).offered().map(drop).unwrap_err().to_string();
    assert!(refused.starts_with("the tools are presented as `both`"), "{refused}");
    assert!(stage.told("").await.starts_with("Error: code run failed (unavailable): "));
}

#[test]
fn everything_goes_with_the_mount() {
    let mut stage = Stage::new();
    drop(std::mem::take(&mut stage.mounted));
    let view = stage.tools.view(Some(stage.agent.scope()));
    assert!(view.get("run_code").is_none() && view.offered().is_err());
    let told = prompt(&stage);
    assert!(!told.contains("```ts") && !told.contains("run_code"), "{told}");
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
