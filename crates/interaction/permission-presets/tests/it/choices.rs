//! What a session has, and how it gets another (spec 10 §C.2, §C.5.1, 4, 6, 7, 10, 12, 13).

use dsh_approval_policy::ApprovalPolicy::{Ask, Never};
use dsh_json::Json;
use dsh_permission_presets::{Changes, Current, Presets};
use dsh_sandbox_policy::SandboxMode::{DangerFullAccess, ReadOnly, WorkspaceWrite};
use dsh_session::{Event, Session, TurnEnd, TurnEndReason, TurnStart};

use crate::scene::{choose, log, log_from, presets, presets_over, session, set_mode, set_policy, vocabulary};

const TWINS: &str = r#"{"presets": {"twin": {"sandbox": "workspace-write", "approval": "ask"}}}"#;

fn named(presets: &Presets, session: &Session) -> String {
    presets.current(session).as_str().to_owned()
}

#[test]
fn the_last_event_of_each_kind_counts_and_other_events_change_nothing() {
    let (presets, session) = (presets("{}"), session());
    assert_eq!(named(&presets, &session), "read-only");
    set_mode(&session, DangerFullAccess);
    assert_eq!(presets.current(&session), Current::Custom);
    set_policy(&session, Never);
    assert_eq!(named(&presets, &session), "danger-full-access");
    session.append(&TurnStart { turn: 1 }).unwrap();
    session.append(&TurnEnd { turn: 1, reason: TurnEndReason::Completed }).unwrap();
    assert_eq!(named(&presets, &session), "danger-full-access");
    set_policy(&session, Ask);
    set_mode(&session, WorkspaceWrite);
    assert_eq!(named(&presets, &session), "workspace-write");
}

#[test]
fn a_policy_that_nothing_says_is_the_configured_one_or_ask() {
    let session = session();
    set_mode(&session, WorkspaceWrite);
    assert_eq!(named(&presets("{}"), &session), "workspace-write");
    let never = presets_over(r#"{"defaultPreset": "read-only"}"#, (ReadOnly, Never)).unwrap();
    assert_eq!(named(&never, &session), "custom");
}

#[test]
fn of_two_with_the_same_knobs_the_chosen_one_counts_while_it_fits() {
    let (presets, session) = (presets(TWINS), session());
    set_mode(&session, WorkspaceWrite);
    assert_eq!(named(&presets, &session), "workspace-write");
    let twin = presets.set(&session, "twin").unwrap();
    assert_eq!(twin, Changes { preset: true, ..Changes::default() });
    assert_eq!(named(&presets, &session), "twin");
    // A choice that does not fit any more is passed over.
    set_mode(&session, ReadOnly);
    assert_eq!(named(&presets, &session), "read-only");
    set_mode(&session, WorkspaceWrite);
    assert_eq!(named(&presets, &session), "twin");
    choose(&session, "read-only");
    assert_eq!(named(&presets, &session), "workspace-write");
}

#[test]
fn a_choice_is_recorded_first_then_what_differs() {
    let (presets, session) = (presets("{}"), session());
    let changed = presets.set(&session, "workspace-write").unwrap();
    assert_eq!(changed, Changes { preset: true, sandbox: true, approval: false });
    assert_eq!(log(&session), ["preset workspace-write", "mode workspace-write"]);
    let from = session.len();
    presets.set(&session, "danger-full-access").unwrap();
    // What gets stricter comes before what gets wider.
    assert_eq!(
        log_from(&session, from),
        ["preset danger-full-access", "policy never", "mode danger-full-access"]
    );
    let from = session.len();
    let changed = presets.set(&session, "read-only").unwrap();
    assert_eq!(changed, Changes { preset: true, sandbox: true, approval: true });
    assert_eq!(log_from(&session, from), ["preset read-only", "mode read-only", "policy ask"]);
    let from = session.len();
    assert!(presets.set(&session, "read-only").unwrap().is_empty());
    assert_eq!(session.len(), from);
}

#[test]
fn after_a_drift_only_what_drifted_is_repaired() {
    let (presets, session) = (presets("{}"), session());
    presets.set(&session, "danger-full-access").unwrap();
    set_policy(&session, Ask);
    assert_eq!(named(&presets, &session), "custom");
    let from = session.len();
    presets.set(&session, "danger-full-access").unwrap();
    assert_eq!(log_from(&session, from), ["preset danger-full-access", "policy never"]);
}

#[test]
fn custom_is_offered_only_while_a_session_has_it() {
    let (presets, session) = (presets("{}"), session());
    let shown = |session: &Session| {
        let options = presets.options(session);
        let values = options.options.iter().map(|option| option.value.to_string()).collect::<Vec<_>>();
        (values.join(" "), options.current_value.to_string())
    };
    let all = "workspace-write read-only danger-full-access";
    assert_eq!(shown(&session), (all.to_owned(), "read-only".to_owned()));
    set_policy(&session, Never);
    assert_eq!(shown(&session), (format!("{all} custom"), "custom".to_owned()));
    presets.set(&session, "workspace-write").unwrap();
    assert_eq!(shown(&session), (all.to_owned(), "workspace-write".to_owned()));
    let json = Json::from_serialize(&presets.options(&session)).unwrap();
    assert_eq!(json.get("currentValue").and_then(Json::as_str), Some("workspace-write"));
}

#[test]
fn an_unknown_choice_in_the_log_is_passed_over_and_one_without_a_name_is_refused() {
    let (presets, session) = (presets("{}"), session());
    choose(&session, "of-another-version");
    assert_eq!(named(&presets, &session), "read-only");
    set_policy(&session, Never);
    assert_eq!(named(&presets, &session), "custom");
    presets.set(&session, "read-only").unwrap();
    assert_eq!(named(&presets, &session), "read-only");
    // Live and on reload the same rule holds.
    let before = session.len();
    let refused = session.append(&dsh_permission_presets::PresetChosen { preset: "".into() }).unwrap_err();
    assert!(refused.to_string().contains("a choice names no preset"), "{refused}");
    assert_eq!(session.len(), before);
    let stored = Event { data: dsh_json::object! { "preset": "" }, ..Event::clone(&session.events()[0]) };
    assert!(vocabulary().check(&stored).is_err());
    assert!(vocabulary().check(&session.events()[0]).is_ok());
}
