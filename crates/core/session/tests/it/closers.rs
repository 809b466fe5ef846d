//! What closes an open log (spec 03 §9, checklist 28).

use dsh_llm::{Chunk, Source};
use dsh_session::{
    AssistantChunk, Event, Payload, Session, ToolResult, TurnEnd, TurnEndReason, closers, verify,
};
use proptest::prelude::*;

use crate::talk::*;

/// The closers of a session, in words.
fn close(session: &Session) -> Vec<String> {
    let events = session.events();
    let closing = closers(&events, session.vocabulary(), TurnEndReason::Interrupted);
    let next = events.len() as u64;
    let closing: Vec<Event> =
        closing.into_iter().zip(next..).map(|(closer, seq)| closer.into_event(seq, 0)).collect();
    outline(&closing)
}

/// A session whose turn 1 and its step 1 are open, and whose model asked for `calls`.
fn asking(calls: &[&str]) -> Session {
    let session = session();
    put(&session, &start(1));
    put(&session, &step(1, 1));
    put(&session, &answer(1, 1, "", calls));
    session
}

#[test]
fn an_empty_log_needs_nothing() {
    assert!(close(&session()).is_empty());
}

#[test]
fn a_closed_log_needs_nothing() {
    let session = session();
    whole_turn(&session);
    assert!(close(&session).is_empty());
}

#[test]
fn an_open_turn_is_closed() {
    let session = session();
    put(&session, &start(1));
    assert_eq!(close(&session), ["turn/end interrupted"]);
}

#[test]
fn an_open_step_is_closed_before_its_turn() {
    let session = session();
    put(&session, &start(1));
    put(&session, &step(1, 1));
    put(
        &session,
        &AssistantChunk { turn: 1, step: 1, chunk: Chunk::TextDelta { index: 0, text: "x".into() } },
    );
    assert_eq!(close(&session), ["step/end 1", "turn/end interrupted"]);
}

#[test]
fn a_call_that_was_not_started_says_so() {
    assert_eq!(
        close(&asking(&["c1"])),
        ["tool/result 1 c1 TOOL_NOT_STARTED", "step/end 1", "turn/end interrupted"]
    );
}

#[test]
fn a_call_that_was_started_names_its_call() {
    let session = asking(&["c1"]);
    put(&session, &call(1, 1, "c1"));
    assert_eq!(
        close(&session),
        ["tool/result 1 c1 TOOL_OUTCOME_UNKNOWN from [3]", "step/end 1", "turn/end interrupted"]
    );
}

#[test]
fn an_answered_call_is_left_alone() {
    let session = asking(&["c1"]);
    let seq = put(&session, &call(1, 1, "c1"));
    session.append_from(&result(1, 1, "c1", "x"), &[seq]).unwrap();
    assert_eq!(close(&session), ["step/end 1", "turn/end interrupted"]);
}

#[test]
fn several_calls_are_answered_in_the_model_s_order() {
    let session = asking(&["c3", "c1", "c2"]);
    put(&session, &call(1, 1, "c1"));
    let seq = put(&session, &call(1, 1, "c3"));
    session.append_from(&result(1, 1, "c3", "x"), &[seq]).unwrap();
    assert_eq!(
        close(&session),
        [
            "tool/result 1 c1 TOOL_OUTCOME_UNKNOWN from [3]",
            "tool/result 1 c2 TOOL_NOT_STARTED",
            "step/end 1",
            "turn/end interrupted"
        ]
    );
}

#[test]
fn calls_of_a_closed_step_are_answered_too() {
    let session = asking(&["c1", "c2"]);
    put(&session, &call(1, 1, "c1"));
    put(&session, &step_end(1, 1));
    assert_eq!(
        close(&session),
        [
            "tool/result 1 c1 TOOL_OUTCOME_UNKNOWN from [3]",
            "tool/result 1 c2 TOOL_NOT_STARTED",
            "turn/end interrupted"
        ]
    );
    put(&session, &step(1, 2));
    assert_eq!(close(&session)[2..], ["step/end 2", "turn/end interrupted"]);
}

#[test]
fn only_the_open_turn_is_closed() {
    let session = asking(&["c1"]);
    put(&session, &end(1));
    assert!(close(&session).is_empty());
    put(&session, &start(2));
    assert_eq!(close(&session), ["turn/end interrupted"]);
}

