//! The text of Python (spec 05 §4, checklist 14–26).

use dsh_json::{Json, Object, array, object};
use dsh_tool_sdk::ToolDecl;

use crate::tools::{Python, closed, declarations, described, gives, nested, takes, tools};

/// The block without what stands in each.
fn block(tools: &[ToolDecl]) -> String {
    let text = declarations(Python, tools);
    let text = text.replace("class ToolCallError(Exception):\n    toolName: str\n\n", "");
    text.trim_end_matches("\n\ntools: Tools").to_owned()
}

/// The annotation of an output.
fn output(schema: &Json) -> String {
    let text = block(&[gives(schema)]);
    let signature = text.lines().find(|line| line.contains("async def t(")).unwrap();
    signature.split_once(" -> ").unwrap().1.trim_end_matches(": ...").to_owned()
}

fn list(items: &Json) -> Json {
    object! { "type": "array", "items": items.clone() }
}

#[test]
fn exactly_what_is_used_is_imported() {
    let literal = object! { "type": "string", "const": "a" };
    let rows: [(Vec<ToolDecl>, &str); 5] = [
        (vec![], "Protocol"),
        (vec![gives(&object! { "type": "null" })], "Any, Protocol"),
        (vec![takes("a", &closed([], []))], "Any, Protocol, TypedDict"),
        (
            vec![takes("a", &closed([("x", literal.clone()), ("y", object! {})], ["x"]))],
            "Any, Literal, NotRequired, Protocol, TypedDict",
        ),
        (
            vec![ToolDecl { output: gives(&literal).output, ..takes("a", &closed([], [])) }],
            "Literal, Protocol, TypedDict",
        ),
    ];
    for (tools, expected) in rows {
        assert_eq!(block(&tools).lines().next().unwrap(), format!("from typing import {expected}"));
    }
}

