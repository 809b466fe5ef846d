use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dsh_agent::Agent;
use dsh_lifecycle::SteppingClock;
use dsh_scope::Scope;
use dsh_session::{Header, Session, SessionSpec, Vocabulary};
use dsh_system_prompt::{AssembleContext, Context, PromptError, Section, SystemPrompt, Text};

use crate::support::{contexts, error, everybody, sections, within};

#[test]
fn sections_go_by_order_and_then_by_name() {
    let (one, other) = (SystemPrompt::default(), SystemPrompt::default());
    let rows = [("b", 5), ("late", 100), ("a", 5), ("early", -3)];
    for (name, order) in rows {
        one.section(None, Section::new(name, order, name)).unwrap().keep();
    }
    for (name, order) in rows.into_iter().rev() {
        other.section(None, Section::new(name, order, name)).unwrap().keep();
    }
    assert_eq!(sections(&one, &everybody()), ["early=early", "a=a", "b=b", "late=late"]);
    assert_eq!(sections(&other, &everybody()), sections(&one, &everybody()));
}

#[test]
fn a_text_is_made_for_each_assembly() {
    let prompt = SystemPrompt::default();
    let count = AtomicUsize::new(0);
    let text = Text::from_fn(move |_| format!("{}", count.fetch_add(1, Ordering::Relaxed)));
    prompt.section(None, Section::new("n", 0, text)).unwrap().keep();
    assert_eq!(sections(&prompt, &everybody()), ["n=0"]);
    assert_eq!(sections(&prompt, &everybody()), ["n=1"]);
}

#[test]
fn a_provider_gets_the_context_of_the_assembly() {
    let prompt = SystemPrompt::default();
    let text = Text::from_fn(|cx: &AssembleContext| if cx.scope.is_some() { "scoped" } else { "global" });
    prompt.section(None, Section::new("who", 0, text)).unwrap().keep();
    assert_eq!(sections(&prompt, &everybody()), ["who=global"]);
    assert_eq!(sections(&prompt, &within(&Scope::root())), ["who=scoped"]);
}

#[test]
fn the_nearest_entry_of_a_name_wins_and_a_shadowed_one_is_not_asked() {
    let prompt = SystemPrompt::default();
    let parent = Scope::root();
    let child = parent.child();
    let forbidden = || {
        Text::from_fn(|cx: &AssembleContext| {
            assert!(cx.scope.is_none(), "a shadowed provider was asked");
            "all"
        })
    };
    prompt.section(None, Section::new("s", 0, forbidden())).unwrap().keep();
    prompt.context(None, Context::new("c", 0, forbidden())).unwrap().keep();
    prompt.section(Some(&parent), Section::new("s", 0, "parent")).unwrap().keep();
    prompt.context(Some(&parent), Context::new("c", 0, "parent")).unwrap().keep();
    let own = prompt.section(Some(&child), Section::new("s", 7, "child")).unwrap();

    assert_eq!(sections(&prompt, &everybody()), ["s=all"]);
    assert_eq!(sections(&prompt, &within(&parent)), ["s=parent"]);
    assert_eq!(sections(&prompt, &within(&child)), ["s=child"]);
    assert_eq!(contexts(&prompt, &within(&child)), ["c=parent"]);
    drop(own);
    assert_eq!(sections(&prompt, &within(&child)), ["s=parent"]);
}

#[test]
fn an_agent_sees_what_its_scope_sees() {
    let prompt = SystemPrompt::default();
    let spec = SessionSpec {
        header: Header::new("session-1", 0).unwrap(),
        vocabulary: Arc::new(Vocabulary::core()),
        clock: Arc::new(SteppingClock::starting_at(0)),
        sink: None,
    };
    let agent = Agent::new(Scope::root(), Session::create(spec));
    let text = Text::from_fn(|cx: &AssembleContext| {
        cx.agent.as_ref().map_or_else(|| "nobody".into(), |agent| Arc::clone(agent.session().id()))
    });
    prompt.section(Some(agent.scope()), Section::new("who", 0, text)).unwrap().keep();
    assert_eq!(sections(&prompt, &AssembleContext::of(&agent)), ["who=session-1"]);
    // The agent's scope counts also where nobody named one.
    let agent_only = AssembleContext { scope: None, agent: Some(agent.clone()) };
    assert_eq!(sections(&prompt, &agent_only), ["who=session-1"]);
    assert_eq!(sections(&prompt, &within(agent.scope())), ["who=nobody"]);
}

#[test]
fn a_strange_scope_sees_what_is_for_everybody() {
    let prompt = SystemPrompt::default();
    prompt.section(None, Section::new("a", 0, "a")).unwrap().keep();
    prompt.section(Some(&Scope::root()), Section::new("b", 0, "b")).unwrap().keep();
    assert_eq!(sections(&prompt, &within(&Scope::root())), ["a=a"]);
}

#[test]
fn a_name_is_taken_once_per_layer() {
    let prompt = SystemPrompt::default();
    let scope = Scope::root();
    let _all = prompt.section(None, Section::new("s", 0, "first")).unwrap();
    let _own = prompt.section(Some(&scope), Section::new("s", 0, "own")).unwrap();
    let version = prompt.version();

    let for_all = prompt.section(None, Section::new("s", 1, "second")).unwrap_err();
    assert!(matches!(for_all, PromptError::DuplicateForAll { .. }));
    assert_eq!(
        for_all.to_string(),
        "a section \"s\" is registered for everybody already; register yours in an agent's scope to replace it there"
    );
    let in_scope = prompt.section(Some(&scope), Section::new("s", 1, "second")).unwrap_err();
    assert_eq!(in_scope.to_string(), "a section \"s\" is registered in this scope already");
    let unnamed = prompt.context(None, Context::new("", 0, "")).unwrap_err();
    assert_eq!(unnamed.to_string(), "context name \"\" is not allowed: it must not be empty");

    assert_eq!(prompt.version(), version);
    assert_eq!(sections(&prompt, &everybody()), ["s=first"]);
    assert_eq!(sections(&prompt, &within(&scope)), ["s=own"]);
}

