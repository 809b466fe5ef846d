//! The text of TypeScript (spec 05 §3, checklist 7–13).

use dsh_json::{Json, Object, array, object};
use dsh_json_schema::Schema;
use dsh_tool_sdk::{Limits, type_text};

use crate::tools::{TypeScript, closed, declarations, described, rendered, tools};

fn text(schema: &Json, level: usize) -> String {
    type_text(TypeScript, Some(&Schema::new(schema).unwrap()), level, &Limits::default()).unwrap()
}

#[test]
fn a_key_is_bare_or_a_json_string() {
    let rows = [
        ("class", "class"),
        ("$x", "$x"),
        ("_", "_"),
        ("a1", "a1"),
        ("1a", r#""1a""#),
        ("é", r#""é""#),
        ("", r#""""#),
        ("\"", r#""\"""#),
        ("a-b", r#""a-b""#),
        ("\u{7f}\u{2028}\n\u{1}", "\"\u{7f}\u{2028}\\n\\u0001\""),
    ];
    for (key, shown) in rows {
        let schema = closed([(key, object! {})], []);
        assert_eq!(text(&schema, 0), format!("{{\n  {shown}?: JsonValue;\n}}"));
    }
}

#[test]
fn an_item_is_in_parentheses_when_its_text_has_a_bar_or_an_ampersand() {
    let choice = object! { "type": "string", "enum": array!["a", "b"] };
    let one = object! { "type": "string", "enum": array!["a"] };
    let list = |items: &Json| object! { "type": "array", "items": items.clone() };
    let rows = [
        (choice.clone(), r#"("a" | "b")[]"#),
        (list(&choice), r#"(("a" | "b")[])[]"#),
        (object! { "type": "string", "const": "a|b" }, r#"("a|b")[]"#),
        (object! { "type": "string", "const": "a&b" }, r#"("a&b")[]"#),
        (object! { "oneOf": array![object! { "type": "null" }, list(&one)] }, r#"(null | "a"[])[]"#),
        (object! { "type": "object" }, "Record<string, JsonValue>[]"),
        (one, r#""a"[]"#),
        (object! { "type": "array" }, "JsonValue[][]"),
        (object! {}, "JsonValue[]"),
        (closed([("a", object! { "type": "null" })], []), "{\n  a?: null;\n}[]"),
        (closed([("a", choice)], []), "({\n  a?: \"a\" | \"b\";\n})[]"),
        (closed([("a|", object! {})], []), "({\n  \"a|\"?: JsonValue;\n})[]"),
        (
            closed([("a", object! { "description": "x & y" })], []),
            "({\n  /** x & y */\n  a?: JsonValue;\n})[]",
        ),
        (
            object! { "type": "object", "properties": object! { "a": object! {} } },
            "({\n  a?: JsonValue;\n} & Record<string, JsonValue>)[]",
        ),
    ];
    for (items, expected) in rows {
        assert_eq!(text(&list(&items), 0), expected);
    }
}

#[test]
fn what_is_required_may_be_listed_in_any_order_and_twice() {
    let leaf = object! { "type": "null" };
    let names = ["a", "b", "c", "d"];
    for required in [&["a", "c", "d"][..], &["d", "a", "c"], &["a", "a", "c", "d"], &["d", "c", "c", "a"]] {
        let properties = Object::from_iter(names.map(|name| (name, leaf.clone())));
        let required: Json = required.iter().map(|name| Json::from(*name)).collect();
        let schema = object! {
            "type": "object", "properties": properties, "required": required, "additionalProperties": false
        };
        assert_eq!(text(&schema, 0), "{\n  a: null;\n  b?: null;\n  c: null;\n  d: null;\n}");
    }
}

#[test]
fn a_comment_ends_where_it_should() {
    let rows = [
        ("", ""),
        ("   ", "/**  */\n  "),
        ("ends */ here */", "/** ends *\\/ here *\\/ */\n  "),
        ("a\n\tb", "/** a b */\n  "),
        ("/", "/** / */\n  "),
        ("\u{1b}[0m", "/** \\x1b[0m */\n  "),
        ("@ts-ignore", "/** \\@ts-ignore */\n  "),
    ];
    for (description, comment) in rows {
        let schema = closed([("a", object! { "description": description })], ["a"]);
        assert_eq!(text(&schema, 0), format!("{{\n  {comment}a: JsonValue;\n}}"));
    }
}

#[test]
fn an_open_object_says_so_behind_its_block() {
    let open = object! { "type": "object", "properties": object! { "a": object! {} } };
    let rows = [
        (open.clone(), "{\n  a?: JsonValue;\n} & Record<string, JsonValue>"),
        (object! { "type": "object" }, "Record<string, JsonValue>"),
        (closed([], []), "Record<string, never>"),
        (
            object! { "oneOf": array![open.clone(), open] },
            "{\n  a?: JsonValue;\n} & Record<string, JsonValue> | {\n  a?: JsonValue;\n} & Record<string, JsonValue>",
        ),
    ];
    for (schema, expected) in rows {
        assert_eq!(text(&schema, 0), expected);
    }
}

#[test]
fn branches_and_items_keep_the_level_of_their_parent() {
    let leaf = closed([("x", object! { "type": "null" })], []);
    let list = object! { "type": "array", "items": leaf.clone() };
    let schema = closed([("u", object! { "oneOf": array![leaf, list] })], []);
    let expected = "{\n    u?: {\n      x?: null;\n    } | {\n      x?: null;\n    }[];\n  }";
    assert_eq!(text(&schema, 1), expected);
}

#[test]
fn a_number_is_what_ecmascript_writes_and_exact() {
    let literals =
        Json::parse("[1.0, 1e21, 1e-7, 1152921504606846976, 9007199254740993, -9223372036854775807, 0]");
    let schema = object! { "type": "number", "enum": literals.unwrap() };
    let expected = "1 | 1e+21 | 1e-7 | 1152921504606847000 | 9007199254740993n | -9223372036854775807n | 0";
    assert_eq!(text(&schema, 0), expected);
}

#[test]
fn only_the_arguments_carry_comments() {
    let text = declarations(TypeScript, &[described("a", "Says what.")]);
    assert_eq!(text.matches("Says what.").count(), 1);
    assert!(text.contains("interface ToolArgsMap {\n  /** Says what. */\n  a: "), "{text}");
}

#[test]
fn without_tools_both_interfaces_are_empty() {
    let text = declarations(TypeScript, &[]);
    assert!(text.contains("\n\ninterface ToolArgsMap {}\n\ninterface ToolOutputMap {}\n\n"), "{text}");
    assert!(rendered(TypeScript, &[]).bindings().is_empty());
}

#[test]
fn what_has_no_supported_schema_is_unknown() {
    let given = r#"[{"name": "a", "parameters": {"type": "object", "properties": {"x": {"type": "array",
        "items": {"minimum": 1}}, "y": {}}}, "output": {"type": "null"}}, {"name": "b", "output": 7}]"#;
    let text = declarations(TypeScript, &tools(given));
    assert!(text.contains("ToolArgsMap {\n  a: unknown;\n  b: unknown;\n}"), "{text}");
    assert!(text.contains("ToolOutputMap {\n  a: null;\n  b: unknown;\n}"), "{text}");
}
