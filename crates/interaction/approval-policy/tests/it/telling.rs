//! What models are told.

use dsh_agent::{Agent, Target};
use dsh_approval_policy::{ApprovalPolicy, PLUGIN, standing_rule};
use dsh_llm::{Source, plain_text};
use dsh_system_prompt::{AssembleContext, SystemPrompt};

use crate::scene::{agent, log, policies};

#[test]
fn a_live_switch_is_one_event_and_one_notice_and_none_again() {
    let (policies, agent) = (policies(ApprovalPolicy::Ask), agent("s"));
    assert!(!policies.switch(&agent, ApprovalPolicy::Ask).unwrap(), "it holds already");
    assert!(log(agent.session()).is_empty());
    assert!(policies.switch(&agent, ApprovalPolicy::Never).unwrap());
    assert!(!policies.switch(&agent, ApprovalPolicy::Never).unwrap());
    assert_eq!(log(agent.session()).lines().count(), 1);
    let waiting = agent.inbox().messages(Target::NextStep);
    let [notice] = &*waiting else { panic!("{waiting:?}") };
    assert_eq!(notice.source, Source::plugin_form(PLUGIN, "notice"));
    insta::assert_snapshot!(plain_text(&notice.content), @"The user changed the approval policy from ask to never. Approval: never. Nobody is asked: a call that needs approval is refused at once. Do not ask for more by `sandbox_permissions`.");
}

#[test]
fn models_are_told_the_policy_that_holds() {
    let (prompt, policies, agent) = (SystemPrompt::default(), policies(ApprovalPolicy::Ask), agent("s"));
    let mounted = policies.tell(&prompt).unwrap();
    let told = |agent: Option<&Agent>| {
        let cx = AssembleContext { agent: agent.cloned(), ..AssembleContext::default() };
        let assembled = prompt.assemble(&cx).unwrap().contexts;
        assembled.iter().map(|text| (text.name.to_string(), text.text.to_string())).collect::<Vec<_>>()
    };
    let rule = |policy| vec![("approval:policy".to_owned(), standing_rule(policy).to_owned())];
    assert_eq!(told(Some(&agent)), rule(ApprovalPolicy::Ask));
    assert_eq!(told(Some(&agent)), rule(ApprovalPolicy::Ask), "it stays the same");
    policies.set(agent.session(), ApprovalPolicy::Never, None).unwrap();
    assert_eq!(told(Some(&agent)), rule(ApprovalPolicy::Never));
    assert!(told(None).iter().all(|(_, text)| text.is_empty()));
    drop(mounted);
    assert_eq!(told(Some(&agent)), []);
}

#[test]
fn a_second_one_to_tell_is_refused() {
    let prompt = SystemPrompt::default();
    let _first = policies(ApprovalPolicy::Ask).tell(&prompt).unwrap();
    assert!(policies(ApprovalPolicy::Ask).tell(&prompt).is_err());
}
