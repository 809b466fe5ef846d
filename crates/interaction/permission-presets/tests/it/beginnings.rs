//! Sessions that begin or go on (spec 10 §C.3, §C.5.11).

use dsh_approval_policy::ApprovalPolicy::{Ask, Never};
use dsh_approval_policy::{PolicyChanged, PolicySource};
use dsh_permission_presets::{Changes, Presets};
use dsh_sandbox_policy::SandboxMode::{DangerFullAccess, ReadOnly, WorkspaceWrite};
use dsh_session::{Session, TurnStart};

use crate::scene::{
    agent, choose, log, log_from, presets, presets_over, resumed, session, set_mode, set_policy, told,
};

const ALL: Changes = Changes { preset: true, sandbox: true, approval: true };

/// Writes what a log holds.
type Writes = fn(&Session);

/// What pinning adds; a second time it adds nothing.
fn pinned(presets: &Presets, session: &Session) -> Vec<String> {
    let from = session.len();
    let changes = presets.pin(session).unwrap();
    let added = log_from(session, from);
    let of = |word: &str| added.iter().any(|line| line.starts_with(word));
    assert_eq!(changes, Changes { preset: of("preset"), sandbox: of("mode"), approval: of("policy") });
    assert!(presets.pin(session).unwrap().is_empty());
    assert_eq!(log_from(session, from), added);
    added
}

/// The session that goes on after what `write` left in its log.
fn after(write: impl Fn(&Session)) -> Session {
    let session = session();
    write(&session);
    resumed(&session.events())
}

#[test]
fn a_new_session_has_all_three_in_its_log() {
    let presets = presets(r#"{"defaultPreset": "workspace-write"}"#);
    let session = session();
    assert_eq!(presets.pin(&session).unwrap(), ALL);
    assert_eq!(log(&session), ["preset workspace-write", "mode workspace-write", "policy ask"]);
    // Also what holds already is said.
    let derived = crate::scene::presets("{}");
    assert_eq!(
        pinned(&derived, &crate::scene::session()),
        ["preset read-only", "mode read-only", "policy ask"]
    );
}

#[test]
fn a_session_with_turns_and_without_a_word_is_new_when_the_service_comes() {
    let session = session();
    session.append(&TurnStart { turn: 1 }).unwrap();
    assert_eq!(pinned(&presets("{}"), &session), ["preset read-only", "mode read-only", "policy ask"]);
}

#[test]
fn a_session_that_goes_on_never_takes_the_default_of_today() {
    let today = presets(r#"{"defaultPreset": "danger-full-access"}"#);
    let first = after(|_| ());
    assert_eq!(log(&first), ["session/end-seed"]);
    assert_eq!(pinned(&today, &first), ["preset read-only", "mode read-only", "policy ask"]);
    let worked = after(|session| {
        session.append(&TurnStart { turn: 1 }).unwrap();
    });
    assert_eq!(pinned(&today, &worked), ["preset read-only", "mode read-only", "policy ask"]);
    let pinned_then = after(|session| {
        presets("{}").pin(session).unwrap();
    });
    assert!(pinned(&today, &pinned_then).is_empty());
}

#[test]
fn what_is_missing_is_said_as_it_holds() {
    let today = presets(r#"{"defaultPreset": "danger-full-access"}"#);
    let never = presets_over(r#"{"defaultPreset": "read-only"}"#, (ReadOnly, Never)).unwrap();
    let rows: [(&Presets, Writes, &[&str]); 7] = [
        (&today, |session| set_mode(session, WorkspaceWrite), &["preset workspace-write", "policy ask"]),
        (&today, |session| set_policy(session, Ask), &["preset read-only", "mode read-only"]),
        // Knobs that fit no preset stay, and no choice is made up.
        (&today, |session| set_policy(session, Never), &["mode read-only"]),
        (&today, |session| set_mode(session, DangerFullAccess), &["policy ask"]),
        // Without a policy in the log the configured one holds.
        (
            &never,
            |session| set_mode(session, DangerFullAccess),
            &["preset danger-full-access", "policy never"],
        ),
        (&today, |session| choose(session, "of-another-version"), &["mode read-only", "policy ask"]),
        (
            &today,
            |session| {
                set_mode(session, WorkspaceWrite);
                set_policy(session, Ask);
            },
            &["preset workspace-write"],
        ),
    ];
    for (presets, write, added) in rows {
        let session = after(write);
        assert_eq!(pinned(presets, &session), added, "{:?}", log(&session));
    }
}

#[test]
fn a_log_that_says_something_before_its_first_turn_is_not_new() {
    let presets = presets(r#"{"defaultPreset": "danger-full-access"}"#);
    let session = session();
    set_mode(&session, WorkspaceWrite);
    assert_eq!(pinned(&presets, &session), ["preset workspace-write", "policy ask"]);
}

#[test]
fn a_session_is_pinned_when_it_starts_and_hears_nothing_of_it() {
    let presets = presets("{}");
    let agent = agent(session(), &presets);
    assert!(agent.session().is_empty());
    agent.announce();
    assert_eq!(log(agent.session()), ["preset read-only", "mode read-only", "policy ask"]);
    assert!(told(&agent).is_empty());
}

#[test]
fn the_choice_of_the_operator_is_for_new_sessions_and_for_those_that_go_on() {
    let presets = presets("{}").with_choice("danger-full-access").unwrap();
    let fresh = agent(session(), &presets);
    fresh.announce();
    assert_eq!(
        log(fresh.session()),
        ["preset danger-full-access", "policy never", "mode danger-full-access"]
    );
    assert!(told(&fresh).is_empty());
    let goes_on = agent(after(|session| set_mode(session, WorkspaceWrite)), &presets);
    let from = goes_on.session().len();
    goes_on.announce();
    let lines = log_from(goes_on.session(), from);
    let knobs: Vec<_> = lines.iter().filter(|line| !line.starts_with("agent/")).collect();
    assert_eq!(
        knobs,
        [
            "preset workspace-write",
            "policy ask",
            "preset danger-full-access",
            "policy never",
            "mode danger-full-access"
        ]
    );
    assert_eq!(told(&goes_on).len(), 2);
    // An earlier life without a word goes on, too.
    let silent = agent(after(|_| ()), &presets);
    silent.announce();
    assert_eq!(presets.current(silent.session()).as_str(), "danger-full-access");
    assert_eq!(told(&silent).len(), 2);
    // The default is as it was.
    assert_eq!(**presets.default_preset(), *"read-only");
    let same = agent(resumed(&goes_on.session().events()), &presets);
    let from = same.session().len();
    same.announce();
    assert_eq!(same.session().len(), from, "it has what is asked for");
}

#[test]
fn a_session_that_works_for_another_is_not_switched_by_the_choice() {
    let presets = presets("{}").with_choice("workspace-write").unwrap();
    let delegated = session();
    let policy = PolicyChanged { policy: Never, source: Some(PolicySource::Delegation) };
    delegated.append(&policy).unwrap();
    let agent = agent(delegated, &presets);
    agent.announce();
    assert_eq!(log(agent.session()), ["policy never", "mode read-only"]);
}
