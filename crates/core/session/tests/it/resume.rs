//! Continuing a session (spec 03 §5).

use std::sync::Arc;

use dsh_session::{Event, Session, SessionError, SessionSpec, SurfaceOp, Vocabulary, verify};

use crate::talk::*;

fn again(events: Vec<Event>) -> Session {
    Session::resume(spec(None), events).unwrap()
}

fn refused(events: Vec<Event>) -> String {
    Session::resume(spec(None), events).unwrap_err().to_string()
}

#[test]
fn a_resumed_session_says_the_same_and_marks_its_seed() {
    let first = session();
    whole_turn(&first);
    let second = again(owned(&first));
    assert_eq!(second.messages(), first.messages());
    assert_eq!(outline(second.events_from(first.len()).iter().map(|e| &**e)), ["session/end-seed"]);
    assert_eq!(second.first_live_seq(), second.len());
    assert_eq!(second.next_turn(), 2);
    assert!(second.call_id_used("c1-1"));
    assert_eq!(again(owned(&second)).len(), second.len());
}

#[test]
fn an_empty_seed_is_marked_too() {
    assert_eq!(outline(&owned(&again(Vec::new()))), ["session/end-seed"]);
}

#[test]
fn a_gap_is_refused_with_its_place() {
    let first = session();
    whole_turn(&first);
    let mut events = owned(&first);
    events.remove(2);
    assert_eq!(refused(events), "event 2: expected seq 2, found 3");
}

#[test]
fn an_event_that_an_append_would_refuse_is_refused() {
    let first = session();
    whole_turn(&first);
    let with = |change: fn(&mut Event)| {
        let mut events = owned(&first);
        change(&mut events[3]);
        refused(events)
    };
    assert_eq!(with(|event| event.surface_op = None), "event 3: `assistant/message` needs `surfaceOp`");
    assert_eq!(
        with(|event| event.source_event_seqs = Some([3].into())),
        "event 3: provenance names 3, which is not before 3"
    );
    assert_eq!(
        with(|event| event.surface_op = Some(SurfaceOp::Replace { start: 2, end: 2 })),
        "event 3: provenance leaves out 2, which is replaced"
    );
    assert_eq!(with(|event| event.kind = "moon".into()), "event 3: unknown event type `moon`");
    assert_eq!(
        with(|event| event.data = json("{\"turn\":1,\"step\":1}")),
        "event 3: bad `assistant/message`: $.message: missing"
    );
}

#[test]
fn an_unknown_ignorable_event_is_kept_as_it_is() {
    let text = r#"{"type":"moon/phase","seq":0,"time":5,"data":{"z":1.0,"a":[null]},"ignorable":true}"#;
    let session = again(vec![Event::from_json(&json(text)).unwrap()]);
    assert_eq!(session.event(0).unwrap().to_json().to_text(), text);
    assert!(session.messages().is_empty());
}

#[test]
fn an_unknown_required_event_is_refused_by_name() {
    let first = session();
    put(&first, &asked("x"));
    let small = SessionSpec { vocabulary: Arc::new(Vocabulary::core()), ..spec(None) };
    let error = Session::resume(small, owned(&first)).unwrap_err();
    assert!(matches!(error, SessionError::Event { index: 0, .. }));
    assert_eq!(error.to_string(), "event 0: unknown event type `test/asked`");
}

#[test]
fn what_was_left_open_is_closed_at_the_time_of_the_last_event() {
    let first = session();
    put(&first, &start(1));
    put(&first, &step(1, 1));
    put(&first, &answer(1, 1, "", &["c1"]));
    let mut events = owned(&first);
    events[2].time = 7;
    let second = again(events);
    let added = second.events_from(3);
    assert_eq!(
        outline(added.iter().map(|e| &**e)),
        ["tool/result 1 c1 TOOL_NOT_STARTED", "step/end 1", "turn/end interrupted", "session/end-seed"]
    );
    assert_eq!(added.iter().map(|event| event.time).collect::<Vec<_>>(), [7, 7, 7, 100]);
    assert!(verify(second.header(), &second.events(), second.vocabulary()).is_ok());
}

#[test]
fn deep_data_survives_a_reload() {
    let open = "[".repeat(9_900);
    let close = "]".repeat(9_900);
    let text = format!(r#"{{"type":"moon","seq":0,"time":0,"data":{open}1.0{close},"ignorable":true}}"#);
    let session = again(vec![Event::from_json(&json(&text)).unwrap()]);
    assert_eq!(session.event(0).unwrap().to_json().to_text(), text);
}
