use dsh_json::{array, object};

use super::*;
use crate::content::text;

fn message(role: Role, source: Source) -> Message {
    Message { id: "m1".into(), role, content: text("hi"), source }
}

fn model() -> Source {
    Source::Model { provider: "p".into(), model: "m".into(), replay_state: None }
}

/// The message is refused with `error`, as a value and in its stored form.
fn refused(message: &Message, error: &str) {
    assert_eq!(message.check().unwrap_err().to_string(), error);
    assert_eq!(Message::from_json(&message.to_json()).unwrap_err().to_string(), error);
}

#[test]
fn a_message_is_stored_and_read_back() {
    let content = array![object! { "type": "text", "text": "hi" }];
    let rows = [
        (message(Role::User, Source::User), object! { "kind": "user" }),
        (message(Role::User, Source::plugin("p")), object! { "kind": "plugin", "plugin": "p" }),
        (
            message(Role::User, Source::plugin_form("p", "notice")),
            object! { "kind": "plugin", "plugin": "p", "form": "notice" },
        ),
        (
            message(
                Role::Assistant,
                Source::Model { provider: "p".into(), model: "m".into(), replay_state: Some(Json::Null) },
            ),
            object! { "kind": "model", "provider": "p", "model": "m", "replayState": Json::Null },
        ),
        (
            message(Role::User, Source::Other(object! { "kind": "moon", "x": 1 })),
            object! { "kind": "moon", "x": 1 },
        ),
    ];
    for (message, source) in rows {
        let json = object! {
            "id": "m1",
            "role": message.role.as_str(),
            "content": content.clone(),
            "source": source,
        };
        assert_eq!(message.to_json().to_text(), json.to_text());
        assert_eq!(Message::from_json(&json).as_ref(), Ok(&message));
        assert_eq!(json.read::<Message>().unwrap(), message);
        assert_eq!(Json::from_serialize(&message).unwrap(), json);
        message.check().unwrap();
    }
}

#[test]
fn a_plugin_keeps_its_own_fields() {
    let json = Json::parse(r#"{"kind":"plugin","plugin":"p","form":"f","summary":"s","n":1.0}"#).unwrap();
    let source = Source::from_json(&json).unwrap();
    assert_eq!(source.to_json().to_text(), json.to_text());
    let Source::Plugin { details, .. } = source else { panic!() };
    assert_eq!(details.get("summary"), Some(&Json::from("s")));
}

#[test]
fn a_tool_s_answer_holds_one_result_for_its_call() {
    let result =
        |id: &str| ContentBlock::ToolResult { tool_call_id: id.into(), content: text("x"), is_error: false };
    let with = |content: Vec<ContentBlock>| Message {
        content: content.into(),
        ..message(Role::User, Source::Tool { call_id: "c1".into() })
    };
    with(vec![result("c1")]).check().unwrap();
    let error = "$.content: expected one tool-result block for the call that the source names";
    refused(&with(vec![]), error);
    refused(&with(vec![result("c2")]), error);
    refused(&with(vec![result("c1"), result("c1")]), error);
    refused(&with(vec![ContentBlock::Text { text: "x".into() }]), error);
}

#[test]
fn role_and_source_fit() {
    message(Role::Assistant, model()).check().unwrap();
    let error = "$.source: `model` is the source of assistant messages, and of no others";
    refused(&message(Role::User, model()), error);
    refused(&message(Role::Assistant, Source::User), error);
}

#[test]
fn names_are_not_empty() {
    refused(&Message { id: "".into(), ..message(Role::User, Source::User) }, "$.id: must not be empty");
    refused(&message(Role::User, Source::plugin("")), "$.source.plugin: must not be empty");
    refused(&message(Role::User, Source::Tool { call_id: "".into() }), "$.source.callId: must not be empty");
    let source = Source::Model { provider: "p".into(), model: "".into(), replay_state: None };
    refused(&message(Role::Assistant, source), "$.source.model: must not be empty");
    refused(&message(Role::User, Source::Other(object! {})), "$.source.kind: missing");
}

#[test]
fn what_would_be_read_back_as_something_else_is_refused() {
    let other = message(Role::User, Source::Other(object! { "kind": "user" }));
    assert_eq!(other.check().unwrap_err().to_string(), "$.source.kind: a known kind kept as unknown");
    let mut details = Object::new();
    details.insert("form", "x");
    let plugin = message(Role::User, Source::Plugin { plugin: "p".into(), form: None, details });
    assert_eq!(plugin.check().unwrap_err().to_string(), "$.source.form: a detail can't replace this field");
}

#[test]
fn a_bad_message_is_refused_with_its_place() {
    let good = message(Role::User, Source::User).to_json();
    let with = |field: &str, value: Json| -> Json {
        let mut object: Object = good.as_object().unwrap().clone();
        object.insert(field, value);
        object.into()
    };
    let rows = [
        (with("id", Json::from(1)), "$.id: expected a string, found number"),
        (with("role", Json::from("system")), "$.role: expected `user` or `assistant`"),
        (with("content", Json::from("hi")), "$.content: expected an array of content blocks, found string"),
        (with("source", Json::Null), "$.source: expected an object, found null"),
        (with("source", object! { "kind": "user", "x": 1 }), "$.source.x: unknown field"),
        (with("extra", Json::Null), "$.extra: unknown field"),
    ];
    for (json, error) in rows {
        assert_eq!(Message::from_json(&json).unwrap_err().to_string(), error);
    }
}
