use dsh_json::{array, object};

use super::*;

fn call(id: &str) -> ContentBlock {
    ContentBlock::ToolCall {
        id: id.into(),
        name: "read".into(),
        arguments: "{".into(),
        provider_call_id: None,
    }
}

fn result(content: Content) -> ContentBlock {
    ContentBlock::ToolResult { tool_call_id: "c1".into(), content, is_error: true }
}

/// Stored form and block say the same, also by way of serde.
fn check(block: &ContentBlock, json: &Json) {
    assert_eq!(block.to_json().to_text(), json.to_text());
    assert_eq!(&ContentBlock::from_json(json).unwrap(), block);
    assert_eq!(Json::from_serialize(block).unwrap().to_text(), json.to_text());
    assert_eq!(&json.read::<ContentBlock>().unwrap(), block);
    block.check().unwrap();
}

fn refused(json: &Json, error: &str) {
    assert_eq!(ContentBlock::from_json(json).unwrap_err().to_string(), error);
}

#[test]
fn each_block_has_its_stored_form() {
    check(&ContentBlock::Text { text: "x".into() }, &object! { "type": "text", "text": "x" });
    check(&ContentBlock::Reasoning { text: "x".into() }, &object! { "type": "reasoning", "text": "x" });
    let attachment = object! { "sha": "1" };
    check(
        &ContentBlock::Image { attachment: attachment.clone() },
        &object! { "type": "image", "attachment": attachment },
    );
    check(&call("c1"), &object! { "type": "tool-call", "id": "c1", "name": "read", "arguments": "{" });
    let renamed = ContentBlock::ToolCall {
        id: "c2".into(),
        name: "read".into(),
        arguments: "".into(),
        provider_call_id: Some("c1".into()),
    };
    check(
        &renamed,
        &object! { "type": "tool-call", "id": "c2", "name": "read", "arguments": "", "providerCallId": "c1" },
    );
    check(
        &result(text("no")),
        &object! {
            "type": "tool-result",
            "toolCallId": "c1",
            "content": array![object! { "type": "text", "text": "no" }],
            "isError": true,
        },
    );
}

#[test]
fn an_unknown_block_is_kept_byte_for_byte() {
    let json = Json::parse(r#"{"z":1.0,"type":"video","a":[1e300,null]}"#).unwrap();
    let block = ContentBlock::from_json(&json).unwrap();
    assert_eq!(block, ContentBlock::Other(json.clone()));
    check(&block, &json);
    assert_eq!(block.block_type(), "video");
}

#[test]
fn an_absent_error_mark_means_success() {
    let json = object! { "type": "tool-result", "toolCallId": "c", "content": array![] };
    let expected =
        ContentBlock::ToolResult { tool_call_id: "c".into(), content: Arc::new([]), is_error: false };
    assert_eq!(ContentBlock::from_json(&json), Ok(expected));
}

#[test]
fn a_bad_block_is_refused_with_its_place() {
    refused(&Json::from(1), "$: expected an object, found number");
    refused(&object! { "text": "x" }, "$.type: missing");
    refused(&object! { "type": "" }, "$.type: must not be empty");
    refused(&object! { "type": "text" }, "$.text: missing");
    refused(&object! { "type": "text", "text": 1 }, "$.text: expected a string, found number");
    refused(&object! { "type": "text", "text": "x", "bold": true }, "$.bold: unknown field");
    refused(
        &object! { "type": "tool-call", "id": "", "name": "n", "arguments": "" },
        "$.id: must not be empty",
    );
    let inner = array![object! { "type": "text", "text": "x" }, object! { "type": "text" }];
    refused(
        &object! { "type": "tool-result", "toolCallId": "c", "content": inner },
        "$.content[1].text: missing",
    );
}

#[test]
fn a_result_in_a_result_is_refused_at_any_depth() {
    let nested = result(Arc::new([result(text("x"))]));
    let error = "$.content[0]: a tool result can't hold another tool result";
    assert_eq!(nested.check().unwrap_err().to_string(), error);
    refused(&nested.to_json(), error);

    let mut deep = array![];
    for _ in 0..9_000 {
        deep = array![object! { "type": "tool-result", "toolCallId": "c", "content": deep }];
    }
    assert!(content_from_json(&deep).is_err());
}

#[test]
fn a_known_type_can_not_pass_as_unknown() {
    let check = |json| ContentBlock::Other(json).check().unwrap_err().to_string();
    assert_eq!(check(object! { "type": "text", "text": "x" }), "$.type: a known type kept as unknown");
    assert_eq!(check(Json::Null), "$: expected an object, found null");
    assert_eq!(check(object! {}), "$.type: missing");
}

#[test]
fn plain_text_marks_what_is_not_text() {
    let content = [
        ContentBlock::Text { text: "a\n".into() },
        ContentBlock::Image { attachment: Json::Null },
        ContentBlock::Other(object! { "type": "video" }),
        ContentBlock::Text { text: "b".into() },
    ];
    assert_eq!(plain_text(&content), "a\n\n[image]\n[video]\nb");
    assert_eq!(plain_text(&[]), "");
}

#[test]
fn reading_shares_the_text() {
    let words: Arc<str> = "long".into();
    let json = object! { "type": "text", "text": Arc::clone(&words) };
    let ContentBlock::Text { text } = ContentBlock::from_json(&json).unwrap() else { panic!() };
    assert!(Arc::ptr_eq(&text, &words));
}
