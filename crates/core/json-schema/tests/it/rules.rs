//! Rules of spec 04 that the recorded vectors leave open: what comes after what, and what is not looked at.

use dsh_json::{Json, array, object};
use dsh_json_schema::{JsonSchemaError, Schema, compile_params, compile_value};

fn found(error: &JsonSchemaError) -> Vec<String> {
    error.violations().iter().map(|found| format!("{} {}", found.kind().as_str(), found.path())).collect()
}

#[test]
fn schemas() {
    let check = |schema: Json, expected: &[&str]| {
        let asserted = Schema::new(&schema);
        assert_eq!(asserted.err().map(|error| found(&error)).unwrap_or_default(), expected, "{schema}");
    };
    // What stands beside a union comes after its branches, and what an object says after its properties.
    let bad = || object! { "type": "w" };
    check(
        object! { "items": object! {}, "oneOf": array![bad(), bad()] },
        &[
            "type_unknown schema.oneOf[0].type",
            "type_unknown schema.oneOf[1].type",
            "beside_oneof schema.items",
        ],
    );
    check(
        object! { "type": "object", "additionalProperties": 1, "required": array!["z"], "properties": object! { "a": bad() } },
        &[
            "type_unknown schema.properties.a.type",
            "required_undeclared schema.required",
            "additional_not_bool schema.additionalProperties",
        ],
    );
    // What is misplaced is not looked into, and neither is what stands below a type beside a union.
    check(object! { "type": "object", "items": bad() }, &["misplaced_keyword schema.items"]);
    check(object! { "type": "string", "oneOf": array![bad(), 1], "items": 1 }, &["type_and_oneof schema"]);
    // A bad list hides whether the constant is in it, and not whether it fits.
    check(
        object! { "type": "string", "enum": array![1], "const": 5 },
        &["enum_invalid schema.enum", "const_invalid schema.const"],
    );
    // Integral floats are integers, annotations are not held against their type.
    let one = || Json::try_from(1.0).unwrap();
    check(object! { "type": "integer", "const": one() }, &[]);
    check(object! { "type": "number", "const": one() }, &[]);
    check(object! { "type": "string", "default": 7, "examples": array![7] }, &[]);
}

#[test]
fn values() {
    let check = |schema: Json, value: Json, expected: &[&str]| {
        let schema = Schema::new(&schema).unwrap();
        let violations = schema.violations(&value, "value");
        let found: Vec<_> =
            violations.iter().map(|found| format!("{} {}", found.kind().as_str(), found.path())).collect();
        assert_eq!(found, expected, "{value}");
        assert_eq!(schema.is_valid(&value), expected.is_empty(), "{value}");
    };
    let text = || object! { "type": "string" };
    let closed = || {
        object! {
            "type": "object",
            "additionalProperties": false,
            "required": array!["z", "y"],
            "properties": object! { "a": text(), "z": text(), "b": text(), "y": text() },
        }
    };
    check(
        closed(),
        object! { "u": 1, "b": 1, "t": 1, "a": 1 },
        &[
            "missing_required value.z",
            "missing_required value.y",
            "wrong_type value.a",
            "wrong_type value.b",
            "undeclared_property value.u",
            "undeclared_property value.t",
        ],
    );
    check(closed(), object! { "z": "", "y": "", "a": Json::Null }, &["wrong_type value.a"]);
    check(closed(), array![], &["wrong_type value"]);
    let open = object! { "type": "object", "properties": object! { "a": text() } };
    check(open, object! { "a": "", "more": array![1, object! { "x": Json::Null }] }, &[]);

    let union = || object! { "oneOf": array![object! { "type": "number" }, object! { "type": "integer" }] };
    check(union(), Json::try_from(1.5).unwrap(), &[]);
    check(union(), 1.into(), &["oneof_mismatch value"]);
    for (value, fits) in [("1.0", true), ("1e21", true), ("1.5", false), ("\"1\"", false), ("true", false)] {
        let expected: &[&str] = if fits { &[] } else { &["wrong_type value"] };
        check(object! { "type": "integer" }, Json::parse(value).unwrap(), expected);
    }
    let both = object! { "type": "string", "enum": array!["a", "b"], "const": "a" };
    check(both.clone(), "c".into(), &["not_in_enum value"]);
    check(both, "b".into(), &["not_const value"]);
}

#[test]
fn forms() {
    let check = |result: Result<Schema, JsonSchemaError>, expected: &[&str]| {
        assert_eq!(result.err().map(|error| found(&error)).unwrap_or_default(), expected);
    };
    let with = |required: Json| object! { "a": object! { "type": "string", "required": required } };
    for bad in [Json::from(false), Json::Null, Json::from("true"), Json::from(1)] {
        check(compile_params(&with(bad)), &["dsl_required_not_true parameters.a.required"]);
    }
    check(compile_params(&with(true.into())), &[]);
    let marked = || object! { "type": "string", "required": true };
    check(compile_value(&marked()), &["dsl_key schema.required"]);
    check(compile_value(&object! { "type": "array", "items": marked() }), &["dsl_key schema.items.required"]);
    let union = object! { "oneOf": array![object! { "type": "null" }, marked()] };
    check(compile_value(&union), &["dsl_key schema.oneOf[1].required"]);

    // Any JSON is said by a word here, and by nothing in a schema.
    check(compile_value(&object! {}), &["dsl_bad_type schema.type"]);
    check(Schema::new(&object! {}), &[]);
    let annotated = compile_value(&object! { "title": "T", "type": "json", "description": "D" }).unwrap();
    assert_eq!(annotated.json().to_text(), r#"{"description":"D","title":"T"}"#);
    for key in ["enum", "const", "properties"] {
        let form: dsh_json::Object = [("type", Json::from("json")), (key, array![])].into_iter().collect();
        check(compile_value(&form.into()), &[&format!("dsl_key schema.{key}")]);
    }

    // A map of parameters need not say whether it is open, every other object must.
    let inner = object! { "type": "object", "additionalProperties": "no" };
    let outer = object! { "oneOf": array![object! { "type": "null" }, inner] };
    check(
        compile_params(&object! { "a": outer }),
        &["dsl_openness_missing parameters.a.oneOf[1].additionalProperties"],
    );

    // What the last look finds is named by the product, also for parameters.
    check(
        compile_params(&object! {
            "a": object! { "type": "string", "enum": array![] },
            "b": object! { "type": "string", "const": 1, "description": 1 },
        }),
        &[
            "enum_invalid schema.properties.a.enum",
            "annotation_not_string schema.properties.b.description",
            "const_invalid schema.properties.b.const",
        ],
    );
}
