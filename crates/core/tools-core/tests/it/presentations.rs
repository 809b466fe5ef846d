//! How tools reach a model: natively, or through the transport for programs (spec 01 §4.2–4.5).

use std::sync::Arc;

use dsh_lifecycle::Cause;
use dsh_scope::Scope;
use dsh_tools_core::{
    CallInput, Definition, Mask, Presentation, RUN_CODE, RegisterError, Schema, Tools, Transport, codes,
    object,
};

use crate::kit::{Probe, Stage, agent, call, told, tool};

/// Runs no program; says where to go, and whether it could.
struct Bridge {
    name: &'static str,
    ready: Result<(), &'static str>,
}

const READY: Bridge = Bridge { name: RUN_CODE, ready: Ok(()) };

impl Transport for Bridge {
    fn definition(&self) -> Definition {
        let parameters = Schema::new(&object! { "type": "object" }).unwrap();
        let output = Schema::new(&object! { "type": "string" }).unwrap();
        Definition::raw(self.name, "Runs a program.", parameters, output, Probe::returning("ran")).unwrap()
    }

    fn ready(&self) -> Result<(), String> {
        self.ready.map_err(str::to_owned)
    }

    fn route(&self, tool: &str) -> String {
        assert!(tool != "cursed", "on purpose");
        format!("call `{tool}` in a program for `{RUN_CODE}`")
    }
}

fn names(tools: &Tools, scope: Option<&Scope>) -> Vec<String> {
    let view = tools.view(scope);
    view.tools().map(|tool| tool.name().to_string()).collect()
}

fn offered(tools: &Tools, scope: Option<&Scope>) -> (Vec<String>, Vec<String>) {
    let view = tools.view(scope);
    let offered = view.offered().unwrap();
    let schemas = offered.schemas.iter().map(|schema| schema.name.to_string()).collect();
    (schemas, offered.known.iter().map(ToString::to_string).collect())
}

#[test]
fn each_layer_says_it_once_and_the_nearest_counts() {
    let tools = Tools::new();
    let parent = Scope::root();
    let (child, sibling) = (parent.child(), Scope::root());
    let shown = |scope| tools.view(scope).presentation();
    assert_eq!(shown(None), Presentation::Native);
    let _everybody = tools.present_as(None, Presentation::Code).unwrap();
    let of_parent = tools.present_as(Some(&parent), Presentation::Both).unwrap();
    assert_eq!(
        [shown(None), shown(Some(&sibling)), shown(Some(&parent)), shown(Some(&child))],
        [Presentation::Code, Presentation::Code, Presentation::Both, Presentation::Both]
    );
    let out = tools.present_as(Some(&child), Presentation::Native).unwrap();
    assert_eq!(shown(Some(&child)), Presentation::Native);
    let refused = tools.present_as(Some(&child), Presentation::Code).unwrap_err();
    assert_eq!(refused, RegisterError::Presented { held: Presentation::Native, asked: Presentation::Code });
    drop(out);
    drop(of_parent);
    assert_eq!(shown(Some(&child)), Presentation::Code);
}

#[test]
fn the_transport_is_last_where_it_is_shown_and_no_mask_hides_it() {
    let tools = Tools::new();
    let _a = tools.register(None, tool("a", Probe::returning("a"))).unwrap();
    let _b = tools.register(None, tool("b", Probe::returning("b"))).unwrap();
    let _bridge = tools.mount_transport(Arc::new(READY)).unwrap();
    let scope = Scope::root();
    assert_eq!(names(&tools, Some(&scope)), ["a", "b"]);
    let both = tools.present_as(Some(&scope), Presentation::Both).unwrap();
    let only_a = Mask { allow: Some([Arc::from("a")].into()), ..Mask::default() };
    let _mask = tools.restrict(&scope, only_a).unwrap();
    assert_eq!(names(&tools, Some(&scope)), ["a", RUN_CODE]);
    assert_eq!(
        offered(&tools, Some(&scope)),
        (vec!["a".into(), RUN_CODE.into()], vec!["a".into(), "b".into(), RUN_CODE.into()])
    );
    assert!(!tools.view(Some(&scope)).restrictable().contains(RUN_CODE));
    drop(both);
    let _code = tools.present_as(Some(&scope), Presentation::Code).unwrap();
    assert_eq!(offered(&tools, Some(&scope)), (vec![RUN_CODE.into()], vec![RUN_CODE.into()]));
    assert_eq!(names(&tools, None), ["a", "b"], "others never see it");
}

#[test]
fn there_is_one_transport_of_the_one_name() {
    let tools = Tools::new();
    let other = tools.mount_transport(Arc::new(Bridge { name: "run", ready: Ok(()) })).unwrap_err();
    assert_eq!(other.to_string(), "the tool of a transport must be called `run_code`, not `run`");
    let mounted = tools.mount_transport(Arc::new(READY)).unwrap();
    assert_eq!(tools.mount_transport(Arc::new(READY)).unwrap_err(), RegisterError::TransportTaken);
    drop(mounted);
    let _again = tools.mount_transport(Arc::new(READY)).unwrap();
}

