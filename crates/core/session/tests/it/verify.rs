//! Each planted violation is found, at its place and in words.

use dsh_llm::Chunk;
use dsh_session::{
    AssistantChunk, Event, Header, RequestContext, Session, SurfaceOp, Verdict, verify as verdict,
};

use crate::talk::*;

/// Appends the payloads, one after the other.
macro_rules! log {
    ($($payload:expr),+) => {
        |session: &Session| { $(put(session, &$payload);)+ }
    };
}

fn problems(events: &[Event]) -> Vec<String> {
    let verdict = verdict(&header(), events, &vocabulary());
    assert_eq!(verdict.events, events.len() as u64);
    verdict.problems.iter().map(ToString::to_string).collect()
}

/// What is wrong with a session that was built by `build`.
fn check(build: impl FnOnce(&Session), expected: &[&str]) {
    let session = session();
    build(&session);
    assert_eq!(problems(&owned(&session)), expected);
}

/// What is wrong with a whole turn after a change.
fn tampered(change: impl FnOnce(&mut Vec<Event>), expected: &[&str]) {
    let session = session();
    whole_turn(&session);
    let mut events = owned(&session);
    change(&mut events);
    assert_eq!(problems(&events), expected);
}

fn renumber(events: &mut [Event]) {
    for (event, seq) in events.iter_mut().zip(0..) {
        event.seq = seq;
    }
}

#[test]
fn a_sound_log_has_no_problems() {
    let session = session();
    whole_turn(&session);
    whole_turn(&session);
    let found = verdict(session.header(), &session.events(), session.vocabulary());
    let expected = Verdict { events: 30, turns: 2, open_turn: None, problems: Vec::new(), more: 0 };
    assert_eq!(found, expected);
    assert!(found.is_ok());
}

#[test]
fn an_open_turn_is_told_and_no_problem() {
    let session = session();
    put(&session, &start(1));
    let found = verdict(session.header(), &session.events(), session.vocabulary());
    assert_eq!((found.open_turn, found.turns, found.is_ok()), (Some(1), 1, true));
}

#[test]
fn sequence() {
    tampered(
        |events| events[4].seq = 9,
        &["event 4: expected seq 4, found 9", "event 8: a result for `c1-1`, which was not started"],
    );
}

#[test]
fn envelope_and_payload() {
    tampered(
        |events| events[6].data = json("{}"),
        &[
            "event 6: bad `test/asked`: $: missing field `id`",
            "event 7: `test/decided` closes `c1-1`, which is not open",
        ],
    );
    tampered(
        |events| events[6].kind = "moon".into(),
        &["event 6: unknown event type `moon`", "event 7: `test/decided` closes `c1-1`, which is not open"],
    );
    tampered(
        |events| events[13].surface_op = Some(SurfaceOp::Append),
        &[
            "event 13: `step/end` can't have `surfaceOp` or `sourceEventSeqs`",
            "event 14: `turn/end` while 2 is open",
        ],
    );
}

#[test]
fn nesting_of_turns() {
    check(log![start(1), start(2)], &["event 1: `turn/start` while 1 is open"]);
    check(log![start(2)], &["event 0: `turn/start` 2 where 1 was next"]);
    check(
        |s| {
            for turn in [1, 1] {
                put(s, &start(turn));
                put(s, &end(turn));
            }
        },
        &["event 2: `turn/start` 1 where 2 was next"],
    );
    check(log![end(1)], &["event 0: `turn/end` outside of its turn"]);
    check(log![start(1), end(2)], &["event 1: `turn/end` outside of its turn"]);
}

#[test]
fn nesting_of_steps() {
    let in_turn = |rest: fn(&Session), expected: &[&str]| {
        check(
            |session| {
                put(session, &start(1));
                rest(session);
            },
            expected,
        );
    };
    in_turn(log![step(1, 2)], &["event 1: `step/start` 2 where 1 was next"]);
    in_turn(log![step(1, 1), step(1, 2)], &["event 2: `step/start` while 1 is open"]);
    in_turn(log![step(2, 1)], &["event 1: `step/start` outside of its turn"]);
    in_turn(log![step(1, 1), end(1)], &["event 2: `turn/end` while 1 is open"]);
    in_turn(log![step_end(1, 1)], &["event 1: `step/end` outside of its step"]);
    in_turn(log![step(1, 1), step_end(1, 2)], &["event 2: `step/end` outside of its step"]);
    check(log![step(1, 1)], &["event 0: `step/start` outside of its turn"]);
}

#[test]
fn what_belongs_into_a_step() {
    let chunk = AssistantChunk { turn: 1, step: 1, chunk: Chunk::TextDelta { index: 0, text: "x".into() } };
    check(log![chunk], &["event 0: `assistant/chunk` outside of its turn"]);
    check(log![start(1), chunk], &["event 1: `assistant/chunk` outside of its step"]);
    check(
        log![start(1), step(1, 1), answer(1, 2, "x", &[])],
        &["event 2: `assistant/message` outside of its step"],
    );
    check(
        log![call(1, 1, "c")],
        &[
            "event 0: `tool/call` outside of its turn",
            "event 0: `tool/call` for `c`, which no message of the turn asks for",
        ],
    );
    let context = RequestContext { provider: "p".into(), model: "m".into(), context_window: None };
    check(log![context], &["event 0: `request/context` outside of its turn"]);
}

#[test]
fn what_may_stand_anywhere() {
    check(
        |s| {
            put(s, &user("u", "x"));
            put(s, &dsh_session::EndSeed {});
            put(s, &Note { text: "x".to_owned() });
        },
        &[],
    );
}

