//! Whether anybody is asked.

use std::sync::Arc;

use dsh_agent::Target;
use dsh_llm::{Source, plain_text};
use dsh_session::Session;
use dsh_system_prompt::{AssembleContext, SystemPrompt};
use dsh_tools_core::{Approval, Tools};
use dsh_user_approval::{ApprovalConfig, ApprovalPolicy, PolicySource, standing_rule};

use crate::scene::{Does, Person, Scene, agent, approvals, begin, spec};

fn never() -> ApprovalConfig {
    ApprovalConfig { policy: ApprovalPolicy::Never, ..ApprovalConfig::default() }
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
async fn the_last_word_of_the_log_wins_both_ways() {
    let scene = Scene { approvals: approvals(never()), ..Scene::new() };
    let _here = scene.approvals.answer_with(None, Person::who(Does::Says(Approval::AllowedOnce)));
    let session = scene.agent.session();
    assert_eq!(
        (scene.approvals.policy(session), scene.approvals.policy_of(session)),
        (ApprovalPolicy::Never, None)
    );
    for (policy, answer) in [
        (ApprovalPolicy::Ask, Approval::AllowedOnce),
        (ApprovalPolicy::Never, Approval::Rejected),
        (ApprovalPolicy::Ask, Approval::AllowedOnce),
    ] {
        scene.approvals.set_session_policy(session, policy, None).unwrap();
        assert_eq!(scene.approvals.policy_of(session), Some(policy));
        assert_eq!(scene.ask().await.unwrap(), answer);
    }
}

#[test]
fn a_setter_appends_exactly_one_event_and_a_resumed_session_keeps_its_policy() {
    let scene = Scene::new();
    for _ in 0..2 {
        scene
            .approvals
            .set_session_policy(scene.agent.session(), ApprovalPolicy::Never, Some(PolicySource::Delegation))
            .unwrap();
    }
    insta::assert_snapshot!(scene.log(), @r#"
    approval/policy {"policy":"never","source":"delegation"}
    approval/policy {"policy":"never","source":"delegation"}
    "#);
    let events =
        scene.agent.session().events().iter().map(|event| dsh_session::Event::clone(event)).collect();
    let resumed = Session::resume(spec("s", None), events).unwrap();
    assert_eq!(approvals(ApprovalConfig::default()).policy(&resumed), ApprovalPolicy::Never);
}

#[test]
fn a_live_switch_is_one_event_and_one_notice_and_none_again() {
    let scene = Scene::new();
    assert!(!scene.approvals.switch(&scene.agent, ApprovalPolicy::Ask).unwrap(), "it holds already");
    assert!(scene.log().is_empty());
    assert!(scene.approvals.switch(&scene.agent, ApprovalPolicy::Never).unwrap());
    assert!(!scene.approvals.switch(&scene.agent, ApprovalPolicy::Never).unwrap());
    assert_eq!(scene.log().lines().count(), 1);
    let waiting = scene.agent.inbox().messages(Target::NextStep);
    let [notice] = &*waiting else { panic!("{waiting:?}") };
    assert_eq!(notice.source, Source::plugin_form("user-approval", "notice"));
    insta::assert_snapshot!(plain_text(&notice.content), @"The user changed the approval policy from ask to never. Approval: never. Nobody is asked: a call that needs approval is refused at once. Do not ask for more by `sandbox_permissions`.");
}

#[test]
fn models_are_told_the_policy_that_holds() {
    let (tools, prompt) = (Tools::new(), SystemPrompt::default());
    let scene = Scene::new();
    let mounted = scene.approvals.mount(&tools, &prompt).unwrap();
    let told = |agent: Option<&dsh_agent::Agent>| {
        let cx = AssembleContext { agent: agent.cloned(), ..AssembleContext::default() };
        let assembled = prompt.assemble(&cx).unwrap().contexts;
        assembled.iter().map(|text| (text.name.to_string(), text.text.to_string())).collect::<Vec<_>>()
    };
    let rule = |policy| vec![("approval:policy".to_owned(), standing_rule(policy).to_owned())];
    assert_eq!(told(Some(&scene.agent)), rule(ApprovalPolicy::Ask));
    assert_eq!(told(Some(&scene.agent)), rule(ApprovalPolicy::Ask), "it stays the same");
    scene.approvals.set_session_policy(scene.agent.session(), ApprovalPolicy::Never, None).unwrap();
    assert_eq!(told(Some(&scene.agent)), rule(ApprovalPolicy::Never));
    assert!(told(None).iter().all(|(_, text)| text.is_empty()));
    drop(mounted);
    assert_eq!(told(Some(&scene.agent)), []);
    assert!(tools.approver().get().is_none());
}

#[test]
fn a_second_approver_is_refused() {
    let (tools, prompt) = (Tools::new(), SystemPrompt::default());
    let _first = approvals(ApprovalConfig::default()).mount(&tools, &prompt).unwrap();
    assert!(approvals(ApprovalConfig::default()).mount(&tools, &SystemPrompt::default()).is_err());
}

#[test]
fn the_default_can_be_changed_and_reaches_only_those_who_say_nothing() {
    let scene = Scene::new();
    let other = agent(dsh_scope::Scope::root(), Session::create(spec("b", None)));
    begin(other.session());
    scene.approvals.set_session_policy(other.session(), ApprovalPolicy::Ask, None).unwrap();
    assert_eq!(scene.approvals.set_default_policy(ApprovalPolicy::Never), ApprovalPolicy::Ask);
    assert_eq!(scene.approvals.policy(scene.agent.session()), ApprovalPolicy::Never);
    assert_eq!(scene.approvals.policy(other.session()), ApprovalPolicy::Ask);
}

#[tokio::test(start_paused = true)]
async fn a_switch_to_never_rejects_the_questions_that_are_open() {
    let scene = Scene::new();
    let person = Person::who(Does::Hangs);
    let _here = scene.approvals.answer_with(None, Arc::clone(&person) as _);
    let (first, second, switched) = tokio::join!(scene.ask(), scene.ask(), async {
        tokio::task::yield_now().await;
        scene.approvals.switch(&scene.agent, ApprovalPolicy::Never)
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
