use super::*;
use crate::kind::Kind;
use crate::trial::{check, tried};

#[test]
fn a_rule_takes_what_its_decision_changes() {
    check(&[
        (
            &validate::KIND,
            r#"{"schema": {"type": "integer"}, "value_text": "123456789012345678901"}"#,
            r#"{"valid": true, "paths": []}"#,
            Some("integers have 64 bits"),
        ),
        (
            &value_cases::KIND,
            r#"{"root": "value", "schema": "{}", "value": "\"\\ud800\""}"#,
            r#"{"violations": []}"#,
            Some("text is Unicode"),
        ),
        (
            &validate::KIND,
            r#"{"schema_text": "{\"type\":\"integer\",\"const\":9007199254740993}", "value_text": "9007199254740992"}"#,
            r#"{"valid": true, "paths": []}"#,
            Some("integers are exact"),
        ),
        (
            &dsl_cases::KIND,
            r#"{"form": "value", "spec": "{\"type\":\"integer\",\"const\":9007199254740993}"}"#,
            r#"{"compiled": "{\"type\":\"integer\",\"const\":9007199254740992}"}"#,
            Some("integers are exact"),
        ),
        (
            &dsl_cases::KIND,
            r#"{"form": "params", "spec": "{\"b\":{\"type\":\"null\"},\"1\":{\"type\":\"null\",\"required\":true}}"}"#,
            r#"{"compiled": "{\"type\":\"object\",\"properties\":{\"1\":{\"type\":\"null\"},\"b\":{\"type\":\"null\"}},\"required\":[\"1\"]}"}"#,
            Some("keys stay where they are"),
        ),
        (
            &value_cases::KIND,
            r#"{"root": "", "schema": "{\"type\":\"object\",\"additionalProperties\":false}", "value": "{\"a\":1,\"10\":1,\"9\":1}"}"#,
            r#"{"violations": [
                {"kind": "undeclared_property", "path": "9"},
                {"kind": "undeclared_property", "path": "10"},
                {"kind": "undeclared_property", "path": "a"}
            ]}"#,
            Some("keys stay where they are"),
        ),
    ]);
}

#[test]
fn what_no_rule_takes_is_as_it_was_recorded() {
    check(&[
        // What was printed by JavaScript is the double that it looks like, and no rule is needed.
        (
            &validate::KIND,
            r#"{"schema": {"type": "integer", "const": 9007199254740992}, "value": 9007199254740992, "path": "x"}"#,
            r#"{"valid": true, "paths": []}"#,
            None,
        ),
        // Numbers that JavaScript refuses, too, where they could be taken for something else.
        (
            &schema_support::KIND,
            r#"{"schema_text": "{\"type\":\"string\",\"enum\":-0}"}"#,
            r#"{"supported": {"accepted": false, "error": {"paths": ["schema.enum"]}},
                "object_root": {"accepted": false, "error": {}}}"#,
            None,
        ),
        (
            &schema_cases::KIND,
            r#"{"schema": "{\"type\":\"object\",\"required\":1e400,\"properties\":{\"type\":{\"title\":-0.0}}}"}"#,
            r#"{"assert": [
                    {"kind": "annotation_not_lossless", "path": "schema.properties.type.title"},
                    {"kind": "annotation_not_string", "path": "schema.properties.type.title"},
                    {"kind": "required_not_string_array", "path": "schema.required"}
                ],
                "assert_object_root": [
                    {"kind": "annotation_not_lossless", "path": "schema.properties.type.title"},
                    {"kind": "annotation_not_string", "path": "schema.properties.type.title"},
                    {"kind": "required_not_string_array", "path": "schema.required"}
                ]}"#,
            None,
        ),
        (
            &dsl_cases::KIND,
            r#"{"form": "params", "spec": "{\"a\":{\"oneOf\":-0}}"}"#,
            r#"{"error": [{"kind": "dsl_oneof_not_array", "path": "parameters.a.oneOf"}]}"#,
            None,
        ),
        (
            &param_dsl::KIND,
            r#"{"kind": "value", "spec_text": "{\"type\":\"array\",\"items\":-1e400}"}"#,
            r#"{"error": {"code": "UNSUPPORTED_SCHEMA", "paths": ["schema.items"]}}"#,
            None,
        ),
        (
            &value_cases::KIND,
            r#"{"schema": "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}", "value": "[-0 , \"a\"\r]"}"#,
            r#"{"violations": [{"kind": "wrong_type", "path": "value[0]", "arg": "string"}]}"#,
            None,
        ),
    ]);
}

#[test]
fn an_outcome_that_no_decision_explains_fails() {
    let exact = r#"{"schema": {"type": "integer"}, "value_text": "9007199254740993", "path": "value"}"#;
    let order = r#"{"root": "", "schema": "{\"type\":\"object\",\"additionalProperties\":false}", "value": "{\"a\":1,\"1\":1}"}"#;
    let rows: [(&'static Kind, &str, &str); 4] = [
        (&validate::KIND, exact, r#"{"valid": false, "paths": ["value"]}"#),
        (&value_cases::KIND, order, r#"{"violations": [{"kind": "undeclared_property", "path": "a"}]}"#),
        (
            &param_dsl::KIND,
            r#"{"kind": "value", "spec": {"type": "null"}}"#,
            r#"{"ok": {"type": "null", "x": 1}}"#,
        ),
        (&schema_support::KIND, r#"{"schema": 1}"#, r#"{"supported": {"accepted": true}}"#),
    ];
    for (kind, input, output) in rows {
        assert!(!tried(kind, input, output).passes, "{} {input}", kind.name);
    }
}

#[test]
fn a_malformed_vector_says_what_is_wrong() {
    let rows: [(&'static Kind, &str, &str); 8] = [
        (&param_dsl::KIND, "{}", "the vector has no `kind`"),
        (
            &param_dsl::KIND,
            r#"{"kind": "values", "spec": 1}"#,
            "`kind` is \"values\", not `parameters` or `value`",
        ),
        (&param_dsl::KIND, r#"{"kind": "value"}"#, "the vector has no `spec`"),
        (&dsl_cases::KIND, r#"{"form": "value", "spec": {}}"#, "`spec` is {}, not a text"),
        (&schema_support::KIND, "[]", "the vector has no `schema`"),
        (&schema_cases::KIND, r#"{"schema": "{"}"#, "a text is not JSON: "),
        (&validate::KIND, r#"{"schema": {"type": "x"}, "value": 1}"#, "the scene could not be set: "),
        (&value_cases::KIND, r#"{"schema": "{}", "value": "1", "root": 1}"#, "`root` is 1, not a text"),
    ];
    for (kind, input, expected) in rows {
        let tried = tried(kind, input, "{}");
        assert!(!tried.passes && tried.said.starts_with(expected), "{input}: {}", tried.said);
    }
}
