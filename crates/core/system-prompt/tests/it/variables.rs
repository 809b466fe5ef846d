use dsh_scope::Scope;
use dsh_system_prompt::{AssembleContext, Context, Section, SystemPrompt};

use crate::support::{error, everybody, within};

#[test]
fn the_nearest_variable_wins_and_a_shadowed_one_is_not_asked() {
    let prompt = SystemPrompt::default();
    let parent = Scope::root();
    let child = parent.child();
    prompt.section(None, Section::new("s", 0, "{{v}}")).unwrap().keep();
    let all = |cx: &AssembleContext| {
        assert!(cx.scope.is_none(), "a shadowed provider was asked");
        Some("all".into())
    };
    prompt.variable(None, "v", all).unwrap().keep();
    let own = prompt.variable(Some(&parent), "v", |_| Some("parent".into())).unwrap();

    let rendered = |cx: &AssembleContext| prompt.assemble(cx).unwrap().render_prompt().unwrap();
    assert_eq!(rendered(&everybody()), "all");
    assert_eq!(rendered(&within(&parent)), "parent");
    assert_eq!(rendered(&within(&child)), "parent");
    drop(own);
    assert_eq!(error(&prompt, &within(&child)), "variable \"v\" panicked: a shadowed provider was asked");
}

#[test]
fn variables_registered_by_an_earlier_one_of_the_layer_count_already() {
    let prompt = SystemPrompt::default();
    let registry = prompt.clone();
    let first = move |_: &AssembleContext| {
        if let Ok(late) = registry.variable(None, "late", |_| Some("late".into())) {
            late.keep();
        }
        None
    };
    prompt.variable(None, "first", first).unwrap().keep();
    let variables = prompt.assemble(&everybody()).unwrap().variables;
    let want = [("first".into(), None), ("late".into(), Some("late".into()))];
    assert_eq!(variables.into_iter().collect::<Vec<_>>(), want);
}

#[test]
fn a_variable_needs_a_plain_name_that_is_free_in_its_layer() {
    let prompt = SystemPrompt::default();
    for name in ["", "A", "1a", "_a", "a-b", "a b", "é"] {
        let refused = prompt.variable(None, name, |_| None).unwrap_err();
        let want = format!(
            "variable name \"{name}\" is not allowed: \
             use a lower-case letter, then lower-case letters, digits and underscores"
        );
        assert_eq!(refused.to_string(), want);
    }
    let _held = prompt.variable(None, "a_1", |_| None).unwrap();
    assert!(prompt.variable(None, "a_1", |_| None).is_err());
    assert!(prompt.variable(Some(&Scope::root()), "a_1", |_| None).is_ok());
}

#[test]
fn a_text_that_can_not_be_filled_in_names_its_entry() {
    let prompt = SystemPrompt::default();
    prompt.section(None, Section::new("role", 0, "You run {{model}}.")).unwrap().keep();
    prompt.context(None, Context::new("state", 0, "at {{ cwd }}")).unwrap().keep();
    prompt.variable(None, "model", |_| None).unwrap().keep();
    let assembly = prompt.assemble(&everybody()).unwrap();
    assert_eq!(
        assembly.render_prompt().unwrap_err().to_string(),
        "section \"role\": variable \"model\" at byte 8 has no value here"
    );
    assert_eq!(
        assembly.render_contexts().unwrap_err().to_string(),
        "context \"state\": \"{{ cwd }}\" at byte 3 is not a variable; write {{name}} without spaces"
    );
}

#[test]
fn empty_texts_leave_no_trace() {
    let prompt = SystemPrompt::default();
    for (name, order, text) in [("a", 1, "one"), ("b", 2, ""), ("c", 3, "{{nothing}}"), ("d", 4, "two")] {
        prompt.section(None, Section::new(name, order, text)).unwrap().keep();
    }
    prompt.variable(None, "nothing", |_| Some("".into())).unwrap().keep();
    assert_eq!(prompt.assemble(&everybody()).unwrap().render_prompt().unwrap(), "one\n\ntwo");
    assert_eq!(SystemPrompt::default().assemble(&everybody()).unwrap().render_prompt().unwrap(), "");
}
