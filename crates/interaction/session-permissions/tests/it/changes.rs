//! What a change records, whom it tells, and when it is refused.

use dsh_approval_policy::ApprovalPolicy::{Ask, Never};
use dsh_sandbox_policy::SandboxMode::{DangerFullAccess, ReadOnly, WorkspaceWrite};
use dsh_session_permissions::{ChangeError, Permissions, Turned};

use crate::scene::{COMPOSED, agent, log, permissions, session, told};

const WIDE: Permissions = Permissions { sandbox: WorkspaceWrite, approval: Ask };
const ALONE: Permissions = Permissions { sandbox: DangerFullAccess, approval: Never };

fn knobs(Turned { sandbox, approval, untold }: Turned) -> (bool, bool) {
    assert!(untold.is_none(), "{untold:?}");
    (sandbox, approval)
}

#[test]
fn what_holds_is_the_last_word_of_the_log_and_else_what_was_composed() {
    let (permissions, session) = (permissions(), session());
    assert_eq!((permissions.defaults(), permissions.of(&session)), (COMPOSED, COMPOSED));
    let said = permissions.said(&session);
    assert!(said.sandbox.is_none() && said.approval.is_none());
    assert_eq!(knobs(permissions.change(&session, |change| change.set(ALONE)).unwrap()), (true, true));
    assert_eq!(permissions.of(&session), ALONE);
    let said = permissions.said(&session);
    let (mode_at, mode) = said.sandbox.unwrap();
    let (policy_at, policy) = said.approval.unwrap();
    assert_eq!((mode.mode, policy.policy), (DangerFullAccess, Never));
    assert_eq!((policy_at, mode_at), (0, 1), "the policy gets stricter first");
}

#[test]
fn only_what_differs_is_recorded_and_what_was_never_said_where_that_is_asked_for() {
    let (permissions, session) = (permissions(), session());
    let set = |target| knobs(permissions.change(&session, |change| change.set(target)).unwrap());
    let say = |target| knobs(permissions.change(&session, |change| change.say(target)).unwrap());
    assert_eq!(set(COMPOSED), (false, false));
    assert_eq!(set(WIDE), (true, false));
    assert_eq!(say(WIDE), (false, true));
    assert_eq!((say(WIDE), set(WIDE)), ((false, false), (false, false)));
    insta::assert_snapshot!(log(&session).join("\n"), @r#"
    sandbox/mode {"mode":"workspace-write"}
    approval/policy {"policy":"ask"}
    "#);
}

#[test]
fn a_living_agent_is_told_of_what_differs_and_of_nothing_else() {
    let (permissions, agent) = (permissions(), agent());
    assert_eq!(
        knobs(permissions.change_living(&agent, |change| change.say(COMPOSED)).unwrap()),
        (true, true)
    );
    assert!(told(&agent).is_empty(), "it holds already");
    assert_eq!(knobs(permissions.change_living(&agent, |change| change.set(ALONE)).unwrap()), (true, true));
    insta::assert_snapshot!(told(&agent).join("\n"), @r"
    The user changed the approval policy from ask to never. Approval: never. Nobody is asked: a call that needs approval is refused at once. Do not ask for more by `sandbox_permissions`.
    The user changed the sandbox mode from read-only to danger-full-access. Sandbox: danger-full-access. Tools reach every file that the user's account reaches; change only what the task needs.
    ");
    let quiet = permissions.change(agent.session(), |change| change.set(COMPOSED)).unwrap();
    assert_eq!(
        (knobs(quiet), told(&agent).len()),
        ((true, true), 2),
        "nobody is told of what is set past it"
    );
}

#[test]
fn a_change_within_a_change_is_refused_and_another_session_is_free() {
    let (permissions, first, second) = (permissions(), session(), session());
    let within = permissions.change(&first, |_| {
        let again = permissions.clone().change(&first, |change| change.set(ALONE));
        // The same id is the same session to whoever changes it.
        let same_id = permissions.change(&second, |change| change.set(ALONE));
        Ok((again.unwrap_err(), same_id.unwrap_err()))
    });
    let (again, same_id) = within.unwrap();
    assert!(matches!((&again, &same_id), (ChangeError::Busy, ChangeError::Busy)));
    insta::assert_snapshot!(again, @"the permissions of this session are being changed already; try again");
    assert!(log(&first).is_empty() && log(&second).is_empty());
    assert_eq!(knobs(permissions.change(&first, |change| change.set(ALONE)).unwrap()), (true, true));
    assert_eq!(permissions.of(&second).sandbox, ReadOnly);
}