/// Turn 1, step 1, and an answer with these calls: the next event is 3.
fn asking(session: &Session, calls: &[&str]) {
    put(session, &start(1));
    put(session, &step(1, 1));
    put(session, &answer(1, 1, "", calls));
}

fn close(session: &Session) {
    put(session, &step_end(1, 1));
    put(session, &end(1));
}

#[test]
fn pairing_of_calls_and_results() {
    check(
        |s| {
            asking(s, &["c1"]);
            close(s);
        },
        &["event 4: the turn ended without a result for `c1`"],
    );
    check(
        |s| {
            asking(s, &["c1"]);
            put(s, &result(1, 1, "c1", "x"));
            close(s);
        },
        &["event 3: a result for `c1`, which was not started"],
    );
    check(
        |s| {
            asking(s, &["c1"]);
            put(s, &coded(result(1, 1, "c1", "x"), "TOOL_NOT_STARTED"));
            close(s);
        },
        &[],
    );
    check(
        |s| {
            asking(s, &["c1"]);
            put(s, &call(1, 1, "c1"));
            put(s, &call(1, 1, "c1"));
            s.append_from(&result(1, 1, "c1", "x"), &[3]).unwrap();
            s.append_from(&result(1, 1, "c1", "y"), &[3]).unwrap();
            close(s);
        },
        &[
            "event 4: `tool/call` for `c1`, which was started or answered before",
            "event 6: a result for `c1`, which does not wait for one",
        ],
    );
    check(
        |s| {
            asking(s, &["c1"]);
            put(s, &call(1, 1, "c1"));
            put(s, &step_end(1, 1));
            s.append_from(&result(1, 1, "c1", "x"), &[3]).unwrap();
            put(s, &end(1));
        },
        &["event 5: `tool/result` outside of its step"],
    );
    check(
        |s| {
            asking(s, &["c1"]);
            put(s, &call(1, 1, "c1"));
            put(s, &step_end(1, 1));
            put(s, &step(1, 2));
            s.append_from(&coded(result(1, 2, "c1", "x"), "TOOL_OUTCOME_UNKNOWN"), &[3]).unwrap();
        },
        &["event 6: a result for `c1`, which does not wait for one"],
    );
}

#[test]
fn a_call_id_is_used_once() {
    check(
        |s| {
            whole_turn(s);
            put(s, &start(2));
            put(s, &step(2, 1));
            put(s, &answer(2, 1, "", &["c1-1"]));
        },
        &["event 17: the call id `c1-1` was used before"],
    );
}

#[test]
fn provenance() {
    check(
        |s| {
            asking(s, &["c1"]);
            put(s, &call(1, 1, "c1"));
            put(s, &result(1, 1, "c1", "x"));
            close(s);
        },
        &["event 4: the result for `c1` does not name its `tool/call` 3"],
    );
    check(
        |s| {
            put(s, &start(1));
            put(s, &step(1, 1));
            s.append_from(&answer(1, 1, "x", &[]), &[1]).unwrap();
        },
        &["event 2: the answer names 1, which is no chunk of its step"],
    );
    let chunk =
        |step| AssistantChunk { turn: 1, step, chunk: Chunk::TextDelta { index: 0, text: "x".into() } };
    check(
        |s| {
            log![start(1), step(1, 1), chunk(1), step_end(1, 1), step(1, 2), chunk(2)](s);
            s.append_from(&answer(1, 2, "x", &[]), &[2, 5]).unwrap();
        },
        &["event 6: the answer names 2, which is no chunk of its step"],
    );
}

#[test]
fn declared_pairs() {
    check(log![start(1), asked("x"), decided("x"), end(1)], &[]);
    check(log![asked("x"), decided("x")], &["event 0: `test/asked` outside of its turn"]);
    check(log![decided("x")], &["event 0: `test/decided` closes `x`, which is not open"]);
    let twice = log![start(1), asked("x"), asked("x"), decided("x"), end(1)];
    check(twice, &["event 2: `test/asked` opens `x`, which is open"]);
    check(
        log![start(1), asked("x"), end(1)],
        &["event 2: the turn ended with `x` open, opened by `test/asked`"],
    );
}

#[test]
fn the_derived_history_keeps_calls_and_results_together() {
    check(
        |s| {
            whole_turn(s);
            s.replace(&user("sum", "it looked"), 2, 3, &[2, 3]).unwrap();
        },
        &[
            "event 8: the history has a result for `c1-1` and not the call before it",
            "event 9: the history has a result for `c2-1` and not the call before it",
        ],
    );
    check(
        |s| {
            whole_turn(s);
            s.replace(&user("sum", "cut"), 9, 9, &[9]).unwrap();
        },
        &["event 3: the history has the call `c2-1` and not its result"],
    );
    check(
        |s| {
            whole_turn(s);
            s.replace(&user("sum", "all of it"), 2, 12, &[2, 3, 8, 9, 12]).unwrap();
        },
        &[],
    );
}

#[test]
fn a_lost_event_is_found_although_the_seqs_fit() {
    tampered(
        |events| {
            events.remove(8);
            renumber(events);
        },
        &["event 13: the turn ended without a result for `c1-1`"],
    );
}

#[test]
fn the_header_s_seed_must_be_there() {
    let header = Header::new("s2", 0).unwrap().forked_from("s1", 3).unwrap();
    let found = verdict(&header, &owned(&session()), &vocabulary());
    assert_eq!(
        found.problems[0].to_string(),
        "event 0: the header says that 3 events came from elsewhere, but there are 0"
    );
}

#[test]
fn problems_are_bounded() {
    let session = session();
    for _ in 0..150 {
        put(&session, &end(1));
    }
    let found = verdict(&header(), &owned(&session), &vocabulary());
    assert_eq!((found.problems.len(), found.more), (100, 50));
}
