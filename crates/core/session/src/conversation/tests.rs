use dsh_json::{array, object};
use dsh_llm::{ContentBlock, Finish, text};

use super::*;

fn user() -> Message {
    Message { id: "m1".into(), role: Role::User, content: text("hi"), source: Source::User }
}

fn assistant() -> Message {
    let call = ContentBlock::ToolCall {
        id: "c1".into(),
        name: "read".into(),
        arguments: "{".into(),
        provider_call_id: None,
    };
    Message {
        id: "m2".into(),
        role: Role::Assistant,
        content: Arc::new([ContentBlock::Text { text: "x".into() }, call]),
        source: Source::Model { provider: "p".into(), model: "m".into(), replay_state: None },
    }
}

fn answer(content: &str) -> Message {
    let block =
        ContentBlock::ToolResult { tool_call_id: "c1".into(), content: text(content), is_error: false };
    Message {
        id: "m3".into(),
        role: Role::User,
        content: Arc::new([block]),
        source: Source::Tool { call_id: "c1".into() },
    }
}

fn result() -> ToolResult {
    ToolResult { turn: 1, step: 2, message: answer("ok"), error: None, meta: None }
}

/// The promise of `EXACT`, and that both ways of writing agree.
fn check<P: Payload + PartialEq + std::fmt::Debug>(payload: &P, json: &Json) {
    assert!(P::EXACT);
    payload.check().unwrap();
    assert_eq!(payload.to_json().unwrap().to_text(), json.to_text());
    assert_eq!(&P::from_json(json).unwrap(), payload);
    assert_eq!(Json::from_serialize(payload).unwrap().to_text(), json.to_text());
    assert_eq!(&json.read::<P>().unwrap(), payload);
}

#[test]
fn each_event_has_its_stored_form() {
    check(&UserMessage(user()), &user().to_json());
    check(
        &AssistantChunk {
            turn: 1,
            step: 2,
            chunk: Chunk::Finish { reason: Finish::Stop, replay_state: None },
        },
        &object! {
            "turn": 1,
            "step": 2,
            "chunk": object! { "type": "finish", "reason": object! { "kind": "stop" } },
        },
    );
    check(
        &AssistantMessage { turn: 1, step: 2, message: assistant(), usage: None },
        &object! { "turn": 1, "step": 2, "message": assistant().to_json() },
    );
    check(
        &AssistantMessage { turn: 1, step: 2, message: assistant(), usage: Some(Usage::default()) },
        &object! {
            "turn": 1,
            "step": 2,
            "message": assistant().to_json(),
            "usage": object! { "inputTokens": 0, "outputTokens": 0 },
        },
    );
    check(
        &ToolCall { turn: 1, step: 2, call_id: "c1".into(), name: "read".into(), arguments: "{".into() },
        &object! { "turn": 1, "step": 2, "callId": "c1", "name": "read", "arguments": "{" },
    );
    check(&result(), &object! { "turn": 1, "step": 2, "message": answer("ok").to_json() });
    check(
        &ToolResult {
            error: Some(CodedError { name: "FsError".into(), code: "FS_NOT_FOUND".into() }),
            meta: Some(Json::Null),
            ..result()
        },
        &object! {
            "turn": 1,
            "step": 2,
            "message": answer("ok").to_json(),
            "error": object! { "name": "FsError", "code": "FS_NOT_FOUND" },
            "meta": Json::Null,
        },
    );
}

#[test]
fn who_may_say_what_is_checked_alike_on_both_ways() {
    fn refused<P: Payload>(payload: &P, error: &str) {
        assert_eq!(payload.check().unwrap_err().to_string(), error);
        let read = P::from_json(&payload.to_json().unwrap()).and_then(|payload| payload.check());
        assert_eq!(read.unwrap_err().to_string(), error);
    }
    refused(&UserMessage(assistant()), "$.role: expected `user`");
    refused(&UserMessage(answer("x")), "$.source: a tool's answer belongs to `tool/result`");
    refused(&UserMessage(Message { id: "".into(), ..user() }), "$.id: must not be empty");
    refused(
        &AssistantMessage { turn: 1, step: 1, message: user(), usage: None },
        "$.message.role: expected `assistant`",
    );
    refused(&ToolResult { message: user(), ..result() }, "$.message.source: expected the source `tool`");
    refused(
        &ToolCall { turn: 1, step: 1, call_id: "".into(), name: "n".into(), arguments: "".into() },
        "$.callId: must not be empty",
    );
}

#[test]
fn a_bad_payload_is_refused_with_its_place() {
    let call = |json| ToolCall::from_json(&json).unwrap_err().to_string();
    assert_eq!(call(object! { "turn": -1 }), "$.turn: expected a non-negative integer, found number");
    let json = object! { "turn": 1, "step": 1, "callId": "c", "name": "n", "arguments": object! {} };
    assert_eq!(call(json), "$.arguments: expected a string, found object");
    let json = object! { "turn": 1, "step": 1, "callId": "c", "name": "n", "arguments": "", "x": 1 };
    assert_eq!(call(json), "$.x: unknown field");
    let json = object! { "turn": 1, "step": 1, "message": object! { "id": "m", "role": "user", "content": array![] } };
    assert_eq!(AssistantMessage::from_json(&json).unwrap_err().to_string(), "$.message.source: missing");
}

#[test]
fn an_empty_answer_adds_nothing_to_the_history() {
    let with = |message| AssistantMessage { turn: 1, step: 1, message, usage: None }.message();
    assert_eq!(with(Message { content: Arc::new([]), ..assistant() }), None);
    assert_eq!(with(assistant()), Some(Arc::new(assistant())));
}

#[test]
fn the_stored_form_shares_the_text() {
    let words: Arc<str> = "long".into();
    let message = Message { content: text(Arc::clone(&words)), ..user() };
    let json = UserMessage(message).to_json().unwrap();
    let Some(Json::String(stored)) = json.get("content").and_then(|c| c.at(0)).and_then(|b| b.get("text"))
    else {
        panic!()
    };
    assert!(Arc::ptr_eq(stored, &words));
}
