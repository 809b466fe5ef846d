//! The declarations are rendered once for each set of tools (spec 06 §12).

use std::sync::Arc;

use dsh_code_mode::SdkSection;
use dsh_json_schema::Schema;
use dsh_scope::Scope;
use dsh_system_prompt::AssembleContext;
use dsh_tool_sdk::{Language, Limits, SdkError};
use dsh_tools_core::{Definition, Presentation};

use crate::stage::{Nothing, Stage};

fn section(stage: &Stage) -> SdkSection {
    SdkSection::new(stage.tools.clone(), Language::TypeScript, Limits::default())
}

/// A tool that is not on the stage.
fn late() -> Definition {
    let schema = || Schema::params().build().unwrap();
    Definition::raw("late", "Comes late.", schema(), schema(), Nothing).unwrap()
}

#[test]
fn while_the_tools_stay_the_same_the_text_is_one_allocation() {
    let stage = Stage::new();
    let section = section(&stage);
    let text = section.text(None).unwrap();
    assert!(text.contains("  echo: ") && !text.contains("late"));
    for scope in [None, Some(stage.agent.scope()), Some(&Scope::root())] {
        assert!(Arc::ptr_eq(&text, &section.text(scope).unwrap()));
    }
    let in_prompt = || {
        let assembly = stage.prompt.assemble(&AssembleContext::of(&stage.agent)).unwrap();
        let sdk = assembly.sections.iter().find(|section| &*section.name == "tools:sdk").unwrap();
        Arc::clone(&sdk.text)
    };
    assert!(Arc::ptr_eq(&in_prompt(), &in_prompt()));
}

#[test]
fn a_tool_that_comes_or_goes_is_rendered_anew() {
    let stage = Stage::new();
    let section = section(&stage);
    let before = section.text(None).unwrap();
    let registered = stage.tools.register(None, late()).unwrap();
    let with = section.text(None).unwrap();
    assert!(with.contains("  /** Comes late. */\n  late: "), "{with}");
    assert!(Arc::ptr_eq(&with, &section.text(None).unwrap()));
    drop(registered);
    assert_eq!(section.text(None).unwrap(), before);
    // Another tool of the same name is another tool.
    let replaced = |description: &'static str| {
        let schema = || Schema::params().build().unwrap();
        let tool = Definition::raw("late", description, schema(), schema(), Nothing).unwrap();
        let _registered = stage.tools.register(None, tool).unwrap();
        section.text(None).unwrap()
    };
    assert!(replaced("The first.").contains("The first."));
    assert!(replaced("The second.").contains("The second."));
}

#[test]
fn a_change_that_a_scope_does_not_see_leaves_its_text() {
    let stage = Stage::new();
    let section = section(&stage);
    let (scope, other) = (Scope::root(), Scope::root());
    let text = section.text(Some(&scope)).unwrap();
    let version = stage.tools.version();
    let _own = stage.tools.register(Some(&other), late()).unwrap();
    assert_ne!(stage.tools.version(), version);
    assert!(section.text(Some(&other)).unwrap().contains("Comes late."));
    assert!(Arc::ptr_eq(&text, &section.text(Some(&scope)).unwrap()));
}

#[test]
fn more_sets_of_tools_than_are_kept_are_rendered_each_time_and_right() {
    let stage = Stage::new();
    let section = section(&stage);
    let scopes: Vec<Scope> = (0..20).map(|_| Scope::root()).collect();
    let own = |(number, scope): (usize, &Scope)| {
        let schema = || Schema::params().build().unwrap();
        let tool = Definition::raw(format!("own_{number}"), "", schema(), schema(), Nothing).unwrap();
        stage.tools.register(Some(scope), tool).unwrap()
    };
    let _own: Vec<_> = scopes.iter().enumerate().map(own).collect();
    for _ in 0..2 {
        for (number, scope) in scopes.iter().enumerate() {
            let text = section.text(Some(scope)).unwrap();
            assert!(text.contains(&format!("  own_{number}: ")) && text.matches("  own_").count() == 2);
        }
    }
}

#[test]
fn natively_presented_tools_have_no_text_and_too_many_are_an_error_each_time() {
    let stage = Stage::new();
    let scope = stage.agent.scope();
    let _native = stage.tools.present_as(Some(scope), Presentation::Native).unwrap();
    assert_eq!(&*section(&stage).text(Some(scope)).unwrap(), "");
    let limits = Limits { declarations_bytes: 400, ..Limits::default() };
    let section = SdkSection::new(stage.tools.clone(), Language::TypeScript, limits);
    for _ in 0..2 {
        assert!(matches!(section.text(None), Err(SdkError::TooLarge { limit: 400, .. })));
    }
}