#[test]
fn a_presentation_that_can_not_be_kept_fails_by_name() {
    let tools = Tools::new();
    let _code = tools.present_as(None, Presentation::Code).unwrap();
    let why = || tools.view(None).offered().map(drop).unwrap_err().to_string();
    assert_eq!(
        why(),
        "the tools are presented as `code`, and no program can be run: nothing that runs programs is mounted; mount \
         Code Mode, or present the tools as `native`"
    );
    let broken = Bridge { name: RUN_CODE, ready: Err("there is no engine for `cobol`") };
    let _bridge = tools.mount_transport(Arc::new(broken)).unwrap();
    assert_eq!(
        why(),
        "the tools are presented as `code`, and no program can be run: there is no engine for `cobol`"
    );
}

/// A stage with the tool `t` whose tools are presented in this way.
fn presented(presentation: Presentation) -> Stage {
    let mut stage = Stage::with_tool();
    stage.pre(|_| None);
    stage.guard(None);
    stage.post(|_| Ok(dsh_tools_core::PostDecision::KEEP));
    let bridge = stage.tools.mount_transport(Arc::new(READY)).unwrap();
    stage.keep(bridge);
    let shown = stage.tools.present_as(None, presentation).unwrap();
    stage.keep(shown);
    stage
}

#[tokio::test]
async fn a_collapsed_tool_is_refused_with_its_route_before_anybody_hears_of_it() {
    let stage = presented(Presentation::Code);
    let result = stage.call(call("t")).await;
    assert_eq!(
        told(&result),
        "UNKNOWN_TOOL Error: `t` can't be called directly: call `t` in a program for `run_code`"
    );
    assert_eq!(stage.noted(), [""; 0]);
    let ran = stage.call(call(RUN_CODE)).await;
    assert_eq!(told(&ran), "ok \"ran\"");
    // What is not visible takes the ordinary way, and only what may be called is offered.
    let unknown = stage.call(call("u")).await;
    assert_eq!(told(&unknown), "UNKNOWN_TOOL Error: there is no tool `u`; available: run_code.");
}

#[tokio::test]
async fn a_transport_that_panics_fails_one_call() {
    let mut stage = presented(Presentation::Code);
    let cursed = stage.tools.register(None, tool("cursed", Probe::returning("never"))).unwrap();
    stage.keep(cursed);
    assert_eq!(
        told(&*stage.call(call("cursed")).await),
        "UNKNOWN_TOOL Error: `cursed` can't be called directly: call it in a program for `run_code`"
    );
}

#[tokio::test]
async fn calls_of_a_program_and_other_presentations_are_unaffected() {
    let stage = presented(Presentation::Code);
    let outer = stage.tools.prepare(call(RUN_CODE)).await;
    let dsh_tools_core::Prepared::Ready(outer) = outer else { panic!("settled") };
    let settled = stage.tools.dispatch(outer).await;
    let parent = Some(stage.tools.finish(settled).await.execution().token);
    let nested = |name| CallInput { parent, ..call(name) };
    assert_eq!(told(&*stage.call(nested("t")).await), "ok \"value\"");
    let again = stage.call(nested(RUN_CODE)).await;
    assert!(told(&again).starts_with(codes::UNKNOWN_TOOL), "programs don't call programs: {}", told(&again));
    for presentation in [Presentation::Native, Presentation::Both] {
        assert_eq!(told(&*presented(presentation).call(call("t")).await), "ok \"value\"");
    }
}

#[tokio::test]
async fn the_presentation_of_a_scope_above_is_enforced() {
    let mut stage = Stage::with_tool();
    let scope = Scope::root();
    let shown = stage.tools.present_as(Some(&scope), Presentation::Code).unwrap();
    stage.keep(shown);
    let input = CallInput { agent: Some(agent(&scope.child())), ..call("t") };
    assert_eq!(
        told(&*stage.call(input).await),
        "UNKNOWN_TOOL Error: `t` can't be called directly: no program can be run in this session, so it can't be used"
    );
    assert_eq!(told(&*stage.call(call("t")).await), "ok \"value\"");
}

#[tokio::test]
async fn a_collapsed_call_that_was_aborted_first_says_that() {
    let stage = presented(Presentation::Code);
    let input = call("t");
    input.cancel.cancel(Cause::User);
    assert!(told(&*stage.call(input).await).starts_with(codes::ABORTED_BEFORE_DISPATCH));
}

#[test]
fn a_collapsed_tool_is_not_classified() {
    let stage = presented(Presentation::Code);
    let view = stage.tools.view(None);
    assert!(
        view.get("t").is_some() && view.resolve("t", false).is_none() && view.resolve("t", true).is_some()
    );
}
