//! A person is asked, or nobody is there.

use std::sync::Arc;

use dsh_tools_core::{Approval, CallInput, PreDecision, codes, object};

use crate::scene::{Person, Says, Scene, without_the_rest};

const ASK: &str = r#"{"ask": ["ba*"]}"#;
const GRANTS: Option<Person> = Some(Person::Says(Approval::AllowedOnce));
const BY_RULE: &str = "asked: bash (by the rule [permission-rules] ask = \"ba*\")";

#[tokio::test]
async fn a_call_runs_once_it_is_granted_and_each_call_is_asked_about() {
    let scene = Scene::new(ASK, GRANTS);
    for _ in 0..2 {
        assert_eq!(scene.call("bash").await, "done");
        assert_eq!(scene.noted(), [BY_RULE, "bash ran"]);
    }
    assert_eq!(scene.call("read").await, "done");
    assert_eq!(scene.noted(), ["read ran"]);
}

#[tokio::test]
async fn each_way_not_to_be_granted_runs_nothing() {
    for (person, code) in [
        (None, codes::APPROVAL_UNSUPPORTED),
        (Some(Person::Says(Approval::Rejected)), codes::APPROVAL_REJECTED),
        (Some(Person::Says(Approval::Cancelled)), codes::APPROVAL_CANCELLED),
        (Some(Person::Says(Approval::Unavailable)), codes::APPROVAL_UNAVAILABLE),
        (Some(Person::Fails), "-"),
        (Some(Person::Panics), codes::PANICKED),
    ] {
        let scene = Scene::new(ASK, person);
        for told in [scene.call("bash").await, scene.nested("bash").await] {
            assert!(told.starts_with(code), "{code}: {told}");
        }
        assert!(!scene.noted().contains(&"bash ran".to_owned()), "{code}");
    }
}

#[tokio::test]
async fn a_call_of_no_agent_has_nobody_to_ask() {
    let scene = Scene::new(ASK, GRANTS);
    let result = scene.tools.execute(CallInput::new("c", "bash", object! {})).await;
    assert_eq!(result.error().unwrap().info.as_ref().unwrap().code, codes::APPROVAL_NO_AGENT);
    assert!(scene.noted().is_empty());
}

#[tokio::test]
async fn what_listeners_inside_say_stays_or_is_asked_about_too() {
    let ask = |why: &str| PreDecision::Ask(Some(why.into()));
    let by_rule = || vec![BY_RULE.to_owned()];
    for (inner, told, asked) in [
        (PreDecision::Allow, "done", by_rule()),
        (PreDecision::Ask(None), "done", by_rule()),
        (
            ask("it writes"),
            "done",
            vec!["asked: bash (by the rule [permission-rules] ask = \"ba*\"\nit writes)".to_owned()],
        ),
        (PreDecision::Deny("not today".into()), "DENIED Error: not today", vec![]),
    ] {
        for asks_the_rest in [true, false] {
            let mut scene = Scene::new(ASK, GRANTS);
            let says = Says { decision: inner.clone(), asks_the_rest };
            scene.keep(scene.tools.on_pre_execute(None, Arc::new(says)));
            assert_eq!(scene.call("bash").await, told);
            let mut expected = asked.clone();
            expected.extend((told == "done").then(|| "bash ran".to_owned()));
            assert_eq!(scene.noted(), expected);
        }
    }
}

#[tokio::test]
async fn a_listener_outside_can_not_let_a_call_through_that_nobody_was_asked_about() {
    let scene = Scene::behind(ASK, GRANTS, PreDecision::Allow);
    for told in [scene.call("bash").await, scene.nested("bash").await] {
        assert!(
            told.starts_with("DENIED Error: `bash` needs a person's approval")
                && told.contains("nobody was asked"),
            "{told}"
        );
    }
    assert!(scene.noted().is_empty());
    assert_eq!(scene.call("read").await, "done");
}

#[tokio::test]
async fn a_question_of_a_listener_outside_counts_and_so_does_its_denial() {
    let scene = Scene::behind(ASK, GRANTS, PreDecision::Ask(Some("I want to know".into())));
    assert_eq!(scene.call("bash").await, "done");
    assert_eq!(scene.noted(), ["asked: bash (I want to know)", "bash ran"]);
    let scene = Scene::behind(ASK, GRANTS, PreDecision::Deny("no".into()));
    assert_eq!(scene.call("bash").await, "DENIED Error: no");
    assert!(scene.noted().is_empty());
}

#[tokio::test]
async fn a_listener_of_the_agents_scope_is_no_way_around() {
    for decision in [PreDecision::Allow, PreDecision::Ask(None)] {
        let mut scene = Scene::new(ASK, Some(Person::Says(Approval::Rejected)));
        let scope = scene.agent.scope().clone();
        scene.keep(scene.tools.on_pre_execute(Some(&scope), without_the_rest(decision)));
        let told = scene.call("bash").await;
        assert!(told.starts_with("APPROVAL_REJECTED"), "{told}");
        assert!(!scene.noted().contains(&"bash ran".to_owned()));
    }
}

#[tokio::test]
async fn a_tool_that_asks_by_itself_still_does() {
    for (config, asked) in [
        (r#"{"allow": ["own"], "deny": ["bash"]}"#, "asked: own (it says so itself)"),
        (
            r#"{"ask": ["own"]}"#,
            "asked: own (by the rule [permission-rules] ask = \"own\"\nit says so itself)",
        ),
    ] {
        let scene = Scene::new(config, GRANTS);
        assert_eq!(scene.call("own").await, "done");
        assert_eq!(scene.noted(), [asked, "own ran"]);
    }
    // Where a listener lets it through, the tool's own question is the one that is put.
    let scene = Scene::behind(r#"{"ask": ["own"]}"#, GRANTS, PreDecision::Allow);
    assert_eq!(scene.call("own").await, "done");
    assert_eq!(scene.noted(), ["asked: own (it says so itself)", "own ran"]);
}

#[tokio::test]
async fn a_call_of_a_program_is_asked_about_by_itself() {
    let scene = Scene::new(r#"{"ask": ["bash", "program"]}"#, GRANTS);
    assert_eq!(scene.nested("bash").await, "done");
    let by = |tool| format!("asked: {tool} (by the rule [permission-rules] ask = \"{tool}\")");
    assert_eq!(scene.noted(), [by("program"), by("bash"), "bash ran".to_owned()]);
}

#[tokio::test]
async fn nobody_is_asked_about_a_tool_that_is_not_there() {
    let scene = Scene::new(r#"{"otherwise": "ask"}"#, GRANTS);
    assert!(scene.call("bsh").await.starts_with("DENIED Error: there is no tool `bsh` here"));
    assert!(scene.noted().is_empty());
}
