//! What is let in, and what the log says afterwards.

use std::sync::Arc;

use dsh_json::Json;
use dsh_llm::{ContentBlock, Message, text};
use dsh_session::{
    AppendError, AssistantChunk, EndSeed, Event, HeaderReason, Payload, Refusal, RequestConfig,
    RequestContext, RequestForm, RequestHeader, Session, SessionSpec, Vocabulary,
};

use crate::talk::*;

fn refusal<T: std::fmt::Debug>(appended: Result<T, AppendError>) -> String {
    let error = appended.unwrap_err();
    assert!(matches!(error, AppendError::Refused(_)), "{error}");
    error.to_string()
}

#[test]
fn an_event_has_the_next_seq_and_the_clock_s_time() {
    let session = session();
    let first = session.append(&start(1)).unwrap();
    let second = session.append(&end(1)).unwrap();
    assert_eq!((first.seq, first.time, second.seq, second.time), (0, 100, 1, 101));
    assert_eq!(session.events(), [first, second]);
    assert_eq!(session.len(), 2);
    assert_eq!(session.event(1).unwrap().seq, 1);
    assert_eq!(session.event(2), None);
    assert_eq!(session.events_from(1).len(), 1);
    assert_eq!(session.events_from(9).len(), 0);
}

#[test]
fn a_fresh_session_has_no_seed() {
    assert!(session().is_empty());
    assert_eq!(session().first_live_seq(), 0);
}

#[test]
fn the_history_is_derived_from_the_log() {
    let session = session();
    whole_turn(&session);
    assert_eq!(history(&session), ["go", "I look c1-1() c2-1()", "c1-1=one", "c2-1=two", "done"]);
}

#[test]
fn an_empty_answer_is_logged_and_not_derived() {
    let session = session();
    put(&session, &user("u", "hi"));
    session.append_from(&answer(1, 1, "", &[]), &[]).unwrap();
    assert_eq!(session.len(), 2);
    assert_eq!(history(&session), ["hi"]);
}

#[test]
fn lists_that_were_given_out_do_not_grow() {
    let session = session();
    put(&session, &user("u1", "hi"));
    let (events, messages) = (session.events(), session.messages());
    put(&session, &user("u2", "ho"));
    assert_eq!((events.len(), messages.len()), (1, 1));
    assert!(Arc::ptr_eq(&messages[0], &session.messages()[0]));
}

#[test]
fn turns_are_counted_and_call_ids_remembered() {
    let session = session();
    assert_eq!(session.next_turn(), 1);
    whole_turn(&session);
    assert_eq!(session.next_turn(), 2);
    put(&session, &call(2, 1, "direct"));
    put(&session, &answer(2, 1, "", &["asked for"]));
    for (id, used) in [("c1-1", true), ("direct", true), ("asked for", true), ("c9", false)] {
        assert_eq!(session.call_id_used(id), used, "{id}");
    }
}

#[test]
fn a_type_outside_of_the_vocabulary_is_refused_unless_ignorable() {
    let session = Session::create(SessionSpec { vocabulary: Arc::new(Vocabulary::core()), ..spec(None) });
    assert_eq!(refusal(session.append(&asked("x"))), "unknown event type `test/asked`");
    let note = session.append(&Note { text: "x".to_owned() }).unwrap();
    assert!(note.ignorable && note.seq == 0);
}

#[test]
fn a_payload_that_breaks_its_rules_is_refused() {
    let session = session();
    assert_eq!(
        refusal(session.append(&Note { text: String::new() })),
        "bad `test/note`: $.text: must not be empty"
    );
    let nameless = user("", "hi");
    assert_eq!(refusal(session.append(&nameless)), "bad `user/message`: $.id: must not be empty");
    assert!(session.is_empty());
}

#[test]
fn a_payload_that_can_not_be_read_back_is_refused() {
    let error = refusal(session().append(&Crooked { read: 1 }));
    assert!(error.starts_with("bad `test/crooked`"), "{error}");
}

#[test]
fn provenance_belongs_to_the_surface() {
    let session = session();
    put(&session, &start(1));
    assert_eq!(
        refusal(session.append_from(&step(1, 1), &[0])),
        "`step/start` can't have `surfaceOp` or `sourceEventSeqs`"
    );
    assert_eq!(
        refusal(session.replace(&step(1, 1), 0, 0, &[0])),
        "`step/start` can't have `surfaceOp` or `sourceEventSeqs`"
    );
}

