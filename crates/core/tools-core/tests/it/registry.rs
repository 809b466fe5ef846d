//! Who registers what, and who sees it (spec 01 §4).

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use dsh_scope::Scope;
use dsh_tools_core::{
    CallInput, Definition, DefinitionError, Execution, Guard, Mask, PreDecision, RegisterError, Registration,
    Tools,
};

use crate::kit::{Probe, Stage, agent, call, told, tool};

fn named(name: &str) -> Definition {
    tool(name, Probe::returning(name))
}

fn visible(tools: &Tools, scope: Option<&Scope>) -> String {
    tools.view(scope).tools().map(|tool| &**tool.name()).collect::<Vec<_>>().join(" ")
}

fn names<const N: usize>(names: [&str; N]) -> BTreeSet<Arc<str>> {
    names.into_iter().map(Arc::from).collect()
}

fn allow<const N: usize>(allowed: [&str; N]) -> Mask {
    Mask { allow: Some(names(allowed)), deny: BTreeSet::new() }
}

fn deny<const N: usize>(denied: [&str; N]) -> Mask {
    Mask { allow: None, deny: names(denied) }
}

fn register(tools: &Tools, scope: Option<&Scope>, name: &str) -> Registration {
    tools.register(scope, named(name)).unwrap()
}

#[test]
fn models_are_told_name_description_and_parameters() {
    let tools = Tools::new();
    let _a = register(&tools, None, "a");
    let view = tools.view(None);
    let schema = &view.schemas()[0];
    assert_eq!((&*schema.name, &*schema.description), ("a", "A probe."));
    assert_eq!(schema.parameters.to_text(), r#"{"type":"object"}"#);
}

#[test]
fn a_dropped_registration_takes_exactly_its_row_away() {
    let tools = Tools::new();
    let scope = Scope::root();
    let (a, _b) = (register(&tools, None, "a"), register(&tools, None, "b"));
    let own = register(&tools, Some(&scope), "a");
    assert_eq!(visible(&tools, Some(&scope)), "a b");
    drop(a);
    assert_eq!((visible(&tools, None), visible(&tools, Some(&scope))), ("b".into(), "b a".into()));
    drop(own);
    assert_eq!(visible(&tools, Some(&scope)), "b");
    let _again = register(&tools, None, "a");
    assert_eq!(visible(&tools, None), "b a");
}

#[test]
fn refusals_say_what_to_do() {
    let tools = Tools::new();
    let (scope, parent) = (Scope::root(), Scope::root());
    let child = parent.child();
    let _kept = [
        register(&tools, None, "a"),
        register(&tools, Some(&scope), "own"),
        register(&tools, Some(&parent), "p"),
    ];
    let refused = |result: Result<Registration, RegisterError>| result.map(drop).unwrap_err().to_string();
    assert!(refused(tools.register(None, named("a"))).contains("in that agent's scope"));
    assert!(refused(tools.register(Some(&scope), named("own"))).contains("in this scope"));
    for reserved in [tools.register(None, named("run_code")), tools.register(Some(&scope), named("run_code"))]
    {
        assert!(refused(reserved).contains("reserved"));
    }
    assert!(refused(tools.restrict(&scope, allow(["run_code"]))).contains("reserved"));
    assert!(refused(tools.restrict(&scope, deny(["run_code"]))).contains("reserved"));
    assert!(refused(tools.restrict(&scope, Mask::default())).contains("names no tool"));
    let own = refused(tools.restrict(&scope, deny(["own"])));
    assert_eq!(own, "the mask names unknown tool own; can be restricted here: a");
    let two = refused(tools.restrict(&child, deny(["x", "y"])));
    assert_eq!(two, "the mask names unknown tools x, y; can be restricted here: a, p");
    let none = refused(Tools::new().restrict(&scope, deny(["x"])));
    assert!(none.ends_with("(none)"), "{none}");
}

#[test]
fn a_tool_needs_a_name_an_object_and_a_time_limit_that_can_be_met() {
    assert!(matches!(named("a").with_timeout(Duration::ZERO), Err(DefinitionError::ZeroTimeout { .. })));
    assert_eq!(
        named("a").with_timeout(Duration::from_millis(1)).unwrap().timeout(),
        Some(Duration::from_millis(1))
    );
    let (object, string) = (named("a").parameters().clone(), named("a").output().clone());
    for name in ["", "a b", "a\n", "é", &"x".repeat(65)] {
        let unnamable = Definition::raw(name, "", object.clone(), string.clone(), Probe::returning("x"));
        assert!(matches!(unnamable, Err(DefinitionError::Name { .. })), "{name:?}");
    }
    let scalar = Definition::raw("a", "", string.clone(), string, Probe::returning("x"));
    assert!(matches!(scalar, Err(DefinitionError::NotAnObject { .. })));
}

#[test]
fn masks_intersect_along_the_chain_and_spare_a_scopes_own_tools() {
    let tools = Tools::new();
    let parent = Scope::root();
    let child = parent.child();
    let _kept = [
        register(&tools, None, "a"),
        register(&tools, None, "b"),
        register(&tools, Some(&parent), "p"),
        register(&tools, Some(&child), "c"),
    ];
    let seen = || (visible(&tools, Some(&parent)), visible(&tools, Some(&child)));
    assert_eq!(seen(), ("a b p".into(), "a b p c".into()));
    let parent_mask = tools.restrict(&parent, allow(["a"])).unwrap();
    // The parent's own tool stays visible to it, and its mask hides it from what is below.
    assert_eq!(seen(), ("a p".into(), "a c".into()));
    let child_mask = tools.restrict(&child, deny(["a"])).unwrap();
    assert_eq!(seen(), ("a p".into(), "c".into()));
    drop(parent_mask);
    assert_eq!(seen(), ("a b p".into(), "b p c".into()));
    drop(child_mask);
    assert_eq!(seen(), ("a b p".into(), "a b p c".into()));
}

#[test]
fn a_deny_mask_admits_later_tools_and_an_allow_mask_hides_them() {
    let tools = Tools::new();
    let (denying, allowing) = (Scope::root(), Scope::root());
    let _a = register(&tools, None, "a");
    let _masks =
        [tools.restrict(&denying, deny(["a"])).unwrap(), tools.restrict(&allowing, allow(["a"])).unwrap()];
    let _later = register(&tools, None, "later");
    assert_eq!(visible(&tools, Some(&denying)), "later");
    assert_eq!(visible(&tools, Some(&allowing)), "a");
}

#[tokio::test]
async fn a_scoped_tool_exists_for_its_scope_and_below() {
    let stage = Stage::new();
    let parent = Scope::root();
    let (child, stranger) = (parent.child(), Scope::root());
    let _own = register(&stage.tools, Some(&parent), "own");
    let run = async |scope: Option<&Scope>| {
        let input = CallInput { agent: scope.map(agent), ..call("own") };
        told(&*stage.call(input).await)
    };
    assert_eq!(run(Some(&parent)).await, "ok \"own\"");
    assert_eq!(run(Some(&child)).await, "ok \"own\"");
    assert!(run(Some(&stranger)).await.starts_with("UNKNOWN_TOOL"));
    assert!(run(None).await.starts_with("UNKNOWN_TOOL"));
}

#[tokio::test]
async fn a_scoped_listener_hears_its_scope_and_below_and_no_one_else() {
    struct Deny;
    #[async_trait::async_trait]
    impl dsh_tools_core::Layer<Execution, PreDecision> for Deny {
        async fn call(
            &self,
            _: &Execution,
            _next: dsh_tools_core::Next<'_, Execution, PreDecision>,
        ) -> Result<PreDecision, dsh_tools_core::ToolError> {
            Ok(PreDecision::Deny("no".to_owned()))
        }
    }
    let stage = Stage::with_tool();
    let parent = Scope::root();
    let child = parent.child();
    let run = async |scope: Option<&Scope>| {
        let input = CallInput { agent: scope.map(agent), ..call("t") };
        !stage.call(input).await.is_error()
    };
    let of_child = stage.tools.on_pre_execute(Some(&child), Arc::new(Deny));
    assert_eq!((run(Some(&child)).await, run(Some(&parent)).await, run(None).await), (false, true, true));
    drop(of_child);
    let _of_parent = stage.tools.on_pre_execute(Some(&parent), Arc::new(Deny));
    assert_eq!((run(Some(&child)).await, run(Some(&parent)).await, run(None).await), (false, false, true));
}

#[tokio::test]
async fn a_guard_that_a_guard_adds_is_asked_in_the_same_call() {
    struct Adds {
        tools: Tools,
        kept: parking_lot::Mutex<Option<Registration>>,
    }
    struct Never;
    impl Guard for Never {
        fn check(&self, _: &Execution) -> Option<String> {
            Some("added".to_owned())
        }
    }
    impl Guard for Adds {
        fn check(&self, _: &Execution) -> Option<String> {
            *self.kept.lock() = Some(self.tools.guard(None, Arc::new(Never)));
            None
        }
    }
    let stage = Stage::with_tool();
    let adds = Arc::new(Adds { tools: stage.tools.clone(), kept: parking_lot::Mutex::new(None) });
    let guard = stage.tools.guard(None, Arc::clone(&adds) as _);
    assert_eq!(told(&*stage.call(call("t")).await), "DENIED Error: added");
    drop(guard);
    drop(adds.kept.lock().take());
    assert_eq!(told(&*stage.call(call("t")).await), "ok \"value\"");
}

#[test]
fn only_a_visible_tool_that_says_so_may_overlap() {
    let tools = Tools::new();
    let scope = Scope::root();
    let safe = |name: &str, parallel: fn(&dsh_json::Json) -> bool| {
        tools.register(None, tool(name, Probe { parallel, ..Probe::returning("x") })).unwrap()
    };
    let _kept = [safe("safe", |_| true), safe("unsafe", |_| false), safe("broken", |_| panic!("on purpose"))];
    let parallel = |name: &str| {
        tools.view(Some(&scope)).get(name).is_some_and(|tool| tool.parallel(&dsh_json::Json::Null))
    };
    assert_eq!(["safe", "unsafe", "broken", "nosuch"].map(parallel), [true, false, false, false]);
    let _mask = tools.restrict(&scope, deny(["safe"])).unwrap();
    assert!(!parallel("safe"));
}
