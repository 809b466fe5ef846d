use dsh_json::array;
use dsh_llm::{ContentBlock, Message, Role, Source, ToolSchema};

use super::*;

fn message(role: Role, source: Source, content: Vec<ContentBlock>) -> Arc<Message> {
    Arc::new(Message { id: "m".into(), role, content: content.into(), source })
}

fn text(text: &str) -> ContentBlock {
    ContentBlock::Text { text: text.into() }
}

fn user(content: Vec<ContentBlock>) -> Arc<Message> {
    message(Role::User, Source::User, content)
}

fn said(content: Vec<ContentBlock>) -> Arc<Message> {
    let source = Source::Model { provider: "p".into(), model: "m".into(), replay_state: None };
    message(Role::Assistant, source, content)
}

fn call(id: &str, arguments: &str) -> ContentBlock {
    ContentBlock::ToolCall {
        id: id.into(),
        name: "read".into(),
        arguments: arguments.into(),
        provider_call_id: None,
    }
}

fn result(id: &str, words: &str) -> Arc<Message> {
    let result = ContentBlock::ToolResult {
        tool_call_id: id.into(),
        content: Arc::new([text(words)]),
        is_error: true,
    };
    message(Role::User, Source::Tool { call_id: id.into() }, vec![result])
}

/// The messages that a history becomes.
fn check(history: Vec<Arc<Message>>, expected: &Json) {
    let request = ModelRequest { messages: history, ..Default::default() };
    let body = Json::parse(&request_body(&request, "m", Dialect::default())).unwrap();
    assert_eq!(body.get("messages").unwrap().to_pretty(), expected.to_pretty());
}

fn asked(id: &str, arguments: &str) -> Json {
    object! { "id": id, "type": "function", "function": object! { "name": "read", "arguments": arguments } }
}

fn answered(id: &str, content: &str) -> Json {
    object! { "role": "tool", "tool_call_id": id, "content": content }
}

