//! Views are kept, shared, and never stale.

use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use dsh_scope::Scope;
use dsh_tools_core::{Execution, Guard, Mask, Tools};
use futures_util::poll;

use crate::kit::{Probe, Stage, call, told, tool};

#[test]
fn scopes_that_see_the_same_share_one_view() {
    let tools = Tools::new();
    let _a = tools.register(None, tool("a", Probe::returning("x"))).unwrap();
    let scopes: Vec<_> = (0..10_000).map(|_| Scope::root()).collect();
    let global = tools.view(None);
    assert!(scopes.iter().all(|scope| Arc::ptr_eq(&tools.view(Some(scope)), &global)));

    let own = tools.register(Some(&scopes[0]), tool("own", Probe::returning("x"))).unwrap();
    assert!(!Arc::ptr_eq(&tools.view(Some(&scopes[0])), &tools.view(None)));
    assert!(Arc::ptr_eq(&tools.view(Some(&scopes[1])), &tools.view(None)));
    drop(own);
    assert!(Arc::ptr_eq(&tools.view(Some(&scopes[0])), &tools.view(None)));
}

#[test]
fn a_child_without_a_layer_does_not_simply_see_what_its_parent_sees() {
    let tools = Tools::new();
    let parent = Scope::root();
    let child = parent.child();
    let _kept = [
        tools.register(None, tool("a", Probe::returning("x"))).unwrap(),
        tools.register(Some(&parent), tool("p", Probe::returning("x"))).unwrap(),
        tools.restrict(&parent, Mask { allow: Some([Arc::from("a")].into()), ..Mask::default() }).unwrap(),
    ];
    assert!(tools.view(Some(&parent)).get("p").is_some());
    assert!(tools.view(Some(&child)).get("p").is_none());
}

#[test]
fn whoever_changed_the_registry_sees_it_whatever_others_do_at_once() {
    let tools = Tools::new();
    let shared = Scope::root();
    std::thread::scope(|threads| {
        for thread in 0..4 {
            let (tools, shared) = (&tools, &shared);
            threads.spawn(move || {
                for number in 0..500 {
                    let name = format!("t{thread}-{number}");
                    let layer = (number % 2 == 0).then_some(shared);
                    let kept = tools.register(layer, tool(&name, Probe::returning("x"))).unwrap();
                    assert!(tools.view(Some(shared)).get(&name).is_some(), "{name} is there");
                    drop(kept);
                    assert!(tools.view(Some(shared)).get(&name).is_none(), "{name} is gone");
                }
            });
        }
    });
    assert_eq!(tools.view(Some(&shared)).tools().len(), 0);
}

#[test]
fn what_is_kept_for_scopes_that_are_gone_is_swept() {
    let tools = Tools::new();
    for _ in 0..100_000 {
        tools.view(Some(&Scope::root()));
    }
    // Nothing to see but that this neither grows without bound nor slows down.
    assert_eq!(tools.view(None).tools().len(), 0);
}

#[tokio::test]
async fn a_tool_that_goes_away_before_its_body_starts_is_unknown_and_afterwards_still_renders() {
    use dsh_tools_core::Prepared;
    let stage = Stage::new();
    let first = stage.tools.register(None, tool("t", Probe::returning("first"))).unwrap();
    let Prepared::Ready(ready) = stage.tools.prepare(call("t")).await else { panic!("not ready") };
    drop(first);
    let second = stage.tools.register(None, tool("t", Probe::returning("second"))).unwrap();
    let settled = stage.tools.dispatch(ready).await;
    let result = stage.tools.finish(settled).await.publish();
    assert!(told(&result).starts_with("UNKNOWN_TOOL"), "{}", told(&result));

    let Prepared::Ready(ready) = stage.tools.prepare(call("t")).await else { panic!("not ready") };
    let settled = stage.tools.dispatch(ready).await;
    drop(second);
    assert_eq!(told(&stage.tools.finish(settled).await.publish()), "ok \"second\"");
}

#[tokio::test]
async fn who_waits_hears_of_what_a_view_shows_and_of_nothing_else() {
    let tools = Tools::new();
    let since = tools.version();
    let mut waits = pin!(tools.changed_since(since));
    assert!(poll!(&mut waits).is_pending());
    let guard = tools.guard(None, Arc::new(Nothing));
    assert!(poll!(&mut waits).is_pending(), "guards are no part of views");
    let registered = tools.register(None, tool("one", Probe::returning("one"))).unwrap();
    let Poll::Ready(now) = poll!(&mut waits) else { panic!("a tool came") };
    assert_eq!(now, tools.version());
    // What happened before is told at once, and together.
    let mut later = pin!(tools.changed_since(now));
    assert!(poll!(&mut later).is_pending());
    drop((registered, guard));
    assert_eq!(tools.changed_since(since).await, tools.version());
    assert_eq!(poll!(&mut later), Poll::Ready(tools.version()));
}

struct Nothing;

impl Guard for Nothing {
    fn check(&self, _: &Execution) -> Option<String> {
        None
    }
}
