use dsh_json::object;
use serde::{Deserialize, Serialize};

use super::*;
use crate::event::SurfaceOp;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Note {
    text: String,
}

impl Payload for Note {
    const TYPE: &'static str = "note";

    fn check(&self) -> Result<(), ShapeError> {
        if self.text.is_empty() { Err(ShapeError::new("must not be empty").within("text")) } else { Ok(()) }
    }
}

#[derive(Serialize, Deserialize)]
struct OtherNote {}

impl Payload for OtherNote {
    const TYPE: &'static str = "note";
}

fn event(kind: &str, data: Json) -> Event {
    Event {
        kind: kind.into(),
        seq: 0,
        time: 0,
        data,
        surface_op: None,
        source_event_seqs: None,
        ignorable: false,
    }
}

fn check(event: &Event) -> Result<(), String> {
    let vocabulary = Vocabulary::core().with::<Note>().unwrap();
    vocabulary.check(event).map_err(|refusal| refusal.to_string())
}

#[test]
fn a_type_is_declared_once() {
    let vocabulary = Vocabulary::core().with::<Note>().unwrap().with::<Note>().unwrap();
    assert!(vocabulary.knows("note") && !vocabulary.knows("other"));
    let error = vocabulary.with::<OtherNote>().unwrap_err();
    assert_eq!(error.to_string(), "the event type `note` is declared twice, by different payloads");
}

#[test]
fn the_core_types_are_these() {
    let kinds: Vec<_> = Vocabulary::core().kinds().collect();
    let expected = [
        "assistant/chunk",
        "assistant/message",
        "request/context",
        "request/header",
        "session/end-seed",
        "step/end",
        "step/start",
        "tool/call",
        "tool/result",
        "turn/end",
        "turn/start",
        "user/message",
    ];
    assert_eq!(kinds, expected);
}

#[test]
fn a_known_type_must_fit() {
    assert_eq!(check(&event("note", object! { "text": "x" })), Ok(()));
    assert_eq!(
        check(&event("note", object! { "text": "" })),
        Err("bad `note`: $.text: must not be empty".to_owned())
    );
    assert!(check(&event("note", Json::Null)).is_err());
}

#[test]
fn an_unknown_type_passes_only_when_it_is_ignorable() {
    assert_eq!(check(&event("moon", Json::Null)), Err("unknown event type `moon`".to_owned()));
    let moon = Event { ignorable: true, ..event("moon", Json::Null) };
    assert_eq!(check(&moon), Ok(()));
    let surfaced = Event { surface_op: Some(SurfaceOp::Append), ..moon };
    assert_eq!(check(&surfaced), Err("`moon` can't have `surfaceOp` or `sourceEventSeqs`".to_owned()));
}

#[test]
fn surface_fields_belong_to_surface_types() {
    let message = object! {
        "id": "m",
        "role": "user",
        "content": dsh_json::array![],
        "source": object! { "kind": "user" },
    };
    let message = event("user/message", message);
    assert_eq!(check(&message), Err("`user/message` needs `surfaceOp`".to_owned()));
    assert_eq!(check(&Event { surface_op: Some(SurfaceOp::Append), ..message }), Ok(()));
    let note = event("note", object! { "text": "x" });
    let error = Err("`note` can't have `surfaceOp` or `sourceEventSeqs`".to_owned());
    assert_eq!(check(&Event { source_event_seqs: Some([].into()), ..note.clone() }), error);
    assert_eq!(check(&Event { surface_op: Some(SurfaceOp::Append), ..note }), error);
}
