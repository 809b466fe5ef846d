//! Rules of the author's JSON form beyond the vectors: which violation comes first.

use dsh_json::{Json, Object, array, object};
use dsh_json_schema::{compile_params, compile_value};

fn check(spec: Json, expected: &[(&str, &str)]) {
    let error = compile_value(&spec).expect_err("a bad form");
    let found: Vec<_> =
        error.violations().iter().map(|found| (found.kind().as_str(), found.path())).collect();
    assert_eq!(found, expected);
}

#[test]
fn keys_come_before_the_other_rules_of_a_form() {
    check(object! { "type": "object", "minProperties": 1 }, &[("dsl_key", "schema.minProperties")]);
    check(object! { "type": "string", "enum": 1, "x": 1 }, &[("dsl_key", "schema.x")]);
    check(object! { "oneOf": 1, "items": 1 }, &[("dsl_key", "schema.items")]);
    let error =
        compile_params(&object! { "a": object! { "required": 1, "x": 1, "type": "string" } }).unwrap_err();
    assert_eq!(error.violations().iter().next().unwrap().path(), "parameters.a.x");
}

#[test]
fn the_walk_goes_depth_first_and_stops_at_the_first() {
    let bad = || object! { "type": "nope" };
    check(
        object! { "oneOf": array![object! { "type": "array", "items": bad() }, bad()] },
        &[("dsl_bad_type", "schema.oneOf[0].items.type")],
    );
    check(
        object! { "type": "object", "additionalProperties": false, "properties": object! { "a": bad(), "b": bad() } },
        &[("dsl_bad_type", "schema.properties.a.type")],
    );
}

#[test]
fn the_assert_of_the_product_reports_all() {
    check(
        object! { "oneOf": array![
            object! { "type": "string", "enum": array![], "description": 1 },
            object! { "type": "integer", "const": "x" },
        ] },
        &[
            ("annotation_not_string", "schema.oneOf[0].description"),
            ("enum_invalid", "schema.oneOf[0].enum"),
            ("const_invalid", "schema.oneOf[1].const"),
        ],
    );
}

#[test]
fn parts_may_be_shared() {
    let node = object! { "type": "array", "items": object! { "type": "json" } };
    let map: Object = ["a", "b"].into_iter().map(|name| (name, node.clone())).collect();
    let schema = compile_params(&map.into()).unwrap();
    assert_eq!(
        schema.json().to_text(),
        r#"{"type":"object","properties":{"a":{"type":"array","items":{}},"b":{"type":"array","items":{}}}}"#
    );
}
