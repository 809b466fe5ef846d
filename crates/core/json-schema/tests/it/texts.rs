//! What a model or an author reads when something does not fit. Kinds and paths are the vectors' subject.

use dsh_json::{Json, Object, array, object};
use dsh_json_schema::{Draft, Node, Schema, UnionForm, compile_params, compile_value};

fn check(node: impl Into<Node>, value: impl Into<Json>, expected: &str) {
    let schema = node.into().build().expect("a good schema");
    let found = schema.violations(&value.into(), "");
    assert_eq!(found.to_string(), expected);
    for violation in &found {
        assert!(violation.to_string().chars().count() < 500, "{violation}");
    }
}

fn shapes() -> Draft<UnionForm> {
    let tag = |name: &str| Schema::string().constant(name);
    Schema::one_of([
        Schema::object().closed().required("type", tag("circle")).required("r", Schema::number()),
        Schema::object()
            .closed()
            .required("type", tag("box"))
            .required("w", Schema::number())
            .required("h", Schema::number()),
    ])
}

#[test]
fn wrong_type_says_what_was_found() {
    check(Schema::string(), 12, "arguments: must be a string; found the number 12");
    check(Schema::string(), array![1], "arguments: must be a string; found an array of 1 item");
    check(
        Schema::string(),
        object! { "a": 1, "b": 2 },
        "arguments: must be a string; found an object with a, b",
    );
    check(Schema::object().open(), Json::Null, "arguments: must be an object; found null");
    check(
        Schema::integer(),
        Json::try_from(1.5).unwrap(),
        "arguments: must be an integer; found the number 1.5; it must have no fraction",
    );
}