#[test]
fn a_call_that_no_one_asked_for_is_passed_over() {
    let session = asking(&[]);
    put(&session, &call(1, 1, "c9"));
    assert_eq!(close(&session), ["step/end 1", "turn/end interrupted"]);
}

#[test]
fn a_replaced_answer_opens_no_calls_anew() {
    let session = asking(&["c1"]);
    session.append(&result(1, 1, "c1", "x")).unwrap();
    session.replace(&answer(1, 1, "", &["c1"]), 2, 2, &[2]).unwrap();
    assert_eq!(close(&session), ["step/end 1", "turn/end interrupted"]);
}

#[test]
fn declared_pairs_are_closed_first_the_innermost_before_the_outer() {
    let session = asking(&["c1"]);
    put(&session, &asked("outer"));
    put(&session, &asked("done"));
    put(&session, &asked("inner"));
    put(&session, &decided("done"));
    assert_eq!(
        close(&session),
        [
            "test/decided inner",
            "test/decided outer",
            "tool/result 1 c1 TOOL_NOT_STARTED",
            "step/end 1",
            "turn/end interrupted"
        ]
    );
}

#[test]
fn a_pair_that_was_opened_twice_is_closed_once() {
    let session = session();
    put(&session, &asked("x"));
    put(&session, &asked("x"));
    assert_eq!(close(&session), ["test/decided x"]);
    session.close_open(failed()).unwrap();
    assert!(close(&session).is_empty());
}

/// What a verifier says of a log that is closed, and how often each call of the history is answered.
fn closed(session: &Session) -> Vec<String> {
    session.close_open(failed()).unwrap();
    let found = verify(session.header(), &session.events(), session.vocabulary());
    found.problems.iter().map(ToString::to_string).collect()
}

#[test]
fn calls_of_one_id_are_answered_one_by_one() {
    let used = |seq: u64| format!("event {seq}: the call id `c1` was used before");
    let twice = asking(&["c1", "c1"]);
    assert_eq!(
        close(&twice)[..2],
        ["tool/result 1 c1 TOOL_NOT_STARTED", "tool/result 1 c1 TOOL_NOT_STARTED"]
    );
    assert_eq!(closed(&twice), [used(2)]);

    // Both were started, and the second was answered: the first is left, and cited.
    let second = asking(&["c1", "c1"]);
    put(&second, &call(1, 1, "c1"));
    let seq = put(&second, &call(1, 1, "c1"));
    second.append_from(&result(1, 1, "c1", "x"), &[seq]).unwrap();
    assert_eq!(close(&second)[0], "tool/result 1 c1 TOOL_OUTCOME_UNKNOWN from [3]");
    // A result that is rewritten answers nothing more.
    session_replaces(&second, 5);
    assert_eq!(close(&second).len(), 3);
    assert_eq!(closed(&second), [used(2)]);
}

fn session_replaces(session: &Session, seq: u64) {
    session.replace(&result(1, 1, "c1", "shorter"), seq, seq, &[seq]).unwrap();
}

#[test]
fn a_call_id_that_a_later_step_uses_again_is_answered_in_both() {
    let session = asking(&["c1"]);
    put(&session, &step_end(1, 1));
    put(&session, &step(1, 2));
    put(&session, &answer(1, 2, "", &["c1"]));
    let seq = put(&session, &call(1, 2, "c1"));
    assert_eq!(
        close(&session)[..2],
        ["tool/result 1 c1 TOOL_NOT_STARTED", &format!("tool/result 2 c1 TOOL_OUTCOME_UNKNOWN from [{seq}]")]
    );
    session.append_from(&result(1, 2, "c1", "x"), &[seq]).unwrap();
    assert_eq!(close(&session)[0], "tool/result 1 c1 TOOL_NOT_STARTED");
    assert_eq!(closed(&session), ["event 5: the call id `c1` was used before"]);
}

#[test]
fn a_pair_that_a_closed_turn_left_open_is_closed() {
    let session = session();
    put(&session, &start(1));
    put(&session, &asked("x"));
    put(&session, &end(1));
    assert_eq!(close(&session), ["test/decided x"]);
}

