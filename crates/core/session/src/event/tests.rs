use dsh_json::{array, object};

use super::*;
use crate::turn::{StepStart, TurnStart};

fn event() -> Event {
    Event {
        kind: "note".into(),
        seq: 3,
        time: -5,
        data: Json::Null,
        surface_op: None,
        source_event_seqs: None,
        ignorable: false,
    }
}

fn check(event: &Event, text: &str) {
    assert_eq!(event.to_json().to_text(), text);
    assert_eq!(Event::from_json(&Json::parse(text).unwrap()).as_ref(), Ok(event));
}

#[test]
fn an_event_has_its_stored_form() {
    check(&event(), r#"{"type":"note","seq":3,"time":-5,"data":null}"#);
    check(
        &Event { surface_op: Some(SurfaceOp::Append), source_event_seqs: Some([].into()), ..event() },
        r#"{"type":"note","seq":3,"time":-5,"data":null,"surfaceOp":"append","sourceEventSeqs":[]}"#,
    );
    check(
        &Event {
            surface_op: Some(SurfaceOp::Replace { start: 0, end: 2 }),
            source_event_seqs: Some([0, 2].into()),
            ignorable: true,
            ..event()
        },
        r#"{"type":"note","seq":3,"time":-5,"data":null,"surfaceOp":{"op":"replace","start":0,"end":2},"sourceEventSeqs":[0,2],"ignorable":true}"#,
    );
}

#[test]
fn a_bad_envelope_is_refused_with_its_place() {
    let max = MAX_SAFE_INTEGER;
    let append_or_replace = "$.surfaceOp: expected `append` or an object with `op`, `start` and `end`";
    let rows = [
        ("type", None, "$.type: missing"),
        ("type", Some(Json::from("")), "$.type: must not be empty"),
        ("type", Some(Json::from(1)), "$.type: expected a string, found number"),
        ("seq", None, "$.seq: missing"),
        ("seq", Some(Json::from(-1)), "$.seq: expected a non-negative integer, found number"),
        ("seq", Some(Json::try_from(0.5).unwrap()), "$.seq: expected a non-negative integer, found number"),
        (
            "seq",
            Some(Json::from(max + 1)),
            "$.seq: beyond 9007199254740991, the largest integer of an envelope",
        ),
        ("time", Some(Json::from("now")), "$.time: expected an integer"),
        (
            "time",
            Some(Json::from(max + 1)),
            "$.time: beyond 9007199254740991, the largest integer of an envelope",
        ),
        ("data", None, "$.data: missing"),
        ("ignorable", Some(Json::from(false)), "$.ignorable: must be true or absent"),
        ("ignorable", Some(Json::Null), "$.ignorable: must be true or absent"),
        ("extra", Some(Json::Null), "$.extra: unknown field"),
        ("surfaceOp", Some(Json::Null), append_or_replace),
        ("surfaceOp", Some(Json::from("prepend")), append_or_replace),
        ("surfaceOp", Some(object! { "op": "append", "start": 0, "end": 0 }), append_or_replace),
        ("surfaceOp", Some(object! { "op": "replace", "start": 0 }), "$.surfaceOp.end: missing"),
        (
            "surfaceOp",
            Some(object! { "op": "replace", "start": 0, "end": 0, "x": 0 }),
            "$.surfaceOp.x: unknown field",
        ),
        ("sourceEventSeqs", Some(Json::from(1)), "$.sourceEventSeqs: expected an array"),
        ("sourceEventSeqs", Some(array![0, -1]), "$.sourceEventSeqs[1]: expected a non-negative integer"),
        ("sourceEventSeqs", Some(array!["0"]), "$.sourceEventSeqs[0]: expected a non-negative integer"),
    ];
    for (field, value, error) in rows {
        let all = event().to_json();
        let kept = all.as_object().unwrap().iter().filter(|(name, _)| ***name != *field);
        let mut object: Object = kept.map(|(name, value)| (Arc::clone(name), value.clone())).collect();
        if let Some(value) = value {
            object.insert(field, value);
        }
        assert_eq!(Event::from_json(&object.into()).unwrap_err().to_string(), error);
    }
}

#[test]
fn data_of_any_kind_passes() {
    for data in ["null", "true", "0.5", "\"x\"", "[]", "{}"] {
        let text = format!(r#"{{"type":"note","seq":0,"time":0,"data":{data}}}"#);
        assert_eq!(Event::from_json(&Json::parse(&text).unwrap()).unwrap().to_json().to_text(), text);
    }
}

#[test]
fn an_event_is_read_as_its_type_only() {
    let start = Event { kind: "turn/start".into(), data: object! { "turn": 4 }, ..event() };
    assert_eq!(start.read::<TurnStart>(), Some(Ok(TurnStart { turn: 4 })));
    assert_eq!(start.read::<StepStart>(), None);
    let bad = Event { data: object! { "turn": "x" }, ..start };
    assert!(bad.read::<TurnStart>().unwrap().is_err());
}