#[test]
fn the_rules_of_provenance() {
    let session = session();
    put(&session, &start(1));
    put(&session, &step(1, 1));
    let answer = answer(1, 1, "x", &[]);
    let refused = |sources: &[u64]| refusal(session.append_from(&answer, sources));
    assert_eq!(refused(&[2]), "provenance names 2, which is not before 2");
    assert_eq!(refused(&[9]), "provenance names 9, which is not before 2");
    assert_eq!(refused(&[0, 0]), "provenance names 0 twice");
    assert_eq!(refused(&[1, 0, 1]), "provenance names 1 twice");
    assert_eq!(
        refusal(session.append_from(&user("u", "x"), &[])),
        "`user/message` can't have empty provenance"
    );
    session.append_from(&answer, &[1, 0]).unwrap();
    session.append_from(&answer, &[]).unwrap();
}

/// Every payload that this crate promises to read back, and what a reload makes of it.
#[test]
fn what_is_appended_is_what_is_loaded() {
    fn check<P: Payload + PartialEq + std::fmt::Debug>(payload: &P) {
        let event = session().append(payload).unwrap();
        let text = event.to_json().to_text();
        let loaded = Event::from_json(&json(&text)).unwrap();
        assert_eq!(loaded, *event);
        vocabulary().check(&loaded).unwrap();
        assert_eq!(&loaded.read::<P>().unwrap().unwrap(), payload);
    }
    let deep = (0..9_000).fold(Json::Null, |inner, _| vec![inner].into());
    check(&start(1));
    check(&end(1));
    check(&step(1, 1));
    check(&step_end(1, 1));
    check(&user("u", "\u{0}\u{2028}\"é"));
    check(&answer(1, 1, "", &[]));
    check(&answer(1, 1, "x", &["c1"]));
    check(&call(1, 1, "c1"));
    check(&result(1, 1, "c1", "x"));
    check(&coded(result(1, 1, "c1", ""), "X"));
    check(&AssistantChunk {
        turn: 1,
        step: 1,
        chunk: dsh_llm::Chunk::BlockEnd { index: 0, block: ContentBlock::Text { text: text_of() } },
    });
    let image: dsh_llm::Content = Arc::new([ContentBlock::Image { attachment: deep }]);
    let message = Message { content: image, ..user("u", "").0 };
    check(&dsh_session::UserMessage(message));
    check(&EndSeed {});
    check(&RequestContext { provider: "p".into(), model: "m".into(), context_window: None });
    let config =
        RequestConfig { provider: "p".into(), model: "m".into(), max_tokens: None, reasoning_effort: None };
    let header = RequestForm { config, adapter_defaults: None, system: None, tools: None };
    check(&RequestHeader { header, reason: HeaderReason::Initial });
    check(&asked("x"));
    check(&decided("x"));
    check(&Note { text: "x".to_owned() });
}

fn text_of() -> Arc<str> {
    let content = text("x");
    content[0].as_text().unwrap().into()
}

#[test]
fn a_time_beyond_the_envelope_is_refused_and_takes_no_seq() {
    let clock = Arc::new(dsh_lifecycle::SteppingClock::starting_at((1 << 53) - 1));
    let session = Session::create(SessionSpec { clock, ..spec(None) });
    put(&session, &start(1));
    let error = session.append(&end(1)).unwrap_err();
    assert!(matches!(error, AppendError::Refused(Refusal::Envelope(_))), "{error}");
    assert_eq!(session.len(), 1);
}

#[test]
fn a_session_is_shared_between_threads() {
    fn shared<T: Send + Sync + Clone + 'static>() {}
    shared::<Session>();
    let session = session();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let session = &session;
            scope.spawn(move || {
                for number in 0..50 {
                    put(session, &user(&format!("{thread}.{number}"), "x"));
                }
            });
        }
    });
    let seqs: Vec<u64> = session.events().iter().map(|event| event.seq).collect();
    assert_eq!(seqs, (0..200).collect::<Vec<u64>>());
}
