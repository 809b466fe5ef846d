use std::sync::Arc;

use dsh_scope::Scope;
use dsh_system_prompt::{
    AssembleContext, AssembleListener, AssembledText, Assembly, Context, Next, ProviderError, Section,
    SystemPrompt,
};

use crate::support::{contexts, error, everybody, offer, schemas, sections, tool_names, within};

/// A listener from a closure.
struct Listener<F>(&'static str, F);

impl<F> AssembleListener for Listener<F>
where
    F: Fn(&AssembleContext, Assembly, Next<'_>) -> Result<Assembly, ProviderError> + Send + Sync,
{
    fn name(&self) -> &str {
        self.0
    }

    fn assemble(
        &self,
        cx: &AssembleContext,
        draft: Assembly,
        next: Next<'_>,
    ) -> Result<Assembly, ProviderError> {
        (self.1)(cx, draft, next)
    }
}

fn listener<F>(name: &'static str, run: F) -> Arc<dyn AssembleListener>
where
    F: Fn(&AssembleContext, Assembly, Next<'_>) -> Result<Assembly, ProviderError> + Send + Sync + 'static,
{
    Arc::new(Listener(name, run))
}

fn named(name: &str) -> AssembledText {
    AssembledText { name: name.into(), text: name.into() }
}

/// Adds a section on the way in and one on the way out.
fn around(name: &'static str) -> Arc<dyn AssembleListener> {
    listener(name, move |_, mut draft, next| {
        draft.sections.push(named(&format!("{name}-in")));
        let mut assembly = next.run(draft)?;
        assembly.sections.push(named(&format!("{name}-out")));
        Ok(assembly)
    })
}

#[test]
fn the_first_listener_is_the_outermost_whatever_its_layer() {
    let prompt = SystemPrompt::default();
    let scope = Scope::root();
    prompt.on_assemble(Some(&scope), around("a")).keep();
    prompt.on_assemble(None, around("b")).keep();
    let names: Vec<_> = sections(&prompt, &within(&scope.child()));
    assert_eq!(names, ["a-in=a-in", "b-in=b-in", "b-out=b-out", "a-out=a-out"]);
    assert_eq!(sections(&prompt, &everybody()), ["b-in=b-in", "b-out=b-out"]);
}

#[test]
fn a_listener_may_answer_without_the_rest() {
    let prompt = SystemPrompt::default();
    prompt.section(None, Section::new("s", 0, "s")).unwrap().keep();
    prompt.on_assemble(None, listener("short", |_, _, _| Ok(Assembly::default()))).keep();
    let unreachable = prompt.on_assemble(None, listener("never", |_, _, _| panic!("not reached")));
    assert!(sections(&prompt, &everybody()).is_empty());
    drop(unreachable);
}

#[test]
fn a_listener_gets_the_context_of_the_assembly() {
    let prompt = SystemPrompt::default();
    let scope = Scope::root();
    let id = scope.id();
    let checking = listener("checking", move |cx, draft, next| {
        assert_eq!(cx.scope.as_ref().map(Scope::id), Some(id));
        Ok(next.run(draft)?)
    });
    prompt.on_assemble(Some(&scope), checking).keep();
    assert!(prompt.assemble(&within(&scope)).is_ok());
}

#[test]
fn tools_that_a_listener_adds_stay_where_it_put_them() {
    let prompt = SystemPrompt::default();
    prompt.tools(None, offer(&["read", "glob"])).keep();
    let adding = listener("adding", |_, mut draft, next| {
        draft.tools = draft.tools.iter().chain(schemas(&["a_late_one"]).iter()).cloned().collect();
        Ok(next.run(draft)?)
    });
    prompt.on_assemble(None, adding).keep();
    assert_eq!(tool_names(&prompt.assemble(&everybody()).unwrap()), ["glob", "read", "a_late_one"]);
}

#[test]
fn a_complete_section_survives_the_listeners_with_its_own_text() {
    let prompt = SystemPrompt::default();
    prompt.section(None, Section::new("whole", 0, "as registered").complete()).unwrap().keep();
    let rewriting = listener("rewriting", |_, mut draft, next| {
        draft.sections = vec![named("other")];
        Ok(next.run(draft)?)
    });
    prompt.on_assemble(None, rewriting).keep();
    assert_eq!(sections(&prompt, &everybody()), ["whole=as registered"]);
}

#[test]
fn suppressed_contexts_stay_away_whatever_a_listener_adds() {
    let prompt = SystemPrompt::default();
    let scope = Scope::root();
    let adding = listener("adding", |_, mut draft, next| {
        draft.contexts.push(named("late"));
        Ok(next.run(draft)?)
    });
    prompt.on_assemble(None, adding).keep();
    prompt.context(None, Context::new("c", 0, "c")).unwrap().keep();
    let (first, second) = (prompt.suppress_contexts(Some(&scope)), prompt.suppress_contexts(Some(&scope)));
    assert!(contexts(&prompt, &within(&scope.child())).is_empty());
    assert_eq!(contexts(&prompt, &everybody()), ["c=c", "late=late"]);
    drop(first);
    assert!(contexts(&prompt, &within(&scope)).is_empty());
    drop(second);
    assert_eq!(contexts(&prompt, &within(&scope)), ["c=c", "late=late"]);
}

#[test]
fn a_failure_names_the_listener_that_it_came_from() {
    let prompt = SystemPrompt::default();
    let passing = listener("outer", |_, draft, next| Ok(next.run(draft)?));
    prompt.on_assemble(None, passing).keep();
    let failing = prompt.on_assemble(None, listener("inner", |_, _, _| Err("no".into())));
    assert_eq!(error(&prompt, &everybody()), "listener \"inner\" failed: no");
    drop(failing);
    prompt.on_assemble(None, listener("inner", |_, _, _| panic!("on purpose"))).keep();
    assert_eq!(error(&prompt, &everybody()), "listener \"inner\" panicked: on purpose");
}

#[test]
fn what_the_listeners_return_is_checked() {
    let check = |change: fn(&mut Assembly), want: &str| {
        let prompt = SystemPrompt::default();
        let changing = listener("changing", move |_, mut draft, next| {
            change(&mut draft);
            Ok(next.run(draft)?)
        });
        prompt.on_assemble(None, changing).keep();
        assert_eq!(error(&prompt, &everybody()), want);
    };
    check(|draft| draft.sections.push(named("")), "section name \"\" is not allowed: it must not be empty");
    check(|draft| draft.contexts.push(named("")), "context name \"\" is not allowed: it must not be empty");
    check(|draft| draft.tools = schemas(&[""]), "tool name \"\" is not allowed: it must not be empty");
    check(
        |draft| draft.sections = vec![named("a"), named("b"), named("a")],
        "the assembly has more than one section \"a\"",
    );
    check(
        |draft| draft.contexts = vec![named("a"), named("a")],
        "the assembly has more than one context \"a\"",
    );
    check(|draft| draft.tools = schemas(&["a", "a"]), "the assembly has more than one tool \"a\"");
    check(
        |draft| drop(draft.variables.insert("A".into(), None)),
        "variable name \"A\" is not allowed: use a lower-case letter, then lower-case letters, digits and underscores",
    );
}
