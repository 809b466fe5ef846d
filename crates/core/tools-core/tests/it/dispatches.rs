//! The record of programs' calls (spec 06 §5).

use std::sync::Arc;

use dsh_json::object;
use dsh_lifecycle::SteppingClock;
use dsh_session::{AppendError, Header, Session, SessionSpec, TurnEndReason, TurnStart, Vocabulary};
use dsh_tools_core::{DispatchSettled, DispatchStarted, with_dispatches};

fn session() -> Session {
    Session::create(SessionSpec {
        header: Header::new("s", 0).unwrap(),
        vocabulary: Arc::new(with_dispatches(Vocabulary::core()).unwrap()),
        clock: Arc::new(SteppingClock::starting_at(0)),
        sink: None,
    })
}

fn started(id: &str) -> DispatchStarted {
    DispatchStarted {
        root_call_id: "c1".into(),
        parent_call_id: "c1".into(),
        sub_call_id: id.into(),
        name: "t".into(),
        arguments: object! { "a": 1 },
    }
}

#[test]
fn what_a_killed_process_left_is_closed_and_ids_are_never_empty() {
    let session = session();
    session.append(&TurnStart { turn: 1 }).unwrap();
    assert!(matches!(session.append(&started("")), Err(AppendError::Refused(_))));
    session.append(&started("c1:code:1")).unwrap();
    let closed = session.close_open(TurnEndReason::Interrupted).unwrap();
    let settled: DispatchSettled = closed.first().unwrap().read().unwrap().unwrap();
    assert_eq!((&*settled.sub_call_id, settled.is_error), ("c1:code:1", true));
    assert_eq!(
        dsh_llm::plain_text(&settled.content),
        "Error: the process ended while this call ran; whether it took effect is not known"
    );
    assert!(session.messages().is_empty());
}
