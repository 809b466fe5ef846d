//! Who shadows and hides whom (spec 01 §4.2), and what the schemas show.

use std::sync::Arc;

use dsh_json::{Json, array, object};
use dsh_json_schema::Schema;
use dsh_scope::Scope;
use dsh_tools_core::{CallInput, Definition, Execution, Guard, Mask, Tools};

use crate::kit::{Probe, Stage, agent, call, told, tool};

#[tokio::test]
async fn a_scoped_tool_shadows_a_global_one_in_either_order_and_is_seen_once() {
    for scoped_first in [true, false] {
        let stage = Stage::new();
        let scope = Scope::root();
        let register = |scope, value: &str| stage.tools.register(scope, tool("t", Probe::returning(value)));
        let _kept = if scoped_first {
            [register(Some(&scope), "own"), register(None, "all")]
        } else {
            [register(None, "all"), register(Some(&scope), "own")]
        };
        let shown = |scope| {
            stage.tools.view(scope).schemas().iter().map(|tool| Arc::clone(&tool.name)).collect::<Vec<_>>()
        };
        assert_eq!((shown(None), shown(Some(&scope))), (vec!["t".into()], vec!["t".into()]));
        let own = CallInput { agent: Some(agent(&scope)), ..call("t") };
        assert_eq!(told(&*stage.call(own).await), "ok \"own\"");
        assert_eq!(told(&*stage.call(call("t")).await), "ok \"all\"");
    }
}

#[test]
fn a_childs_mask_hides_what_its_ancestors_scope_brings_and_from_the_child_only() {
    let tools = Tools::new();
    let parent = Scope::root();
    let (child, sibling) = (parent.child(), parent.child());
    let _kept = [
        tools.register(Some(&parent), tool("p", Probe::returning("x"))).unwrap(),
        tools.register(Some(&child), tool("own", Probe::returning("x"))).unwrap(),
    ];
    let mask = Mask { allow: None, deny: [Arc::from("p")].into() };
    let mask = tools.restrict(&child, mask).unwrap();
    let sees = |scope: &Scope| tools.view(Some(scope)).get("p").is_some();
    assert_eq!(
        (sees(&parent), sees(&sibling), sees(&child), sees(&child.child())),
        (true, true, false, false)
    );
    assert!(tools.view(Some(&child)).get("own").is_some());
    drop(mask);
    assert!(sees(&child));
}

#[test]
fn a_very_deep_schema_is_shown_as_it_is() {
    let wrap = |inner: Json, _| object! { "oneOf": array![inner, object! { "type": "null" }] };
    let deep = (0..4_900).fold(object! { "type": "string" }, wrap);
    let parameters = object! { "type": "object", "properties": object! { "a": deep } };
    let schema = Schema::new(&parameters).unwrap();
    let definition = Definition::raw("t", "Deep.", schema.clone(), schema, Probe::returning("x")).unwrap();
    let tools = Tools::new();
    let _kept = tools.register(None, definition).unwrap();
    assert_eq!(tools.view(None).schemas()[0].parameters, parameters);
}

struct Never;

impl Guard for Never {
    fn check(&self, _: &Execution) -> Option<String> {
        Some("never".to_owned())
    }
}

#[tokio::test]
async fn two_equal_guards_are_two_and_count_for_their_scope() {
    let stage = Stage::with_tool();
    let scope = Scope::root();
    let guard: Arc<dyn Guard> = Arc::new(Never);
    let [first, second] = [0, 1].map(|_| stage.tools.guard(Some(&scope), Arc::clone(&guard)));
    let denied = async |scope: &Scope| {
        let input = CallInput { agent: Some(agent(scope)), ..call("t") };
        stage.call(input).await.is_error()
    };
    assert_eq!(
        (denied(&scope).await, denied(&scope.child()).await, denied(&Scope::root()).await),
        (true, true, false)
    );
    drop(first);
    assert!(denied(&scope).await);
    drop(second);
    assert!(!denied(&scope).await);
}

#[test]
fn a_classifier_of_a_raw_tool_gets_the_arguments_as_they_are() {
    let tools = Tools::new();
    let probe = Probe { parallel: |arguments| *arguments == array![1, "a"], ..Probe::returning("x") };
    let _kept = tools.register(None, tool("t", probe)).unwrap();
    assert!(tools.view(None).get("t").unwrap().parallel(&array![1, "a"]));
    assert!(!tools.view(None).get("t").unwrap().parallel(&object! {}));
}
