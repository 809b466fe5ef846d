//! A switch whose process died in the middle (spec 10 §E.8).

use dsh_approval_policy::ApprovalPolicy::{self, Ask, Never};
use dsh_permission_presets::Presets;
use dsh_sandbox_policy::SandboxMode::{self, DangerFullAccess, ReadOnly, WorkspaceWrite};
use dsh_session::{Session, TurnEnd, TurnEndReason, TurnStart};

use crate::scene::{agent, choose, knobs, log, presets, resumed, session, set_mode, set_policy};

const MORE: &str = r#"{"presets": {
    "quiet": {"sandbox": "read-only", "approval": "never"},
    "careless": {"sandbox": "danger-full-access", "approval": "ask"},
    "twin": {"sandbox": "read-only", "approval": "ask"}
}}"#;

fn of(presets: &Presets, name: &str) -> (Option<SandboxMode>, Option<ApprovalPolicy>) {
    let preset = presets.resolve(name).unwrap();
    (Some(preset.sandbox), Some(preset.approval))
}

/// Cuts a log after each event from `from` on: what is pinned is wholly at the old preset when the choice is not in it,
/// and wholly at the new one when it is.
fn cut_everywhere(presets: &Presets, session: &Session, from: u64, old: &str, new: &str) {
    for kept in from..=session.len() {
        let events = session.events();
        let cut = resumed(events.get(..usize::try_from(kept).unwrap()).unwrap());
        presets.pin(&cut).unwrap();
        let expected = if kept > from { new } else { old };
        assert_eq!(presets.current(&cut).as_str(), expected, "{old} → {new}: {:?}", log(&cut));
        assert_eq!(knobs(&cut), of(presets, expected), "{old} → {new}: {:?}", log(&cut));
        assert!(presets.pin(&cut).unwrap().is_empty());
    }
}

#[test]
fn after_every_cut_a_session_is_wholly_at_one_preset() {
    let presets = presets(MORE);
    for (old, new) in presets.names().flat_map(|old| presets.names().map(move |new| (old, new))) {
        if old == new {
            continue;
        }
        let session = session();
        presets.pin(&session).unwrap();
        presets.set(&session, old).unwrap();
        let from = session.len();
        presets.set(&session, new).unwrap();
        cut_everywhere(&presets, &session, from, old, new);
        // The same for a living agent, whose messages lie in between, and within a turn.
        let agent = agent(crate::scene::session(), &presets);
        agent.announce();
        presets.set(agent.session(), old).unwrap();
        agent.session().append(&TurnStart { turn: 1 }).unwrap();
        let from = agent.session().len();
        presets.switch(&agent, new).unwrap();
        cut_everywhere(&presets, agent.session(), from, old, new);
    }
}

#[test]
fn after_every_cut_of_its_first_pinning_a_session_has_what_it_was_to_have() {
    let presets = presets(MORE).with_choice("danger-full-access").unwrap();
    let session = session();
    presets.pin(&session).unwrap();
    for kept in 1..=3 {
        let cut = resumed(&session.events()[..kept]);
        presets.pin(&cut).unwrap();
        assert_eq!(knobs(&cut), (Some(DangerFullAccess), Some(Never)), "{:?}", log(&cut));
    }
}

#[test]
fn a_knob_that_was_turned_after_the_choice_stays() {
    let presets = presets("{}");
    let drifted = session();
    presets.set(&drifted, "danger-full-access").unwrap();
    set_mode(&drifted, ReadOnly);
    let resumed_once = resumed(&drifted.events());
    assert!(presets.pin(&resumed_once).unwrap().is_empty());
    assert_eq!(knobs(&resumed_once), (Some(ReadOnly), Some(Never)));
    // One knob was turned deliberately, the other one was left out.
    let half = session();
    presets.pin(&half).unwrap();
    choose(&half, "danger-full-access");
    set_mode(&half, WorkspaceWrite);
    let half = resumed(&half.events());
    presets.pin(&half).unwrap();
    assert_eq!(knobs(&half), (Some(WorkspaceWrite), Some(Never)));
}

#[test]
fn knobs_that_a_session_has_worked_under_stay() {
    let presets = presets("{}");
    let session = session();
    presets.pin(&session).unwrap();
    choose(&session, "danger-full-access");
    session.append(&TurnStart { turn: 1 }).unwrap();
    session.append(&TurnEnd { turn: 1, reason: TurnEndReason::Completed }).unwrap();
    let session = resumed(&session.events());
    assert!(presets.pin(&session).unwrap().is_empty());
    assert_eq!(knobs(&session), (Some(ReadOnly), Some(Ask)));
}

#[test]
fn a_preset_that_means_something_else_now_changes_no_session_that_has_worked() {
    let session = session();
    presets(r#"{"presets": {"mine": {"sandbox": "read-only", "approval": "ask"}}, "defaultPreset": "mine"}"#)
        .pin(&session)
        .unwrap();
    session.append(&TurnStart { turn: 1 }).unwrap();
    let now = presets(
        r#"{"presets": {"mine": {"sandbox": "danger-full-access", "approval": "never"}}, "defaultPreset": "mine"}"#,
    );
    let session = resumed(&session.events());
    assert!(now.pin(&session).unwrap().is_empty());
    assert_eq!(now.current(&session).as_str(), "read-only");
}

#[test]
fn a_choice_that_is_no_preset_any_more_completes_nothing() {
    let session = session();
    set_mode(&session, ReadOnly);
    set_policy(&session, Ask);
    choose(&session, "of-another-version");
    let session = resumed(&session.events());
    assert!(presets("{}").pin(&session).unwrap().is_empty());
}