#[test]
fn a_block_without_methods_begins_with_pass() {
    assert_eq!(block(&[]), "from typing import Protocol\n\nclass Tools(Protocol):\n    pass");
    let shown = block(&[described("_foo", "Says."), described("import", ""), described("__x__", "")]);
    insta::assert_snapshot!(shown, @r#"
    from typing import Any, Protocol

    class Tools(Protocol):
        pass
        # tools["__x__"](args: dict[str, Any]) -> Any
        # tools["_foo"](args: dict[str, Any]) -> Any
        #   Says.
        # tools["import"](args: dict[str, Any]) -> Any
    "#);
}

#[test]
fn only_what_is_optional_is_not_required() {
    let string = object! { "type": "string" };
    let some = closed([("a", string.clone()), ("b", string.clone())], ["b"]);
    let none = object! { "type": "object", "properties": object! { "a": string } };
    insta::assert_snapshot!(block(&[takes("some", &some), takes("zero", &none)]), @"
    from typing import Any, NotRequired, Protocol, TypedDict

    class SomeArgs(TypedDict):
        a: NotRequired[str]
        b: str

    class ZeroArgs(TypedDict):
        a: NotRequired[str]
        # Any other key is accepted, too.

    class Tools(Protocol):
        async def some(self, args: SomeArgs) -> Any: ...
        async def zero(self, args: ZeroArgs) -> Any: ...
    ");
}

#[test]
fn an_object_with_a_key_that_is_no_field_is_a_dict() {
    let rows = [
        ("from", false),
        ("a-b", false),
        ("ﬁeld", false),
        ("ａｂ", false),
        ("e\u{301}", false),
        ("\u{200c}a", false),
        ("a\u{200c}b", false),
        ("__tok", false),
        ("__debug__", false),
        ("None", false),
        ("", false),
        ("1a", false),
        ("__x__", true),
        ("__", true),
        ("___", true),
        ("_x", true),
        ("self", true),
        ("print", true),
        ("match", true),
        ("type", true),
        ("路径", true),
        ("é", true),
    ];
    for (key, is_field) in rows {
        let shown = output(&closed([(key, object! {})], []));
        assert_eq!(shown, if is_field { "TOutput" } else { "dict[str, Any]" }, "{key}");
    }
}

#[test]
fn a_dict_declares_no_class_and_takes_no_name() {
    let leaf = closed([("v", object! { "type": "null" })], ["v"]);
    let bad = closed([("in", object! {}), ("x", leaf.clone())], []);
    let schema = closed([("a", bad), ("A", leaf)], ["A", "a"]);
    insta::assert_snapshot!(block(&[takes("t", &schema)]), @"
    from typing import Any, Protocol, TypedDict

    class TArgsA(TypedDict):
        v: None

    class TArgs(TypedDict):
        a: dict[str, Any]
        A: TArgsA

    class Tools(Protocol):
        async def t(self, args: TArgs) -> Any: ...
    ");
}

#[test]
fn a_docstring_is_the_whole_body() {
    let rows = [
        ("", " ..."),
        (" \n ", " ..."),
        ("Says.", "\n        \"\"\"Says.\"\"\""),
        ("\"\"\"", "\n        \"\"\"\\\"\\\"\\\"\"\"\""),
        ("a\\", "\n        \"\"\"a\\\\\"\"\""),
        ("\0\u{85}\u{7f}\u{9b}😀", "\n        \"\"\"\\\\x00\\\\x85\\\\x7f\\\\x9b😀\"\"\""),
        ("type: ignore", "\n        \"\"\"type: ignore\"\"\""),
    ];
    for (description, body) in rows {
        let expected = format!("    async def a(self, args: dict[str, Any]) -> Any:{body}");
        assert!(block(&[described("a", description)]).ends_with(&expected), "{description:?}");
    }
}

#[test]
fn a_description_beside_a_field_or_a_subscript_is_a_comment() {
    let rows = [
        ("", None),
        (" \u{feff}\t", None),
        ("says \"\"\" \\", Some(("#", "says \"\"\" \\"))),
        ("\0\u{85}\u{7f}\u{9b}😀", Some(("#", "\\x00\\x85\\x7f\\x9b😀"))),
        ("type: ignore", Some(("#:", "type: ignore"))),
        ("mypy: ignore-errors", Some(("#:", "mypy: ignore-errors"))),
    ];
    for (description, comment) in rows {
        let field = closed([("a", object! { "description": description })], ["a"]);
        let (mark, words) = comment.unwrap_or_default();
        let field_comment = comment.map_or_else(String::new, |_| format!("    {mark} {words}\n"));
        let class = format!("class TOutput(TypedDict):\n{field_comment}    a: Any\n\n");
        assert!(block(&[gives(&field)]).contains(&class), "{description:?}");
        let line = comment.map_or_else(String::new, |_| format!("\n    {mark}   {words}"));
        let expected = format!("    # tools[\"a-\"](args: dict[str, Any]) -> Any{line}");
        assert!(block(&[described("a-", description)]).ends_with(&expected), "{description:?}");
    }
}

#[test]
fn what_an_object_becomes_depends_on_its_fields_and_its_openness() {
    let shown = |schema: &Json| {
        let text = block(&[gives(schema)]);
        text.split_once("class Tools").unwrap().0.split_once("\n\n").unwrap().1.to_owned()
    };
    let open = |properties: Json| object! { "type": "object", "properties": properties };
    assert_eq!(shown(&closed([], [])), "class TOutput(TypedDict):\n    pass\n\n");
    assert_eq!(shown(&open(object! {})), "");
    let note = "    # Any other key is accepted, too.";
    let expected = format!("class TOutput(TypedDict):\n    a: NotRequired[Any]\n{note}\n\n");
    assert_eq!(shown(&open(object! { "a": object! {} })), expected);
}

#[test]
fn class_names_are_made_of_names_and_places() {
    let leaf = closed([], []);
    let union = |branches: Vec<Json>| object! { "oneOf": branches };
    let siblings = ["x", "X", "x2", "x_2", "x_"].map(|name| (name, leaf.clone()));
    let rows: [(ToolDecl, &[&str]); 12] = [
        (
            takes("a", &closed(siblings, [])),
            &["AArgsX", "AArgsX2", "AArgsX22", "AArgsX23", "AArgsX3", "AArgs"],
        ),
        (takes("a", &closed([("rows", list(&list(&leaf)))], [])), &["AArgsRows", "AArgs"]),
        (
            takes(
                "a",
                &closed(
                    [("u", union(vec![object! {}, leaf.clone(), union(vec![leaf.clone(), object! {}])]))],
                    [],
                ),
            ),
            &["AArgsU2", "AArgsU31", "AArgs"],
        ),
        (takes("9-lives", &leaf), &["Tool9LivesArgs"]),
        (takes("-", &leaf), &["ToolArgs"]),
        (takes("ß", &leaf), &["SSArgs"]),
        (takes("ﬁnd", &leaf), &["FIndArgs"]),
        (takes("ƛ", &leaf), &["\u{a7dc}Args"]),
        (takes("\u{301}abc", &leaf), &["Too\u{13a}abcArgs"]),
        (takes("𐐨x", &leaf), &["𐐨xArgs"]),
        // 119 units, then a letter of two: it is dropped whole.
        (takes(&format!("{}𐐨", "x".repeat(119)), &leaf), &[&format!("X{}", "x".repeat(118))]),
        // A syllable that is put together at a seam is the one that another field has at once.
        (
            takes("t", &closed([("가", closed([("\u{11a8}", leaf.clone())], [])), ("각", leaf.clone())], [])),
            &["TArgs각", "TArgs가", "TArgs각2", "TArgs"],
        ),
    ];
    for (tool, expected) in rows {
        let text = block(std::slice::from_ref(&tool));
        let names: Vec<&str> = text
            .lines()
            .filter_map(|line| line.strip_prefix("class ")?.strip_suffix("(TypedDict):"))
            .collect();
        assert_eq!(names, expected, "{}", tool.name);
    }
}

#[test]
fn classes_come_before_what_uses_them_arguments_before_output_tools_in_order() {
    let leaf = closed([("in_it", closed([], []))], []);
    let tool = |name| ToolDecl { output: gives(&leaf).output, ..takes(name, &leaf) };
    let text = block(&[tool("b"), tool("a")]);
    let classes: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("class ")).collect();
    let expected =
        ["AArgsInIt", "AArgs", "AOutputInIt", "AOutput", "BArgsInIt", "BArgs", "BOutputInIt", "BOutput"];
    let expected = expected.map(|name| format!("{name}(TypedDict):"));
    assert_eq!(classes.split_last().unwrap().1, expected);
}

#[test]
fn at_most_180_lists_nest_in_an_annotation() {
    let string = object! { "type": "string" };
    let lists = |count: usize, inner: &str| format!("{}{inner}{}", "list[".repeat(count), "]".repeat(count));
    let field = |schema: &Json| {
        let text = block(&[gives(&closed([("f", schema.clone())], ["f"]))]);
        text.lines().find_map(|line| line.strip_prefix("    f: ")).unwrap().to_owned()
    };
    let in_union = |schema: Json| object! { "oneOf": array![object! { "type": "null" }, schema] };
    assert_eq!(output(&nested(179, &string, list)), lists(179, "str"));
    assert_eq!(output(&nested(180, &string, list)), lists(180, "str"));
    assert_eq!(output(&nested(181, &string, list)), lists(180, "Any"));
    assert_eq!(output(&nested(180, &object! { "type": "array" }, list)), lists(181, "Any"));
    assert_eq!(output(&in_union(nested(180, &string, list))), format!("None | {}", lists(180, "str")));
    assert_eq!(field(&nested(179, &string, list)), lists(179, "str"));
    assert_eq!(field(&nested(180, &string, list)), lists(179, "Any"));
}

#[test]
fn a_literal_is_exact() {
    let numbers = "[1.0, -3, 1e-7, 9007199254740991, 9007199254740993, 1152921504606846976, 1e21, 18446744073709551615]";
    let numbers = object! { "type": "number", "enum": Json::parse(numbers).unwrap() };
    let expected = "Literal[1, -3, 1e-7, 9007199254740991, 9007199254740993, 1152921504606846976, \
                    1000000000000000000000, 18446744073709551615]";
    assert_eq!(output(&numbers), expected);
    let raw = "\u{7f}\u{2028}\u{85}";
    assert_eq!(output(&object! { "type": "string", "const": raw }), format!("Literal[\"{raw}\"]"));
    assert_eq!(output(&object! { "type": "boolean", "enum": array![true, false] }), "Literal[True, False]");
    assert_eq!(output(&object! { "type": "null", "const": Json::Null }), "None");
}

#[test]
fn what_has_no_supported_schema_is_any() {
    let given = r#"[{"name": "a", "parameters": {"type": "object", "properties": {"x": {"type": "array",
        "items": {"minimum": 1}}, "y": {}}}, "output": {"type": "null"}}, {"name": "b", "output": 7}]"#;
    let text = block(&tools(given));
    assert!(text.contains("def a(self, args: Any) -> None: ...\n"), "{text}");
    assert!(text.contains("def b(self, args: Any) -> Any: ..."), "{text}");
}

#[test]
fn fields_keep_the_order_of_the_schema() {
    let properties: Object =
        ["z", "b", "a"].map(|name| (name, object! { "type": "null" })).into_iter().collect();
    let text = block(&[takes("t", &object! { "type": "object", "properties": properties })]);
    let places = ["    z: ", "    b: ", "    a: "].map(|field| text.find(field).unwrap());
    assert!(places.is_sorted(), "{text}");
}
