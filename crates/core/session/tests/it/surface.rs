//! Replacing what the model sees (spec 03 §3).

use std::sync::Arc;

use dsh_json::Json;
use dsh_llm::{ContentBlock, Message};
use dsh_session::{AppendError, Session, ToolResult};
use proptest::prelude::*;

use crate::talk::*;

/// Four user messages, a to d, at seqs 0 to 3.
fn four() -> Session {
    let session = session();
    for id in ["a", "b", "c", "d"] {
        put(&session, &user(id, id));
    }
    session
}

fn refused(session: &Session, start: u64, end: u64, sources: &[u64]) -> String {
    let before = (session.len(), session.surface(), history(session));
    let AppendError::Refused(refusal) = session.replace(&user("x", "x"), start, end, sources).unwrap_err()
    else {
        panic!()
    };
    assert_eq!((session.len(), session.surface(), history(session)), before);
    refusal.to_string()
}

#[test]
fn a_range_is_replaced_in_place() {
    for (start, end, expected) in
        [(0, 0, "x b c d"), (1, 2, "a x d"), (3, 3, "a b c x"), (0, 3, "x"), (2, 3, "a b x")]
    {
        let session = four();
        let sources: Vec<u64> = (start..=end).collect();
        session.replace(&user("x", "x"), start, end, &sources).unwrap();
        assert_eq!(history(&session).join(" "), expected);
        assert_eq!(session.surface().1, 1);
    }
}

#[test]
fn a_replacement_can_be_replaced() {
    let session = four();
    session.replace(&user("x", "x"), 1, 2, &[1, 2]).unwrap();
    session.replace(&user("y", "y"), 4, 3, &[4, 3, 0]).unwrap();
    assert_eq!(history(&session), ["a", "y"]);
    assert_eq!(session.surface(), (vec![0, 5], 2));
}

#[test]
fn a_bad_range_is_refused_and_changes_nothing() {
    let session = four();
    assert_eq!(refused(&session, 9, 9, &[1]), "9 is not visible, so it can't be replaced");
    assert_eq!(refused(&session, 0, 9, &[0]), "9 is not visible, so it can't be replaced");
    assert_eq!(refused(&session, 2, 1, &[1, 2]), "the replaced range ends at 1, before its start 2");
    assert_eq!(refused(&session, 1, 2, &[1]), "provenance leaves out 2, which is replaced");
    assert_eq!(refused(&session, 1, 2, &[2]), "provenance leaves out 1, which is replaced");
    assert_eq!(refused(&session, 1, 2, &[]), "`user/message` can't have empty provenance");
    session.replace(&user("x", "x"), 1, 2, &[1, 2]).unwrap();
    assert_eq!(refused(&session, 1, 1, &[1]), "1 is not visible, so it can't be replaced");
}

#[test]
fn an_event_off_the_surface_can_not_be_replaced() {
    let session = session();
    put(&session, &start(1));
    assert_eq!(refused(&session, 0, 0, &[0]), "0 is not visible, so it can't be replaced");
}

/// A turn with one answered call: the result is event 4.
fn answered() -> (Session, ToolResult) {
    let session = session();
    put(&session, &start(1));
    put(&session, &step(1, 1));
    put(&session, &answer(1, 1, "", &["c1"]));
    let seq = put(&session, &call(1, 1, "c1"));
    let original = ToolResult { meta: Some(json("{\"n\":[1,{\"a\":2}]}")), ..result(1, 1, "c1", "long") };
    let original = coded(original, "X");
    session.append_from(&original, &[seq]).unwrap();
    (session, original)
}

#[test]
fn a_result_s_content_can_be_rewritten() {
    let (session, original) = answered();
    let short = ToolResult { message: result(1, 1, "c1", "short").message, ..original };
    session.replace(&short, 4, 4, &[4]).unwrap();
    assert_eq!(history(&session), ["c1()", "c1=short"]);
}

#[test]
fn nothing_else_of_a_result_can_be_rewritten() {
    let (session, original) = answered();
    let block = |id: &str, is_error| ContentBlock::ToolResult {
        tool_call_id: id.into(),
        content: dsh_llm::text("long"),
        is_error,
    };
    let message = |block, call_id: &str| Message {
        content: Arc::new([block]),
        source: dsh_llm::Source::Tool { call_id: call_id.into() },
        ..original.message.clone()
    };
    let same = original.clone();
    let rows = [
        ToolResult { turn: 2, ..same.clone() },
        ToolResult { step: 2, ..same.clone() },
        ToolResult { error: None, ..same.clone() },
        coded(same.clone(), "Y"),
        ToolResult { meta: None, ..same.clone() },
        ToolResult { meta: Some(Json::Null), ..same.clone() },
        ToolResult { meta: Some(json("{\"n\":[1,{\"a\":3}]}")), ..same.clone() },
        ToolResult { message: Message { id: "other".into(), ..original.message.clone() }, ..same.clone() },
        ToolResult { message: message(block("c1", true), "c1"), ..same.clone() },
        ToolResult { message: message(block("c2", false), "c2"), ..same.clone() },
    ];
    for changed in rows {
        let error = session.replace(&changed, 4, 4, &[4]).unwrap_err().to_string();
        assert_eq!(error, "a replacing tool result can only change the content");
    }
    for (start, end, sources) in [(2, 4, vec![2, 4]), (2, 2, vec![2])] {
        let error = session.replace(&same, start, end, &sources).unwrap_err().to_string();
        assert_eq!(error, "a tool result can only replace one tool result");
    }
}

#[test]
fn meta_may_order_its_keys_anew() {
    let (session, original) = answered();
    let meta = Some(json("{\"n\":[1.0,{\"a\":2}]}"));
    session.replace(&ToolResult { meta, ..original }, 4, 4, &[4]).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The order kept step by step is the order that a reload folds, and the one of a plain list.
    #[test]
    fn the_surface_is_what_a_plain_list_says(ops in prop::collection::vec((any::<bool>(), 0..50_usize, 0..50_usize), 1..40)) {
        let session = session();
        let mut list: Vec<u64> = Vec::new();
        for (append, from, width) in ops {
            let id = format!("m{}", session.len());
            if append || list.is_empty() {
                list.push(put(&session, &user(&id, &id)));
                continue;
            }
            let from = from % list.len();
            let to = (from + width % 3).min(list.len() - 1);
            let sources = list[from..=to].to_vec();
            let seq = session.replace(&user(&id, &id), list[from], list[to], &sources).unwrap().seq;
            list.splice(from..=to, [seq]);
        }
        prop_assert_eq!(&session.surface().0, &list);
        let again = Session::resume(spec(None), owned(&session)).unwrap();
        prop_assert_eq!(again.surface(), session.surface());
        prop_assert_eq!(again.messages(), session.messages());
    }
}
