//! Vectors of our own: each rule takes what it is for, and nothing is taken that no decision explains.

use super::{PY_RENDER, SDK_CASES, TS_RENDER, TYPE_CASES};
use crate::Kind;
use crate::trial::{check, tried};

#[test]
fn each_decision_takes_what_it_is_about() {
    check(&[
        (
            &TYPE_CASES,
            r#"{"schema": "{\"type\":\"integer\",\"enum\":[9007199254740993,1]}"}"#,
            r#"{"ts": "9007199254740992 | 1", "py": "Literal[9007199254740992, 1]"}"#,
            Some("integers are exact"),
        ),
        (
            &TYPE_CASES,
            r#"{"schema": "{\"type\":\"object\",\"properties\":{\"b\":{},\"1\":{}}}"}"#,
            r#"{"ts": "{\n  \"1\"?: JsonValue;\n  b?: JsonValue;\n} & Record<string, JsonValue>", "py": "dict[str, Any]"}"#,
            Some("keys stay where they are"),
        ),
        (
            &TYPE_CASES,
            r#"{"schema": "{\"type\":\"string\",\"const\":\"\\ud83d\"}"}"#,
            r#"{"ts": "x", "py": "x"}"#,
            Some("text is Unicode"),
        ),
        (
            &TS_RENDER,
            r#"{"kind": "tools", "tools": [{"name": "a", "description": "\u001b\u202e"}, {"name": "b", "description": "@ts-x"}]}"#,
            r#"{"args_map": "interface ToolArgsMap {\n  /** \u001b\u202e */\n  a: unknown;\n  /** @ts-x */\n  b: unknown;\n}",
                "output_map": "interface ToolOutputMap {\n  a: unknown;\n  b: unknown;\n}"}"#,
            Some("a comment is nothing but a comment"),
        ),
        (
            &PY_RENDER,
            r#"{"kind": "tools", "tools": [{"name": "a", "description": "\u202e"}, {"name": "b-", "description": "\u2066"}, {"name": "c-", "description": "type: x"}]}"#,
            r#"{"typing_imports": ["Any", "Protocol"], "classes": "",
                "protocol": "class Tools(Protocol):\n    async def a(self, args: Any) -> Any:\n        \"\"\"\u202e\"\"\"\n    # tools[\"b-\"](args: Any) -> Any\n    #   \u2066\n    # tools[\"c-\"](args: Any) -> Any\n    #   type: x"}"#,
            Some("a comment is nothing but a comment"),
        ),
        (
            &SDK_CASES,
            r#"{"tools": [{"name": "a", "description": ""}, {"name": "a", "description": ""}]}"#,
            r#"{"ts": "", "py": ""}"#,
            Some("a name is declared once"),
        ),
    ]);
}

#[test]
fn what_no_rule_takes_is_as_it_was_recorded() {
    check(&[
        // What was printed by JavaScript is the double that it looks like.
        (
            &PY_RENDER,
            r#"{"kind": "schema", "schema": {"type": "integer", "const": 1152921504606847000}}"#,
            r#"{"py": "Literal[1152921504606846976]"}"#,
            None,
        ),
        (
            &TYPE_CASES,
            r#"{"schema": "{\"type\":\"string\",\"default\":-0}"}"#,
            r#"{"ts": "unknown", "py": "Any"}"#,
            None,
        ),
        // The words of the note are ours.
        (
            &PY_RENDER,
            r#"{"kind": "tools", "tools": [{"name": "a", "description": "", "parameters": {"type": "object", "properties": {"b": {"type": "null"}}}, "output": {"type": "null"}}]}"#,
            r#"{"typing_imports": ["NotRequired", "Protocol", "TypedDict"],
                "classes": "class AArgs(TypedDict):\n    b: NotRequired[None]\n    # other words",
                "protocol": "class Tools(Protocol):\n    async def a(self, args: AArgs) -> None: ..."}"#,
            None,
        ),
    ]);
}

#[test]
fn an_outcome_that_no_decision_explains_fails() {
    let rows: [(&'static Kind, &str, &str); 3] = [
        (
            &TYPE_CASES,
            r#"{"schema": "{\"type\":\"integer\",\"const\":9007199254740993}"}"#,
            r#"{"ts": "9007199254740994", "py": "Literal[9007199254740994]"}"#,
        ),
        (
            &TYPE_CASES,
            r#"{"schema": "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{\"b\":{},\"1\":{}}}"}"#,
            r#"{"ts": "{\n  \"1\"?: JsonValue;\n  b: JsonValue;\n}", "py": "dict[str, Any]"}"#,
        ),
        (&TS_RENDER, r#"{"kind": "schema", "schema": {}}"#, r#"{"ts": "JsonValue"}"#),
    ];
    for (kind, input, output) in rows {
        assert!(!tried(kind, input, output).passes, "{} {input}", kind.name);
    }
}

#[test]
fn a_malformed_vector_says_what_is_wrong() {
    let rows: [(&'static Kind, &str, &str); 3] = [
        (&SDK_CASES, "{}", "the vector has no `tools`"),
        (&SDK_CASES, r#"{"tools": [{"name": "a"}]}"#, "the vector has no `description`"),
        (&TYPE_CASES, r#"{"schema": {}}"#, "`schema` is {}, not a text"),
    ];
    for (kind, input, expected) in rows {
        let tried = tried(kind, input, "{}");
        assert!(!tried.passes && tried.said.starts_with(expected), "{input}: {}", tried.said);
    }
}