#[test]
fn a_living_session_closes_itself_with_a_reason_of_its_own() {
    let session = asking(&["c1"]);
    let closed = session.close_open(failed()).unwrap();
    assert_eq!(
        outline(closed.iter().map(|event| &**event)),
        ["tool/result 1 c1 TOOL_NOT_STARTED", "step/end 1", "turn/end error"]
    );
    assert_eq!(session.events_from(3), closed);
    assert_eq!(session.messages().len(), 2);
    assert!(session.close_open(failed()).unwrap().is_empty());
    assert!(verify(session.header(), &session.events(), session.vocabulary()).is_ok());
}

#[test]
fn what_is_opened_after_a_close_is_closed_by_the_next_one() {
    let session = asking(&["c1"]);
    put(&session, &asked("x"));
    session.close_open(failed()).unwrap();
    put(&session, &asked("y"));
    put(&session, &start(2));
    put(&session, &step(2, 1));
    put(&session, &answer(2, 1, "", &["c2"]));
    let expected = close(&session);
    assert_eq!(expected.len(), 4);
    let closed = session.close_open(TurnEndReason::Interrupted).unwrap();
    assert_eq!(outline(closed.iter().map(|event| &**event)), expected);
    let result = closed[1].read::<ToolResult>().unwrap().unwrap();
    assert_eq!(*result.message.id, format!("interrupted-tool-result-c2-{}", closed[1].seq));
}

/// What the model reads; changed on purpose only.
#[test]
fn the_words_for_the_model() {
    let session = asking(&["c1", "c2"]);
    put(&session, &call(1, 1, "c2"));
    session.close_open(failed()).unwrap();
    assert_eq!(
        history(&session)[1..],
        [
            "c1=This call did not run: the session was interrupted before the call had started, so it \
             changed nothing. Call the tool again if you still need it.",
            "c2=It is not known what this call did: it had started when the session was interrupted, and it \
             may have finished, in part or not at all. If the call only reads, or can be repeated without \
             harm, call the tool again. Otherwise first look at what it has changed, or ask the user; do not \
             simply repeat it."
        ]
    );
}

#[test]
fn a_synthetic_result_is_a_whole_message() {
    let session = asking(&["c1"]);
    let closed = session.close_open(failed()).unwrap();
    let result = closed[0].read::<ToolResult>().unwrap().unwrap();
    result.check().unwrap();
    assert_eq!(&*result.message.id, "interrupted-tool-result-c1-3");
    assert_eq!(result.message.source, Source::Tool { call_id: "c1".into() });
    assert_eq!(&*result.error.unwrap().name, "ToolNotStartedError");
}

/// A sound log of some turns, cut anywhere.
fn cut_log(turns: u32, cut: usize) -> Vec<Event> {
    let session = session();
    for _ in 0..turns {
        whole_turn(&session);
    }
    let mut events = owned(&session);
    events.truncate(cut % (events.len() + 1));
    events
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn wherever_a_sound_log_is_cut_its_closers_make_it_sound(turns in 1..3_u32, cut in 0..100_usize) {
        let mut events = cut_log(turns, cut);
        for (closer, seq) in closers(&events, &vocabulary(), TurnEndReason::Interrupted).into_iter().zip(events.len() as u64..) {
            events.push(closer.into_event(seq, 0));
        }
        let verdict = verify(&header(), &events, &vocabulary());
        prop_assert_eq!(&verdict.problems, &[]);
        prop_assert_eq!(verdict.open_turn, None);
        prop_assert!(closers(&events, &vocabulary(), TurnEndReason::Interrupted).is_empty());
    }
}

/// What would have closed it did not get into the log; the turn ends all the same, and the log is sound.
#[test]
fn a_turn_does_not_end_with_a_pair_left_open() {
    let session = session();
    for (turn, leaves) in [(1, false), (2, true), (3, false)] {
        put(&session, &start(turn));
        put(&session, &asked("x"));
        if !leaves {
            put(&session, &decided("x"));
        }
        session.end_turn(&TurnEnd { turn, reason: TurnEndReason::Completed }).unwrap();
        assert_eq!(session.open_turn(), None);
    }
    let events = session.events();
    let kinds: Vec<_> = events.iter().skip(4).take(4).map(|event| &*event.kind).collect();
    assert_eq!(kinds, ["turn/start", "test/asked", "test/decided", "turn/end"]);
    assert!(verify(session.header(), &events, session.vocabulary()).is_ok());
}