#[test]
fn the_bytes_of_a_request() {
    let tool = ToolSchema {
        name: "read".into(),
        description: "Reads a file.".into(),
        parameters: object! { "type": "object", "properties": object! { "path": object! { "type": "string" } } },
    };
    let request = ModelRequest {
        system: Some("Be brief.".into()),
        messages: vec![
            user(vec![text("Look at a.txt")]),
            said(vec![
                ContentBlock::Reasoning { text: "hm".into() },
                text("I look."),
                call("c1", "{\"path\": \"a.txt\"}"),
            ]),
            result("c1", "héllo"),
        ],
        tools: Arc::new([tool]),
        max_tokens: Some(100),
    };
    let plain = request_body(&request, "some-model", Dialect::default());
    let expected = r#"{"model":"some-model","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Look at a.txt"},{"role":"assistant","content":"I look.","tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{\"path\": \"a.txt\"}"}}]},{"role":"tool","tool_call_id":"c1","content":"héllo"}],"tools":[{"type":"function","function":{"name":"read","description":"Reads a file.","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}}],"max_tokens":100,"stream":true,"stream_options":{"include_usage":true}}"#;
    assert_eq!(plain, expected);
    assert_eq!(request_body(&request.clone(), "some-model", Dialect::default()), plain);
    let other = Dialect { max_tokens_field: MaxTokensField::MaxCompletionTokens, send_reasoning: true };
    let expected = expected
        .replace("max_tokens", "max_completion_tokens")
        .replace(r#""content":"I look.","#, r#""content":"I look.","reasoning_content":"hm","#);
    assert_eq!(request_body(&request, "some-model", other), expected);
}

#[test]
fn nothing_that_is_not_asked_for_is_sent() {
    assert_eq!(
        request_body(&ModelRequest::default(), "m", Dialect::default()),
        r#"{"model":"m","messages":[],"stream":true,"stream_options":{"include_usage":true}}"#,
    );
}

#[test]
fn reasoning_is_sent_only_where_tools_are_and_then_with_each_answer() {
    let dialect = Dialect { send_reasoning: true, ..Dialect::default() };
    let thought = ContentBlock::Reasoning { text: "hm".into() };
    let mut request = ModelRequest {
        messages: vec![said(vec![thought, text("a")]), user(vec![text("b")]), said(vec![text("c")])],
        ..Default::default()
    };
    assert!(!request_body(&request, "m", dialect).contains("reasoning_content"));
    request.messages.push(said(vec![call("c1", "")]));
    let body = request_body(&request, "m", dialect);
    assert!(body.contains(r#"{"role":"assistant","content":"a","reasoning_content":"hm"}"#), "{body}");
    assert!(
        body.contains(r#"{"role":"assistant","content":"c","reasoning_content":"","tool_calls""#),
        "{body}"
    );
    assert!(!request_body(&request, "m", Dialect::default()).contains("reasoning_content"));
}

#[test]
fn messages_of_one_role_in_a_row_become_one() {
    check(
        vec![
            user(vec![text("a"), text("b")]),
            user(vec![text("c")]),
            said(vec![text("d")]),
            user(vec![]),
            said(vec![text("e")]),
        ],
        &array![
            object! { "role": "user", "content": "a\nb\n\nc" },
            object! { "role": "assistant", "content": "d\n\ne" },
        ],
    );
}

#[test]
fn an_answer_of_thoughts_alone_is_left_out() {
    check(
        vec![
            user(vec![text("a")]),
            said(vec![ContentBlock::Reasoning { text: "hm".into() }]),
            said(vec![]),
            user(vec![text("b")]),
        ],
        &array![object! { "role": "user", "content": "a\n\nb" }],
    );
}

#[test]
fn results_follow_their_calls_in_the_order_of_the_calls() {
    check(
        vec![
            said(vec![call("c1", "{\"cut"), call("c2", "")]),
            user(vec![text("in between")]),
            result("c2", "two"),
            result("c1", "Error: one"),
            said(vec![text("done")]),
        ],
        &array![
            object! {
                "role": "assistant", "content": Json::Null,
                "tool_calls": array![asked("c1", "{\"cut"), asked("c2", "")],
            },
            answered("c1", "Error: one"),
            answered("c2", "two"),
            object! { "role": "user", "content": "in between" },
            object! { "role": "assistant", "content": "done" },
        ],
    );
}

#[test]
fn a_late_result_parts_no_answer() {
    check(
        vec![
            said(vec![call("c1", "")]),
            user(vec![text("a")]),
            said(vec![text("b")]),
            result("c1", "one"),
            said(vec![text("c")]),
        ],
        &array![
            object! { "role": "assistant", "content": Json::Null, "tool_calls": array![asked("c1", "")] },
            answered("c1", "one"),
            object! { "role": "user", "content": "a" },
            object! { "role": "assistant", "content": "b\n\nc" },
        ],
    );
}

#[test]
fn a_call_without_a_result_gets_one_that_says_so() {
    let none =
        "Error: no result of this call is on record. Whether it ran is unknown: look before you repeat it.";
    check(
        vec![said(vec![call("c1", "{}"), call("c2", "{}")]), result("c2", "two"), user(vec![text("go on")])],
        &array![
            object! {
                "role": "assistant", "content": Json::Null,
                "tool_calls": array![asked("c1", "{}"), asked("c2", "{}")],
            },
            answered("c1", none),
            answered("c2", "two"),
            object! { "role": "user", "content": "go on" },
        ],
    );
}

#[test]
fn a_result_without_a_call_is_told_as_the_users_words() {
    let orphan = "A tool answered a call that is not part of this conversation:\n";
    check(
        vec![result("c1", "before"), said(vec![call("c1", "")]), result("c1", "one"), result("c1", "again")],
        &array![
            object! { "role": "user", "content": format!("{orphan}before") },
            object! { "role": "assistant", "content": Json::Null, "tool_calls": array![asked("c1", "")] },
            answered("c1", "one"),
            object! { "role": "user", "content": format!("{orphan}again") },
        ],
    );
}

#[test]
fn an_id_that_was_used_again_has_its_own_result() {
    let turn = |said: &str| object! { "role": "assistant", "content": Json::Null, "tool_calls": array![asked("c1", said)] };
    check(
        vec![
            said(vec![call("c1", "1")]),
            result("c1", "one"),
            said(vec![call("c1", "2")]),
            result("c1", "two"),
        ],
        &array![turn("1"), answered("c1", "one"), turn("2"), answered("c1", "two")],
    );
}

#[test]
fn pictures_are_sent_where_they_can_be() {
    let image = |attachment: Json| ContentBlock::Image { attachment };
    let url = "data:image/png;base64,AAAA";
    let part = |text: &str| object! { "type": "text", "text": text };
    let picture = object! { "type": "image_url", "image_url": object! { "url": url } };
    check(
        vec![
            user(vec![text("see"), image(url.into()), text("and")]),
            user(vec![image(object! { "url": url })]),
        ],
        &array![
            object! { "role": "user", "content": array![part("see"), picture.clone(), part("and"), picture] }
        ],
    );
    let odd = ContentBlock::Other(object! { "type": "chart", "points": 3 });
    check(
        vec![
            user(vec![
                text("see"),
                image(object! { "attachmentId": "a" }),
                image("https://a.example/x.png".into()),
                odd.clone(),
            ]),
            said(vec![text("yes"), odd, image(Json::Null)]),
        ],
        &array![
            object! { "role": "user", "content": "see\n[image]\n[image]\n[chart]" },
            object! { "role": "assistant", "content": "yes" },
        ],
    );
}

mod properties {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn anything() -> impl Strategy<Value = Arc<Message>> {
        let id = prop::sample::select(vec!["a", "b", "c"]);
        let block = prop_oneof![
            "[a-z]{0,3}".prop_map(|words| text(&words)),
            id.clone().prop_map(|id| call(id, "{")),
            Just(ContentBlock::Reasoning { text: "hm".into() }),
        ];
        prop_oneof![
            prop::collection::vec(block, 0..4).prop_map(said),
            "[a-z]{0,3}".prop_map(|words| user(vec![text(&words)])),
            id.prop_map(|id| result(id, "r")),
        ]
    }

    proptest! {
        #[test]
        fn any_history_becomes_a_valid_conversation(history in prop::collection::vec(anything(), 0..12)) {
            let results = history.iter().filter(|message| matches!(message.source, Source::Tool { .. })).count();
            let request = ModelRequest { messages: history, ..Default::default() };
            let body = Json::parse(&request_body(&request, "m", Dialect::default())).unwrap();
            let messages = body.get("messages").unwrap().as_array().unwrap();
            let mut told = 0;
            let mut waiting: Vec<Arc<str>> = vec![];
            let mut before = "";
            for message in messages {
                let role = message.get("role").unwrap().as_str().unwrap();
                match role {
                    "tool" => {
                        let id = message.get("tool_call_id").unwrap().as_str().unwrap();
                        prop_assert_eq!(&*waiting.remove(0), id);
                        told += usize::from(message.get("content").unwrap().as_str() == Some("r"));
                    }
                    role => {
                        prop_assert!(waiting.is_empty());
                        prop_assert!(role != before || role == "assistant" && before == "tool");
                        let calls = message.get("tool_calls").and_then(Json::as_array).unwrap_or_default();
                        waiting = calls.iter().map(|call| call.get("id").unwrap().as_str().unwrap().into()).collect();
                        prop_assert!(!calls.is_empty() || message.get("content").unwrap().as_str().is_some_and(|text| !text.is_empty()));
                        let content = message.get("content").unwrap().as_str().unwrap_or_default();
                        told += content.matches("A tool answered").count();
                    }
                }
                before = role;
            }
            prop_assert!(waiting.is_empty());
            prop_assert_eq!(told, results);
        }
    }

    #[test]
    fn roles_are_the_four_of_the_protocol() {
        let request = ModelRequest {
            system: Some("s".into()),
            messages: vec![user(vec![text("u")]), said(vec![call("a", "")])],
            ..Default::default()
        };
        let body = Json::parse(&request_body(&request, "m", Dialect::default())).unwrap();
        let roles: BTreeSet<_> = body
            .get("messages")
            .unwrap()
            .as_array()
            .unwrap()
            .iter()
            .map(|message| message.get("role").unwrap().as_str().unwrap())
            .collect();
        assert_eq!(roles, ["assistant", "system", "tool", "user"].into());
    }
}
