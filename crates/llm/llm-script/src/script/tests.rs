use super::*;

fn steps(text: &str) -> Vec<Step> {
    Script::from_text(text).unwrap().steps
}

#[track_caller]
fn refuses(text: &str, want: &str) {
    assert_eq!(Script::from_text(text).unwrap_err().to_string(), want);
}

fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall { id: id.into(), name: name.into(), arguments: arguments.into() }
}

#[test]
fn a_step_is_read_with_its_defaults() {
    assert_eq!(steps(r#"{"steps": []}"#), []);
    assert_eq!(steps(r#"{"steps": [{}]}"#), [Step::text("")]);
    assert_eq!(steps(r#"{"steps": [{"text": "done"}]}"#), [Step::text("done")]);
    let called = r#"{"steps": [{"text": "x", "toolCalls": [{"name": "t", "arguments": "{"}]}]}"#;
    assert_eq!(steps(called), [Step::calls("x", vec![call("call-1", "t", "{")])]);
}

#[test]
fn every_key_is_read() {
    let text = r#"{"steps": [{
        "text": "t", "reasoning": "r", "toolCalls": [], "finish": "tool-calls", "delayMs": 5, "chunks": 3
    }]}"#;
    let want = Step {
        reasoning: Some("r".into()),
        finish: Finish::ToolCalls,
        delay: Duration::from_millis(5),
        chunks: NonZeroUsize::new(3).unwrap(),
        ..Step::text("t")
    };
    assert_eq!(steps(text), [want]);
}

#[test]
fn finishes_are_named() {
    let finish = |name: &str| steps(&format!(r#"{{"steps": [{{"finish": "{name}"}}]}}"#)).remove(0).finish;
    assert_eq!(finish("stop"), Finish::Stop);
    assert_eq!(finish("tool-calls"), Finish::ToolCalls);
    assert_eq!(finish("max-tokens"), Finish::MaxTokens);
    let facts = ErrorFacts::new("SCRIPTED_ERROR", "the script ends this answer with an error");
    assert_eq!(finish("error"), Finish::Error(facts));
}

#[test]
fn a_missing_id_counts_the_calls_of_the_whole_script() {
    let text = r#"{"steps": [
        {"toolCalls": [{"name": "a", "arguments": {}}, {"id": "mine", "name": "b", "arguments": {}}]},
        {"toolCalls": [{"name": "c", "arguments": {}}]}
    ]}"#;
    let ids: Vec<_> = steps(text).into_iter().flat_map(|step| step.tool_calls).map(|call| call.id).collect();
    assert_eq!(ids, ["call-1".into(), "mine".into(), Arc::from("call-3")]);
}

#[test]
fn arguments_are_an_object_or_the_raw_text() {
    let arguments = |value: &str| {
        let text = format!(r#"{{"steps": [{{"toolCalls": [{{"name": "t", "arguments": {value}}}]}}]}}"#);
        steps(&text).remove(0).tool_calls.remove(0).arguments
    };
    assert_eq!(&*arguments(r#"{ "b": 1.0, "a": [ "é", null ] }"#), r#"{"b":1.0,"a":["é",null]}"#);
    assert_eq!(&*arguments(r#""{\"file_path\": ""#), r#"{"file_path": "#);
    assert_eq!(&*arguments(r#""""#), "");
}

#[test]
fn what_is_not_a_script_is_refused_with_its_place() {
    refuses("[]", "$: expected an object, found array");
    refuses("{}", "$.steps: missing");
    refuses(r#"{"steps": {}}"#, "$.steps: expected an array, found object");
    refuses(r#"{"steps": [], "step": 1}"#, "$.step: unknown field");
    refuses(r#"{"steps": [1]}"#, "$.steps[0]: expected an object, found number");
    refuses(r#"{"steps": [{"txt": ""}]}"#, "$.steps[0].txt: unknown field");
    refuses(r#"{"steps": [{}, {"text": null}]}"#, "$.steps[1].text: expected a string, found null");
    refuses(
        r#"{"steps": [{"finish": "done"}]}"#,
        "$.steps[0].finish: expected `stop`, `tool-calls`, `max-tokens` or `error`",
    );
    refuses(r#"{"steps": [{"chunks": 0}]}"#, "$.steps[0].chunks: must be at least 1");
    refuses(
        r#"{"steps": [{"chunks": 1.5}]}"#,
        "$.steps[0].chunks: expected a non-negative integer, found number",
    );
    refuses(
        r#"{"steps": [{"delayMs": -1}]}"#,
        "$.steps[0].delayMs: expected a non-negative integer, found number",
    );
    refuses(r#"{"steps": [{"toolCalls": 1}]}"#, "$.steps[0].toolCalls: expected an array, found number");
}

#[test]
fn a_call_is_refused_with_its_place() {
    let refuses_call = |call: &str, want: &str| {
        let text = format!(r#"{{"steps": [{{}}, {{}}, {{"toolCalls": [{call}]}}]}}"#);
        refuses(&text, &format!("$.steps[2].toolCalls[0]{want}"));
    };
    refuses_call(r#"{"name": "t"}"#, ".arguments: missing");
    refuses_call(
        r#"{"name": "t", "arguments": [1]}"#,
        ".arguments: expected an object or a string, found array",
    );
    refuses_call(
        r#"{"name": "t", "arguments": null}"#,
        ".arguments: expected an object or a string, found null",
    );
    refuses_call(r#"{"arguments": {}}"#, ".name: missing");
    refuses_call(r#"{"name": 1, "arguments": {}}"#, ".name: expected a string, found number");
    refuses_call(r#"{"id": "", "name": "t", "arguments": {}}"#, ".id: must not be empty");
    refuses_call(r#"{"name": "t", "arguments": {}, "args": 1}"#, ".args: unknown field");
}

#[test]
fn what_is_not_json_is_refused() {
    assert!(matches!(Script::from_text("{\"steps\": ["), Err(ScriptError::Json(_))));
}
