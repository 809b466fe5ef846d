//! Whether anybody is asked.

use std::sync::Arc;

use dsh_approval_policy::{ApprovalPolicy, CONTEXT_NAME};
use dsh_json::Json;
use dsh_system_prompt::{AssembleContext, SystemPrompt};
use dsh_tools_core::{Approval, Tools};
use dsh_user_approval::ApprovalConfig;

use crate::scene::{Does, Person, Scene, approvals};

fn never() -> ApprovalConfig {
    ApprovalConfig { policy: ApprovalPolicy::Never, ..ApprovalConfig::default() }
}

#[test]
fn what_is_no_configuration_is_refused() {
    let read = |text: &str| Json::parse(text).unwrap().read::<ApprovalConfig>();
    assert_eq!(read("{}").unwrap(), ApprovalConfig::default());
    assert_eq!(read(r#"{"policy": "never"}"#).unwrap(), never());
    assert_eq!(read(r#"{"answerMs": 5}"#).unwrap().answer_ms.get(), 5);
    for bad in [r#"{"policy": "always"}"#, r#"{"policy": 1}"#, r#"{"answerMs": 0}"#, r#"{"ask": true}"#] {
        assert!(read(bad).is_err(), "{bad}");
    }
}

#[tokio::test(start_paused = true)]
async fn under_never_nobody_is_asked_whoever_came_first() {
    let scene = Scene { approvals: approvals(never()), ..Scene::new() };
    let person = Person::who(Does::Says(Approval::AllowedOnce));
    let _global = scene.approvals.answer_with(None, Arc::clone(&person) as _);
    assert_eq!(scene.ask().await.unwrap(), Approval::Rejected);
    let _near = scene.approvals.answer_with(Some(scene.agent.scope()), Arc::clone(&person) as _);
    assert_eq!(scene.ask().await.unwrap(), Approval::Rejected);
    assert_eq!(person.asked(), 0);
    insta::assert_snapshot!(scene.log().lines().take(2).collect::<Vec<_>>().join("\n"), @r#"
    approval/asked {"id":"q1","toolName":"bash"}
    approval/decided {"id":"q1","outcome":"rejected","cause":"the policy is `never`"}
    "#);
}

#[tokio::test]
async fn the_policy_of_the_session_wins_both_ways() {
    let scene = Scene { approvals: approvals(never()), ..Scene::new() };
    let _here = scene.approvals.answer_with(None, Person::who(Does::Says(Approval::AllowedOnce)));
    assert_eq!(scene.ask().await.unwrap(), Approval::Rejected);
    for (policy, answer) in [
        (ApprovalPolicy::Ask, Approval::AllowedOnce),
        (ApprovalPolicy::Never, Approval::Rejected),
        (ApprovalPolicy::Ask, Approval::AllowedOnce),
    ] {
        scene.approvals.policies().set(scene.agent.session(), policy, None).unwrap();
        assert_eq!(scene.ask().await.unwrap(), answer);
    }
}

#[test]
fn what_is_mounted_tells_and_answers_until_it_is_dropped() {
    let (tools, prompt) = (Tools::new(), SystemPrompt::default());
    let mounted = approvals(ApprovalConfig::default()).mount(&tools, &prompt).unwrap();
    let contexts = || {
        let assembled = prompt.assemble(&AssembleContext::default()).unwrap().contexts;
        assembled.iter().map(|text| text.name.to_string()).collect::<Vec<_>>()
    };
    assert!(tools.approver().get().is_some() && contexts() == [CONTEXT_NAME]);
    drop(mounted);
    assert!(tools.approver().get().is_none() && contexts().is_empty());
}

#[test]
fn a_second_approver_is_refused() {
    let (tools, prompt) = (Tools::new(), SystemPrompt::default());
    let _first = approvals(ApprovalConfig::default()).mount(&tools, &prompt).unwrap();
    assert!(approvals(ApprovalConfig::default()).mount(&tools, &SystemPrompt::default()).is_err());
}

#[tokio::test(start_paused = true)]
async fn a_switch_to_never_rejects_the_questions_that_are_open() {
    let scene = Scene::new();
    let person = Person::who(Does::Hangs);
    let _here = scene.approvals.answer_with(None, Arc::clone(&person) as _);
    let (first, second, switched) = tokio::join!(scene.ask(), scene.ask(), async {
        tokio::task::yield_now().await;
        scene.approvals.policies().switch(&scene.agent, ApprovalPolicy::Never)
    });
    assert!(switched.unwrap());
    assert_eq!((first.unwrap(), second.unwrap()), (Approval::Rejected, Approval::Rejected));
    assert!(person.seen.lock().iter().all(|question| question.cancel.is_cancelled()), "they are withdrawn");
    assert_eq!(scene.log().matches("the policy is `never`").count(), 2, "{}", scene.log());
}

#[tokio::test]
async fn who_says_never_is_not_asked_again() {
    let scene = Scene::new();
    let person = Person::who(Does::SaysNever);
    let _here = scene.approvals.answer_with(None, Arc::clone(&person) as _);
    for _ in 0..2 {
        assert_eq!(scene.ask().await.unwrap(), Approval::Rejected);
    }
    assert_eq!(person.asked(), 1);
    insta::assert_snapshot!(scene.log(), @r#"
    approval/asked {"id":"q1","toolName":"bash"}
    approval/decided {"id":"q1","outcome":"rejected","by":"person"}
    approval/policy {"policy":"never"}
    approval/asked {"id":"q2","toolName":"bash"}
    approval/decided {"id":"q2","outcome":"rejected","cause":"the policy is `never`"}
    "#);
}
