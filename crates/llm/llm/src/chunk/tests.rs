use dsh_json::object;

use super::*;
use crate::finish::ErrorFacts;

fn check(chunk: &Chunk, text: &str) {
    let json = Json::parse(text).unwrap();
    assert_eq!(chunk.to_json().to_text(), text);
    assert_eq!(Chunk::from_json(&json).as_ref(), Ok(chunk));
    assert_eq!(&json.read::<Chunk>().unwrap(), chunk);
    assert_eq!(Json::from_serialize(chunk).unwrap(), json);
    chunk.check().unwrap();
}

#[test]
fn each_chunk_has_its_stored_form() {
    check(
        &Chunk::BlockStart { index: 0, block_type: "text".into() },
        r#"{"type":"block-start","index":0,"blockType":"text"}"#,
    );
    check(&Chunk::TextDelta { index: 1, text: "a".into() }, r#"{"type":"text-delta","index":1,"text":"a"}"#);
    check(
        &Chunk::ReasoningDelta { index: 1, text: "a".into() },
        r#"{"type":"reasoning-delta","index":1,"text":"a"}"#,
    );
    check(
        &Chunk::ToolCallDelta { index: 2, id: "c".into(), name: None, arguments_delta: "{".into() },
        r#"{"type":"tool-call-delta","index":2,"id":"c","argumentsDelta":"{"}"#,
    );
    check(
        &Chunk::ToolCallDelta {
            index: 2,
            id: "c".into(),
            name: Some("read".into()),
            arguments_delta: "".into(),
        },
        r#"{"type":"tool-call-delta","index":2,"id":"c","name":"read","argumentsDelta":""}"#,
    );
    check(
        &Chunk::BlockEnd { index: 0, block: ContentBlock::Text { text: "a".into() } },
        r#"{"type":"block-end","index":0,"block":{"type":"text","text":"a"}}"#,
    );
    check(
        &Chunk::Usage { usage: Usage { input_tokens: 1, output_tokens: 2, ..Usage::default() } },
        r#"{"type":"usage","usage":{"inputTokens":1,"outputTokens":2}}"#,
    );
    check(
        &Chunk::Finish { reason: Finish::Stop, replay_state: Some(Json::Null) },
        r#"{"type":"finish","reason":{"kind":"stop"},"replayState":null}"#,
    );
}

#[test]
fn each_finish_has_its_stored_form() {
    let facts = ErrorFacts {
        status: Some(429),
        provider_retry_after_ms: Some(1_000),
        request_id: Some("r".into()),
        ..ErrorFacts::new("RATE", "slow down")
    };
    let rows = [
        (Finish::Stop, r#"{"kind":"stop"}"#),
        (Finish::ToolCalls, r#"{"kind":"tool-calls"}"#),
        (Finish::MaxTokens, r#"{"kind":"max-tokens"}"#),
        (Finish::Aborted, r#"{"kind":"aborted"}"#),
        (
            Finish::Error(ErrorFacts::new("X", "broke")),
            r#"{"kind":"error","error":{"message":"broke","code":"X"}}"#,
        ),
        (
            Finish::Error(facts),
            r#"{"kind":"error","error":{"message":"slow down","code":"RATE","status":429,"providerRetryAfterMs":1000,"requestId":"r"}}"#,
        ),
    ];
    for (finish, text) in rows {
        check(
            &Chunk::Finish { reason: finish, replay_state: None },
            &format!(r#"{{"type":"finish","reason":{text}}}"#),
        );
    }
}

#[test]
fn usage_tells_absent_counts_from_zero() {
    let usage = Usage {
        input_tokens: 1,
        output_tokens: 2,
        cache_read_tokens: Some(0),
        cache_write_tokens: Some(3),
        reasoning_tokens: Some(4),
    };
    check(
        &Chunk::Usage { usage },
        r#"{"type":"usage","usage":{"inputTokens":1,"outputTokens":2,"cacheReadTokens":0,"cacheWriteTokens":3,"reasoningTokens":4}}"#,
    );
}

#[test]
fn a_bad_chunk_is_refused_with_its_place() {
    let rows = [
        (object! { "type": "noise" }, "$.type: unknown chunk type"),
        (
            object! { "type": "text-delta", "index": -1, "text": "" },
            "$.index: expected a non-negative integer, found number",
        ),
        (
            object! { "type": "text-delta", "index": 4_294_967_296_u64, "text": "" },
            "$.index: larger than 4294967295",
        ),
        (object! { "type": "text-delta", "index": 0, "text": "", "x": 1 }, "$.x: unknown field"),
        (
            object! { "type": "finish", "reason": object! { "kind": "tired" } },
            "$.reason.kind: unknown finish",
        ),
        (object! { "type": "usage", "usage": object! { "inputTokens": 1 } }, "$.usage.outputTokens: missing"),
        (
            object! { "type": "block-end", "index": 0, "block": object! { "type": "text" } },
            "$.block.text: missing",
        ),
    ];
    for (json, error) in rows {
        assert_eq!(Chunk::from_json(&json).unwrap_err().to_string(), error);
    }
}

#[test]
fn what_would_not_be_read_back_is_refused() {
    let start = Chunk::BlockStart { index: 0, block_type: "".into() };
    assert_eq!(start.check().unwrap_err().to_string(), "$.blockType: must not be empty");
    let end = Chunk::BlockEnd { index: 0, block: ContentBlock::Other(Json::Null) };
    assert_eq!(end.check().unwrap_err().to_string(), "$.block: expected an object, found null");
}
