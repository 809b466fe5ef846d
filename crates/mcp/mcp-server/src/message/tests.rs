use super::*;

/// What a line comes to, in a few words.
fn told(line: &[u8]) -> String {
    match read(line) {
        Read::Nothing => "nothing".to_owned(),
        Read::Message(message) => format!("message {}", serde_json::to_string(&message).unwrap()),
        Read::Call(message, call) => {
            let message = serde_json::to_string(&message).unwrap();
            assert!(!message.contains("arguments"), "{message}");
            format!("call {} {} {}", call.id, call.name, call.arguments)
        }
        Read::Refused(id, error) => {
            let id = id.map_or_else(|| "none".to_owned(), |id| id.to_string());
            format!("{id} {} {}", error.code.0, error.message)
        }
    }
}

#[track_caller]
fn check(line: &str, expected: &str) {
    assert_eq!(told(line.as_bytes()), expected, "{line}");
}

#[test]
fn messages_are_read() {
    check("  ", "nothing");
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    check(&format!("\u{feff}{ping}\r"), &format!("message {ping}"));
    let cancelled = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
    check(cancelled, &format!("message {cancelled}"));
}

#[test]
fn arguments_stay_as_they_were_written() {
    let call = |rest: &str| {
        format!(r#"{{"method":"tools/call","jsonrpc":"2.0","params":{{"name":"a"{rest}}},"id":"x"}}"#)
    };
    check(&call(""), "call x a {}");
    check(&call(r#","arguments":null"#), "call x a {}");
    check(&call(r#","arguments":[1]"#), "call x a [1]");
    check(&call(r#","arguments":{"n": 123456789012345678901234567890, "n":-0}"#), {
        r#"call x a {"n": 123456789012345678901234567890, "n":-0}"#
    });
    let deep = format!("{}{}", "[".repeat(9_000), "]".repeat(9_000));
    check(&call(&format!(r#","arguments":{deep}"#)), &format!("call x a {deep}"));
    check(&call(r#","_meta":{"progressToken":4},"task":{}"#), "call x a {}");
}

#[test]
fn what_is_no_message_is_refused_with_its_id_where_it_has_one() {
    check("nonsense", "none -32700 the message is not JSON: expected ident at line 1 column 2");
    check("[]", &format!("none -32600 {}", words::BATCH));
    check(r#"{"id":3}"#, &format!("3 -32600 {}", words::NO_METHOD));
    check(r#"{"id":null,"method":"ping"}"#, &format!("none -32600 {}", words::BAD_ID));
    check(r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, &format!("none -32600 {}", words::BAD_ID));
    check(r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"a","arguments":{"x"#, {
        "5 -32700 the message is not JSON: EOF while parsing a string at line 1 column 82"
    });
    check(r#"{"jsonrpc":"2.0","id":5,"method":"tools/call"}"#, &format!("5 -32602 {}", words::NO_PARAMS));
    check(
        r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":1}}"#,
        &format!("5 -32602 {}", words::NO_NAME),
    );
    check(
        r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"a","_meta":1}}"#,
        &format!("5 -32602 {}", words::BAD_META),
    );
    let told = told(b"{\"jsonrpc\":\"2.0\",\"id\":6,\"method\":\"a\xff\"}");
    assert_eq!(told, "6 -32700 the message is not UTF-8: byte 36 can't be read");
}

#[test]
fn deep_messages_are_refused_without_recursion() {
    let deep = "[".repeat(1_000_000);
    let line = format!(r#"{{"jsonrpc":"2.0","id":6,"method":"tools/list","params":{{"a":{deep}"#);
    assert!(told(line.as_bytes()).starts_with("6 -32700 "), "EOF");
    let line = format!("{line}{}}}}}", "]".repeat(1_000_000));
    assert!(
        told(line.as_bytes()).starts_with("6 -32600 the message can't be read: recursion limit"),
        "{}",
        &told(line.as_bytes())[..90]
    );
}