#[test]
fn a_dropped_registration_takes_its_entry_away_and_frees_the_name() {
    let prompt = SystemPrompt::default();
    let before = prompt.version();
    let section = prompt.section(None, Section::new("s", 0, "s")).unwrap();
    let context = prompt.context(None, Context::new("c", 0, "c")).unwrap();
    assert_eq!(prompt.version(), before + 2);
    drop((section, context));
    assert_eq!(prompt.version(), before + 4);
    let assembly = prompt.assemble(&everybody()).unwrap();
    assert!(assembly.sections.is_empty() && assembly.contexts.is_empty());
    prompt.section(None, Section::new("s", 0, "again")).unwrap().keep();
    assert_eq!(sections(&prompt, &everybody()), ["s=again"]);
}

#[test]
fn a_registration_may_outlive_the_registry() {
    let prompt = SystemPrompt::default();
    let section = prompt.section(None, Section::new("s", 0, "s")).unwrap();
    drop(prompt);
    drop(section);
}

#[test]
fn what_a_provider_registers_counts_from_the_next_assembly_on() {
    let prompt = SystemPrompt::default();
    let registry = prompt.clone();
    let text = Text::from_fn(move |_| {
        // The second time, the name is taken.
        if let Ok(late) = registry.section(None, Section::new("late", 1, "late")) {
            late.keep();
        }
        "first"
    });
    prompt.section(None, Section::new("first", 0, text)).unwrap().keep();
    assert_eq!(sections(&prompt, &everybody()), ["first=first"]);
    assert_eq!(sections(&prompt, &everybody()), ["first=first", "late=late"]);
}

#[test]
fn a_failure_or_panic_of_a_provider_names_its_entry() {
    let prompt = SystemPrompt::default();
    let scope = Scope::root();
    let failing = Text::try_from_fn(|_| Err::<&str, _>("no runtime is mounted"));
    prompt.section(None, Section::new("tools:sdk", 150, failing)).unwrap().keep();
    let panicking = Text::from_fn(|_| -> &str { panic!("on purpose") });
    prompt.context(Some(&scope), Context::new("sandbox", 0, panicking)).unwrap().keep();
    prompt.section(Some(&scope), Section::new("tools:sdk", 150, "")).unwrap().keep();

    assert_eq!(error(&prompt, &everybody()), "section \"tools:sdk\" failed: no runtime is mounted");
    assert_eq!(error(&prompt, &within(&scope)), "context \"sandbox\" panicked: on purpose");
}

#[test]
fn an_assembly_belongs_to_its_caller() {
    let prompt = SystemPrompt::default();
    prompt.section(None, Section::new("s", 0, "s")).unwrap().keep();
    let mut assembly = prompt.assemble(&everybody()).unwrap();
    assembly.sections.clear();
    assembly.variables.insert("x".into(), None);
    assert_eq!(sections(&prompt, &everybody()), ["s=s"]);
    assert!(prompt.assemble(&everybody()).unwrap().variables.is_empty());
}

#[test]
fn fixed_texts_are_shared_with_the_assembly() {
    let prompt = SystemPrompt::default();
    let text: Arc<str> = "a long text".into();
    prompt.section(None, Section::new("s", 0, Arc::clone(&text))).unwrap().keep();
    let assembly = prompt.assemble(&everybody()).unwrap();
    assert!(Arc::ptr_eq(&assembly.sections[0].text, &text));
}

#[test]
fn a_complete_section_is_the_whole_prompt_for_its_scope() {
    let prompt = SystemPrompt::default();
    let scope = Scope::root();
    prompt.section(None, Section::new("s", 0, "s")).unwrap().keep();
    let whole = prompt.section(Some(&scope), Section::new("whole", 9, "all there is").complete()).unwrap();
    assert_eq!(sections(&prompt, &within(&scope)), ["whole=all there is"]);
    assert_eq!(sections(&prompt, &everybody()), ["s=s"]);
    drop(whole);
    assert_eq!(sections(&prompt, &within(&scope)), ["s=s"]);
}

#[test]
fn two_complete_sections_are_refused_by_name() {
    let prompt = SystemPrompt::default();
    let scope = Scope::root();
    prompt.section(None, Section::new("z", 0, "z").complete()).unwrap().keep();
    prompt.section(Some(&scope), Section::new("a", 0, "a").complete()).unwrap().keep();
    assert_eq!(
        error(&prompt, &within(&scope)),
        "only one section can be the complete prompt, but these are: a, z"
    );
    assert_eq!(sections(&prompt, &everybody()), ["z=z"]);
    // One that is shadowed does not count.
    prompt.section(Some(&scope), Section::new("z", 0, "z")).unwrap().keep();
    assert_eq!(sections(&prompt, &within(&scope)), ["a=a"]);
}

#[test]
fn the_registry_and_what_it_makes_can_be_shared_by_threads() {
    fn shared<T: Send + Sync + 'static>() {}
    shared::<SystemPrompt>();
    shared::<dsh_system_prompt::Assembly>();
    shared::<PromptError>();
}
