use dsh_json::Json;
use dsh_system_prompt::{HARNESS_IDENTITY, PERSONA, PromptConfig, Section, SystemPrompt};

use crate::support::{contexts, everybody};

fn parsed(text: &str) -> Result<PromptConfig, String> {
    Json::parse(text).and_then(|json| json.read()).map_err(|error| error.to_string())
}

#[test]
fn the_identity_is_the_head_of_the_prompt() {
    let prompt = SystemPrompt::with_config(PromptConfig::default()).unwrap();
    let assembly = prompt.assemble(&everybody()).unwrap();
    let names: Vec<_> = assembly.sections.iter().map(|section| &*section.name).collect();
    assert_eq!(names, [HARNESS_IDENTITY, PERSONA]);
    insta::assert_snapshot!(assembly.render_prompt().unwrap(), @"You are an agent at work in dsh, a program that runs tools for you on the user's machine. You see and change things only through the tools of this conversation.");
}

#[test]
fn a_persona_comes_after_the_identity_and_may_use_variables() {
    let config = PromptConfig { persona: "You review {{what}}.".into(), ..PromptConfig::default() };
    let prompt = SystemPrompt::with_config(config).unwrap();
    prompt.variable(None, "what", |_| Some("patches".into())).unwrap().keep();
    let text = prompt.assemble(&everybody()).unwrap().render_prompt().unwrap();
    assert!(text.ends_with("\n\nYou review patches."), "{text}");
}

#[test]
fn the_identity_can_be_left_out() {
    let config = PromptConfig { include_harness_identity: false, ..PromptConfig::default() };
    let prompt = SystemPrompt::with_config(config).unwrap();
    assert_eq!(prompt.assemble(&everybody()).unwrap().render_prompt().unwrap(), "");
}

#[test]
fn built_in_names_are_taken_and_survive_the_others() {
    let prompt = SystemPrompt::with_config(PromptConfig::default()).unwrap();
    for name in [HARNESS_IDENTITY, PERSONA] {
        assert!(prompt.section(None, Section::new(name, 0, "mine")).is_err());
    }
    drop(prompt.section(None, Section::new("other", 0, "")).unwrap());
    assert_eq!(prompt.assemble(&everybody()).unwrap().sections.len(), 2);
}

#[test]
fn a_second_configuration_is_refused_without_residue() {
    let prompt = SystemPrompt::default();
    let no_identity = PromptConfig { include_harness_identity: false, ..PromptConfig::default() };
    let built_in = prompt.configure(no_identity).unwrap();
    assert!(prompt.configure(PromptConfig::default()).is_err());
    assert_eq!(prompt.assemble(&everybody()).unwrap().sections.len(), 1);
    drop(built_in);
    assert!(prompt.assemble(&everybody()).unwrap().sections.is_empty());
    let order = parsed(r#"{"toolOrder": ["<unlisted-tools>"]}"#).unwrap();
    drop(prompt.configure(order.clone()).unwrap());
    prompt.configure(order).unwrap().keep();
}

#[test]
fn without_runtime_context_no_context_is_asked() {
    let config = PromptConfig { include_runtime_context: false, ..PromptConfig::default() };
    let prompt = SystemPrompt::with_config(config).unwrap();
    let text = dsh_system_prompt::Text::from_fn(|_| -> &str { panic!("asked") });
    prompt.context(None, dsh_system_prompt::Context::new("c", 0, text)).unwrap().keep();
    assert!(contexts(&prompt, &everybody()).is_empty());
}

#[test]
fn a_configuration_is_read_strictly() {
    assert_eq!(parsed("{}"), Ok(PromptConfig::default()));
    let full = parsed(
        r#"{"includeHarnessIdentity": false, "includeRuntimeContext": false, "persona": "p",
            "toolOrder": ["read", "<unlisted-tools>"]}"#,
    );
    assert!(full.is_ok_and(|config| !config.include_harness_identity && config.tool_order.is_some()));
    let check = |text: &str, want: &str| {
        let got = parsed(text).unwrap_err();
        assert!(got.contains(want), "{got}");
    };
    check(r#"{"personna": ""}"#, "unknown field `personna`");
    check(r#"{"persona": 1}"#, "expected a string");
    check(r#"{"toolOrder": []}"#, "the tool order needs \"<unlisted-tools>\" once");
    check(r#"{"toolOrder": ["a", "a", "<unlisted-tools>"]}"#, "the tool order has \"a\" more than once");
}
