//! A session that begins with what another one said (spec 03 §5, checklist 27).

use dsh_session::{Fork, ForkError, Header, Session, SessionSpec, TurnEnd, TurnEndReason, verify};

use crate::talk::*;

/// The child that a fork makes, in memory.
fn child_of(fork: Fork) -> Session {
    let (header, events) = fork.into_child(Header::new("child", 7).unwrap());
    Session::resume(SessionSpec { header, ..spec(None) }, events).unwrap()
}

fn refused(session: &Session, boundary: Option<u64>) -> (&'static str, String) {
    let error = session.fork(boundary).unwrap_err();
    (error.code(), error.to_string())
}

#[test]
fn a_fork_says_what_its_parent_said_and_goes_on_alone() {
    let parent = session();
    whole_turn(&parent);
    let child = child_of(parent.fork(None).unwrap());
    assert_eq!(child.messages(), parent.messages());
    assert_eq!(child.events()[..15], parent.events());
    assert_eq!(outline(child.events_from(15).iter().map(|event| &**event)), ["session/end-seed"]);
    assert_eq!((child.first_live_seq(), child.next_turn()), (16, 2));
    assert!(child.call_id_used("c1-1"));
    let header = child.header();
    assert_eq!((&**header.parent_session().unwrap(), header.seed_length()), ("s1", Some(15)));

    whole_turn(&child);
    whole_turn(&parent);
    put(&parent, &user("later", "only here"));
    assert_eq!((parent.len(), child.len()), (31, 31));
    assert!(!history(&child).contains(&"only here".to_owned()));
    assert!(verify(header, &child.events(), child.vocabulary()).is_ok());
}

#[test]
fn an_earlier_boundary_leaves_an_open_tail_behind() {
    let parent = session();
    whole_turn(&parent);
    put(&parent, &start(2));
    put(&parent, &step(2, 1));
    let fork = parent.fork(Some(14)).unwrap();
    assert_eq!(fork.events().last().unwrap().data, parent.event(14).unwrap().data);
    let child = child_of(fork);
    assert_eq!((child.len(), child.next_turn()), (16, 2));
}

#[test]
fn a_turn_may_have_ended_for_any_reason() {
    let aborted = TurnEndReason::Aborted { reason: dsh_session::AbortReason::User };
    for reason in [
        TurnEndReason::Completed,
        TurnEndReason::MaxTokens,
        TurnEndReason::StepLimit,
        TurnEndReason::Blocked,
        TurnEndReason::Interrupted,
        aborted,
        failed(),
    ] {
        let parent = session();
        put(&parent, &start(1));
        put(&parent, &TurnEnd { turn: 1, reason });
        assert_eq!(parent.fork(None).unwrap().events(), owned(&parent));
        assert_eq!(parent.fork(Some(1)).unwrap().events(), owned(&parent));
    }
}

#[test]
fn what_belongs_to_no_turn_may_come_last() {
    let parent = session();
    put(&parent, &Note { text: "before".to_owned() });
    assert_eq!(parent.fork(None).unwrap().events().len(), 1);
    put(&parent, &start(1));
    put(&parent, &end(1));
    put(&parent, &Note { text: "after".to_owned() });
    put(&parent, &user("u", "waits"));
    assert_eq!(parent.fork(None).unwrap().events().len(), 5);
    assert_eq!(parent.fork(Some(0)).unwrap().events().len(), 1);
    assert_eq!(parent.fork(Some(3)).unwrap().events().len(), 4);
}

#[test]
fn an_empty_session_has_an_empty_fork() {
    let fork = session().fork(None).unwrap();
    assert!(fork.events().is_empty());
    let child = child_of(fork);
    assert_eq!(outline(&owned(&child)), ["session/end-seed"]);
    assert_eq!(child.header().seed_length(), Some(0));
}

#[test]
fn a_boundary_that_is_not_there_is_refused() {
    let expected = |words: &str| ("INVALID_BOUNDARY", words.to_owned());
    let empty = "event 0 is not there: the session has 0 events, counted from 0";
    assert_eq!(refused(&session(), Some(0)), expected(empty));
    let parent = session();
    whole_turn(&parent);
    let past = "event 15 is not there: the session has 15 events, counted from 0";
    assert_eq!(refused(&parent, Some(15)), expected(past));
    assert_eq!(refused(&parent, Some(u64::MAX)).0, "INVALID_BOUNDARY");
}

#[test]
fn a_boundary_inside_a_turn_is_refused() {
    let parent = session();
    whole_turn(&parent);
    put(&parent, &start(2));
    put(&parent, &Note { text: "within".to_owned() });
    let words =
        "event 16 lies inside turn 2, and a fork takes whole turns; take an event before 15, where it began";
    assert_eq!(refused(&parent, None), ("OPEN_TURN", words.to_owned()));
    for boundary in [0, 5, 13, 15] {
        assert_eq!(refused(&parent, Some(boundary)).0, "OPEN_TURN", "{boundary}");
    }
    let error = parent.fork(Some(5)).unwrap_err();
    assert_eq!(error, ForkError::OpenTurn { boundary: 5, turn: 1, began: 0 });
}

#[test]
fn a_fork_can_be_forked() {
    let parent = session();
    whole_turn(&parent);
    let child = child_of(parent.fork(None).unwrap());
    whole_turn(&child);
    let grandchild = child_of(child.fork(None).unwrap());
    assert_eq!(grandchild.messages(), child.messages());
    assert_eq!(&**grandchild.header().parent_session().unwrap(), "child");
    assert!(verify(grandchild.header(), &grandchild.events(), grandchild.vocabulary()).is_ok());
    // A seed that ends with the mark gets no second one.
    let marked = child_of(child.fork(Some(15)).unwrap());
    assert_eq!(marked.len(), 16);
}
