//! What an agent is told (spec 10 §C.4, §C.5.13).

use dsh_permission_presets::Changes;
use dsh_sandbox_policy::SandboxMode::WorkspaceWrite;

use crate::scene::{agent, knobs, presets, session, told};

#[test]
fn an_agent_is_told_of_each_knob_that_changed() {
    let presets = presets("{}");
    let agent = agent(session(), &presets);
    agent.announce();
    let all = Changes { preset: true, sandbox: true, approval: true };
    assert_eq!(presets.switch(&agent, "danger-full-access").unwrap(), all);
    let one = Changes { preset: true, sandbox: true, approval: false };
    presets.switch(&agent, "read-only").unwrap();
    assert_eq!(presets.switch(&agent, "workspace-write").unwrap(), one);
    insta::assert_snapshot!(told(&agent).join("\n"));
}

#[test]
fn the_same_again_tells_nothing_and_an_unknown_name_changes_nothing() {
    let presets = presets("{}");
    let agent = agent(session(), &presets);
    agent.announce();
    let before = agent.session().len();
    assert!(presets.switch(&agent, "read-only").unwrap().is_empty());
    let unknown = presets.switch(&agent, "custom").unwrap_err();
    assert_eq!(
        unknown.to_string(),
        "there is no preset `custom`; there are: workspace-write, read-only, danger-full-access"
    );
    assert_eq!(agent.session().len(), before);
    assert!(told(&agent).is_empty());
}

#[test]
fn a_switch_from_knobs_that_are_nobodys_says_what_changed() {
    let presets = presets("{}");
    let agent = agent(session(), &presets);
    agent.announce();
    crate::scene::set_policy(agent.session(), dsh_approval_policy::ApprovalPolicy::Never);
    presets.switch(&agent, "workspace-write").unwrap();
    assert_eq!(told(&agent).len(), 2);
    assert_eq!(knobs(agent.session()).0, Some(WorkspaceWrite));
}