#[test]
fn json_sent_as_a_string_is_recognised() {
    let same = "send the value itself, not a string of JSON";
    check(
        Schema::array(Schema::string()),
        r#"["a"]"#,
        &format!(r#"arguments: must be an array; found the string "[\"a\"]"; {same}"#),
    );
    check(
        Schema::object().open(),
        "{}",
        &format!(r#"arguments: must be an object; found the string "{{}}"; {same}"#),
    );
    check(Schema::integer(), "5", &format!(r#"arguments: must be an integer; found the string "5"; {same}"#));
    check(
        Schema::boolean(),
        "true",
        &format!(r#"arguments: must be a boolean; found the string "true"; {same}"#),
    );
    check(Schema::integer(), "5.5", r#"arguments: must be an integer; found the string "5.5""#);
    check(Schema::boolean(), "yes", r#"arguments: must be a boolean; found the string "yes""#);
    check(
        Schema::null(),
        "null",
        r#"arguments: must be null; found the string "null"; send null itself, not a string of JSON"#,
    );
}

#[test]
fn enumerations_suggest_the_nearest() {
    let level = || Schema::string().enumeration(["low", "middle", "high"]);
    let one_of = r#"arguments: must be one of "low", "middle", "high"; found the string"#;
    check(level(), "hihg", &format!(r#"{one_of} "hihg"; did you mean "high"?"#));
    check(level(), "other", &format!(r#"{one_of} "other""#));
    check(level(), "x".repeat(5_000), &format!(r#"{one_of} "{}…""#, "x".repeat(60)));
    check(Schema::integer().enumeration([1, 2]), 3, "arguments: must be one of 1, 2; found the number 3");
    check(Schema::string().constant("x"), "y", r#"arguments: must be exactly "x"; found the string "y""#);
}

#[test]
fn long_enumerations_are_elided_in_the_text_only() {
    let names = || (0..1_000).map(|index| format!("name-{index:03}"));
    check(
        Schema::string().enumeration(names()),
        "nam-007",
        r#"arguments: must be one of "name-000", "name-001", "name-002", "name-003", "name-004", "name-005", "name-006", "name-007", "name-008", "name-009", "name-010", "name-011" and 988 more; found the string "nam-007"; did you mean "name-007"?"#,
    );
    let schema = Schema::string().enumeration(names()).build().unwrap();
    let found = schema.violations(&"nam-007".into(), "");
    let arg = found.iter().next().unwrap().arg().unwrap();
    assert_eq!(
        arg,
        names()
            .map(|name| format!("\"{name}\""))
            .collect::<Vec<_>>()
            .join(",")
            .replace("\"name-000", "[\"name-000")
            + "]"
    );
}

#[test]
fn properties_are_named_and_guessed() {
    let edit = || {
        Schema::object().closed().required("file_path", Schema::string()).optional("old", Schema::string())
    };
    check(
        edit(),
        object! { "filePath": 1, "zzz": 2 },
        "file_path: is required but missing; add it; \
         filePath: is not a known property; did you mean file_path? Known properties: file_path, old; \
         zzz: is not a known property; remove it. Known properties: file_path, old",
    );
    check(
        Schema::object().closed(),
        object! { "a": 1 },
        "a: is not allowed; this object takes no properties",
    );
}

#[test]
fn unions_name_the_closest_branch() {
    let words = || {
        Schema::one_of([
            Node::from(Schema::string()),
            Schema::null().into(),
            Schema::array(Schema::string()).into(),
        ])
    };
    check(words(), 1, "arguments: must be a string, an array or null; found the number 1");
    check(
        words(),
        array!["a", 1],
        "arguments: matches none of the 3 allowed forms; the closest is form 3, where [1]: must be a string; found the number 1",
    );
    check(
        Schema::one_of([Schema::string().enumeration(["a"]), Schema::null()]),
        "b",
        r#"arguments: matches none of the 2 allowed forms; the closest is form 1, where it must be one of "a"; found the string "b""#,
    );
    check(
        Schema::array(shapes()),
        array![object! { "type": "box", "w": 1, "r": 1 }],
        "[0]: matches none of the 2 allowed forms; the closest is form 2, where [0].h: is required but missing; add it",
    );
}

#[test]
fn an_unknown_tag_is_told_from_a_bad_branch() {
    check(
        shapes(),
        object! { "type": "cricle", "r": 1 },
        r#"arguments: matches none of the 2 allowed forms: type must be one of "circle", "box"; found the string "cricle""#,
    );
    check(
        shapes(),
        object! { "r": 1 },
        "arguments: matches none of the 2 allowed forms; the closest is form 1, where type: is required but missing; add it",
    );
}

#[test]
fn ambiguous_values_say_how_many_branches_match() {
    check(
        Schema::one_of([Schema::number(), Schema::integer()]),
        1,
        "arguments: matches 2 of the 2 allowed forms (forms 1, 2) but must match exactly one",
    );
}

#[test]
fn lists_are_capped_and_say_how_many_are_left_out() {
    let schema = Schema::array(Schema::string()).build().unwrap();
    let numbers: Json = (0..100_000).map(Json::from).collect();
    let found = schema.violations(&numbers, "value");
    assert_eq!((found.len(), found.truncated(), found.is_empty()), (32, 99_968, false));
    assert!(
        found.to_string().ends_with("value[31]: must be a string; found the number 31; and 99968 more"),
        "{found}"
    );
    let none = schema.violations_up_to(&numbers, "value", 0);
    assert_eq!((none.to_string().as_str(), none.is_empty()), ("100000 violations", false));
}

#[test]
fn hostile_names_stay_within_the_bounds() {
    let long = "é".repeat(10_000);
    let schema = Schema::object()
        .closed()
        .required(
            long.as_str(),
            Schema::object().closed().optional(long.as_str(), Schema::string().enumeration([long.as_str()])),
        )
        .build()
        .unwrap();
    let member = |value: Json| Json::from(Object::from_iter([(long.as_str(), value)]));
    for value in [
        object! {},
        object! { "x": long.as_str() },
        member(member(long.to_uppercase().into())),
        member(object! { "x": 1 }),
    ] {
        for violation in &schema.violations(&value, "value") {
            assert!(violation.to_string().chars().count() < 500, "{violation}");
            assert!(violation.path().starts_with("value"));
        }
    }
}

#[test]
fn schema_errors_say_what_to_do() {
    let check = |schema: Json, expected: &str| {
        assert_eq!(Schema::new(&schema).unwrap_err().to_string(), format!("unsupported schema: {expected}"));
    };
    check(array![], "schema: a schema has to be an object; found an empty array");
    check(
        object! { "type": "integer", "minimum": 1, "description": 1 },
        "schema.minimum: is not a supported keyword; remove it, or say it in \"description\"; \
         schema.description: has to be a string; found the number 1",
    );
    check(
        object! { "type": "text" },
        "schema.type: has to be one of object, array, string, number, integer, boolean, null; found the string \"text\"",
    );
    check(
        object! { "type": array!["string", "null"] },
        "schema.type: must be one type name; write \"oneOf\" for alternatives",
    );
    check(
        object! { "type": "string", "oneOf": array![] },
        "schema: has both \"type\" and \"oneOf\"; keep one of them",
    );
    check(object! { "items": object! {} }, "schema.items: needs a \"type\" beside it");
    check(
        object! { "oneOf": array![object! {}], "const": 1 },
        "schema.oneOf: has to be an array of at least two schemas; schema.const: must not stand beside \"oneOf\"; move it into the branches",
    );
    check(
        object! { "type": "string", "items": 1, "enum": array![1], "const": 2 },
        "schema.items: does not belong to type \"string\"; remove it; \
         schema.enum: has to be a non-empty array of string literals; \
         schema.const: is not a literal of type \"string\"; found the number 2",
    );
    check(
        object! { "type": "string", "enum": array!["a"], "const": "b" },
        "schema.const: is not a member of \"enum\" beside it",
    );
    check(
        object! { "type": "object", "properties": 1, "required": array!["a"], "additionalProperties": object! {} },
        "schema.properties: has to be an object of schemas; found the number 1; \
         schema.required: lists \"a\", which \"properties\" does not declare; \
         schema.additionalProperties: has to be true or false; found an object without properties",
    );
    check(
        object! { "type": "object", "required": "a" },
        "schema.required: has to be an array of property names",
    );
    assert_eq!(
        Schema::object_root(&object! {}).unwrap_err().to_string(),
        "unsupported schema: schema.type: the root has to be an object; write \"type\": \"object\" and put the rest into a property"
    );
}

#[test]
fn author_errors_say_what_to_do() {
    let check = |spec: Json, expected: &str| {
        assert_eq!(compile_value(&spec).unwrap_err().to_string(), format!("unsupported schema: {expected}"));
    };
    check(Json::Null, "schema: has to be a schema object; found null");
    check(
        object! { "type": "tuple" },
        "schema.type: has to be one of object, array, string, number, integer, boolean, null, json",
    );
    check(
        object! { "type": "object" },
        "schema.additionalProperties: has to say true (open) or false (closed)",
    );
    check(
        object! { "type": "string", "minLength": 1 },
        "schema.minLength: is not a key of this form; it takes type, enum, const and annotations",
    );
    check(
        object! { "type": "string", "required": true },
        "schema.required: stands only on the members of a property map; remove it",
    );
    check(
        object! { "type": "string", "oneOf": array![] },
        "schema: has both \"type\" and \"oneOf\"; keep one of them",
    );
    check(object! { "oneOf": 1 }, "schema.oneOf: has to be an array of schemas; found the number 1");
    check(
        object! { "type": "string", "enum": 1 },
        "schema.enum: has to be an array of literals; found the number 1",
    );
    check(
        object! { "type": "object", "additionalProperties": true, "properties": 1 },
        "schema.properties: has to be an object of properties; found the number 1",
    );
    assert_eq!(
        compile_params(&object! { "a": object! { "type": "string", "required": false } })
            .unwrap_err()
            .to_string(),
        "unsupported schema: parameters.a.required: has to be true or absent; found false"
    );
    assert_eq!(
        compile_params(&array![]).unwrap_err().to_string(),
        "unsupported schema: parameters: has to be an object of properties; found an empty array"
    );
}
