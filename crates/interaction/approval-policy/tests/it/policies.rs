//! What holds, and how it is set.

use std::task::Poll;

use dsh_approval_policy::{ApprovalPolicy, PolicySource};
use dsh_session::{Event, Session};

use crate::scene::{agent, log, policies, spec};

#[test]
fn the_last_word_of_the_log_wins_over_the_default_both_ways() {
    for default in [ApprovalPolicy::Ask, ApprovalPolicy::Never] {
        let (policies, agent) = (policies(default), agent("s"));
        let session = agent.session();
        assert_eq!((policies.of(session), policies.said(session)), (default, None));
        for policy in [ApprovalPolicy::Never, ApprovalPolicy::Ask, ApprovalPolicy::Never] {
            policies.set(session, policy, None).unwrap();
            let (seq, said) = policies.said(session).unwrap();
            assert_eq!((policies.of(session), said.policy), (policy, policy));
            assert_eq!(seq, session.events().last().unwrap().seq);
        }
    }
}

#[test]
fn a_setter_appends_exactly_one_event_and_a_resumed_session_keeps_its_policy() {
    let (policies_before, agent) = (policies(ApprovalPolicy::Ask), agent("s"));
    for _ in 0..2 {
        policies_before.set(agent.session(), ApprovalPolicy::Never, Some(PolicySource::Delegation)).unwrap();
    }
    insta::assert_snapshot!(log(agent.session()), @r#"
    approval/policy {"policy":"never","source":"delegation"}
    approval/policy {"policy":"never","source":"delegation"}
    "#);
    let events = agent.session().events().iter().map(|event| Event::clone(event)).collect();
    let resumed = Session::resume(spec("s"), events).unwrap();
    assert_eq!(policies(ApprovalPolicy::Ask).of(&resumed), ApprovalPolicy::Never);
}

#[test]
fn an_unknown_policy_is_refused_on_reload() {
    let agent = agent("s");
    policies(ApprovalPolicy::Ask).set(agent.session(), ApprovalPolicy::Never, None).unwrap();
    let mut events: Vec<_> = agent.session().events().iter().map(|event| Event::clone(event)).collect();
    events.last_mut().unwrap().data = dsh_json::object! { "policy": "always" };
    let refused = Session::resume(spec("s"), events).unwrap_err();
    assert!(refused.to_string().contains("approval/policy"), "{refused}");
}

#[test]
fn the_default_can_be_changed_and_reaches_only_those_who_say_nothing() {
    let policies = policies(ApprovalPolicy::Ask);
    let (silent, saying) = (agent("a"), agent("b"));
    policies.set(saying.session(), ApprovalPolicy::Ask, None).unwrap();
    assert_eq!(policies.set_default_policy(ApprovalPolicy::Never), ApprovalPolicy::Ask);
    assert_eq!(policies.default_policy(), ApprovalPolicy::Never);
    assert_eq!(policies.of(silent.session()), ApprovalPolicy::Never);
    assert_eq!(policies.of(saying.session()), ApprovalPolicy::Ask);
}

/// How the policy becomes `never`, and for whom.
#[tokio::test]
async fn who_waits_for_never_hears_of_it_however_it_comes() {
    type Change = fn(&dsh_approval_policy::Policies, &dsh_agent::Agent);
    let rows: [(&str, Change); 3] = [
        ("set", |policies, agent| policies.set(agent.session(), ApprovalPolicy::Never, None).unwrap()),
        ("switched", |policies, agent| assert!(policies.switch(agent, ApprovalPolicy::Never).unwrap())),
        ("default", |policies, _| {
            policies.set_default_policy(ApprovalPolicy::Never);
        }),
    ];
    for (name, change) in rows {
        let (policies, agent, other) = (policies(ApprovalPolicy::Ask), agent("a"), agent("b"));
        let mut waits = Box::pin(policies.until_never(agent.session()));
        let ended = |poll: Poll<()>| poll.is_ready();
        assert!(!ended(polled(&mut waits)), "{name}");
        policies.set(other.session(), ApprovalPolicy::Never, None).unwrap();
        assert!(!ended(polled(&mut waits)), "{name}: another session's");
        change(&policies, &agent);
        assert!(ended(polled(&mut waits)), "{name}");
        assert!(ended(polled(&mut Box::pin(policies.until_never(agent.session())))), "{name}: at once");
    }
}

fn polled(future: &mut std::pin::Pin<Box<impl Future<Output = ()>>>) -> Poll<()> {
    future.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop()))
}
