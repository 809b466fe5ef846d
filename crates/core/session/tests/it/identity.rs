//! What is appended is what a reload takes, and what is printed is what is read (design §4.4).

use std::sync::Arc;

use dsh_json::{Json, Object};
use dsh_session::{AppendError, Event, Payload as _, Session, SurfaceOp};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::anything::{AnyPayload, Draft, How, append_stored, draft, json};
use crate::talk::*;

/// An event as it comes back from a file; `None` when its text is refused.
fn through_text(event: &Event) -> Option<Event> {
    let text = event.to_json().to_text();
    let read = Event::from_json(&Json::parse(&text).unwrap()).ok()?;
    assert_eq!(read.to_json().to_text(), text, "print after parse");
    assert_eq!(read, *event, "parse after print");
    Some(read)
}

/// Whether a log of these events and one more is loaded.
fn reloads(live: &Session, candidate: Event) -> bool {
    let mut events = owned(live);
    events.push(candidate);
    Session::resume(spec(None), events).is_ok()
}

/// Appends to a living session and loads the same from a file: both take it, or neither.
fn take(live: &Session, payload: &dyn AnyPayload, how: &How) {
    let before = (live.len(), live.surface(), live.messages());
    let candidate = payload.stored(live.len(), 100, how).and_then(|event| through_text(&event));
    let loaded = candidate.clone().is_some_and(|candidate| reloads(live, candidate));
    let appended = payload.append(live, how);
    if appended.is_ok() || payload.reads_back() {
        assert_eq!(appended.is_ok(), loaded, "{appended:?} for {candidate:?}");
    }
    match appended {
        Ok(event) => {
            let candidate = Event { time: event.time, ..candidate.unwrap() };
            assert_eq!(event.to_json().to_text(), candidate.to_json().to_text());
        }
        Err(error) => {
            assert!(matches!(error, AppendError::Refused(_) | AppendError::Json { .. }), "{error}");
            assert_eq!((live.len(), live.surface(), live.messages()), before);
        }
    }
}

/// The same of an event that comes from a file.
fn take_stored(live: &Session, event: &Event) {
    let Some(event) = through_text(event) else { return };
    let loaded = reloads(live, event.clone());
    match append_stored(live, &event) {
        None => assert!(!loaded, "{event:?} is loaded, and is no payload of its type"),
        Some(appended) => assert_eq!(appended.is_ok(), loaded, "{appended:?} for {event:?}"),
    }
}

/// One change of a stored payload, somewhere.
fn meddle(value: &Json, at: Index, with: &Json) -> Json {
    let nodes = count(value);
    let mut left = at.index(nodes);
    changed(value, &mut left, with)
}

fn count(value: &Json) -> usize {
    let below = match value {
        Json::Array(items) => items.iter().map(count).sum(),
        Json::Object(fields) => fields.iter().map(|(_, value)| 2 + count(value)).sum(),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => 0,
    };
    1 + below
}

/// Counts down through the value; at zero it is replaced, or a field beside it is left out or added.
fn changed(value: &Json, left: &mut usize, with: &Json) -> Json {
    let mut here = || {
        let here = *left == 0;
        *left = left.wrapping_sub(1);
        here
    };
    if here() {
        return with.clone();
    }
    match value {
        Json::Array(items) => items.iter().map(|item| changed(item, left, with)).collect::<Vec<_>>().into(),
        Json::Object(fields) => {
            let mut out = Object::new();
            for (key, value) in fields.iter() {
                let mut here = || {
                    let here = *left == 0;
                    *left = left.wrapping_sub(1);
                    here
                };
                if here() {
                    continue;
                }
                if here() {
                    out.insert("added", with.clone());
                }
                out.insert(Arc::clone(key), changed(value, left, with));
            }
            out.into()
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => value.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_append_is_taken_exactly_when_a_reload_takes_it(drafts in prop::collection::vec(draft(), 1..24)) {
        let live = session();
        for (payload, how) in &drafts {
            take(&live, &**payload, how);
        }
        let again = Session::resume(spec(None), owned(&live)).unwrap();
        let (_, generation) = live.surface();
        prop_assert_eq!(again.messages()[..live.messages().len()].to_vec(), live.messages());
        prop_assert_eq!(again.surface().1, generation);
    }

    #[test]
    fn a_stored_event_is_loaded_exactly_when_its_payload_can_be_appended(
        (payload, how) in draft(),
        changes in prop::collection::vec((any::<Index>(), json()), 0..3),
    ) {
        let live = session();
        put(&live, &user("u", "x"));
        put(&live, &result(1, 1, "c1", "x"));
        let Some(mut event) = payload.stored(2, 100, &how) else { return Ok(()) };
        if *event.kind == *Crooked::TYPE {
            return Ok(());
        }
        for (at, with) in &changes {
            event.data = meddle(&event.data, *at, with);
        }
        take_stored(&live, &event);
    }

    #[test]
    fn events_of_any_data_print_and_parse(
        data in json(),
        seq in 0..1_u64 << 53,
        time in -(1_i64 << 53) + 1..1_i64 << 53,
        sources in proptest::option::of(prop::collection::vec(0..1_u64 << 53, 0..4)),
        op in prop_oneof![
            Just(None),
            Just(Some(SurfaceOp::Append)),
            (0..9_u64, 0..9_u64).prop_map(|(start, end)| Some(SurfaceOp::Replace { start, end })),
        ],
        ignorable in any::<bool>(),
    ) {
        let source_event_seqs = sources.map(Arc::from);
        let event = Event { kind: "x/\"é\u{0}".into(), seq, time, data, surface_op: op, source_event_seqs, ignorable };
        prop_assert!(through_text(&event).is_some());
    }
}

#[test]
fn drafts_are_taken_and_refused() {
    use proptest::strategy::{Strategy as _, ValueTree as _};
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let (mut taken, mut refused) = (0, 0);
    for _ in 0..200 {
        let (payload, how): Draft = draft().new_tree(&mut runner).unwrap().current();
        match payload.append(&session(), &how) {
            Ok(_) => taken += 1,
            Err(_) => refused += 1,
        }
    }
    assert!(taken > 40 && refused > 40, "{taken} taken, {refused} refused");
}
