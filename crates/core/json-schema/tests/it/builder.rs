//! The author DSL in Rust: its products are those of the JSON form.

use dsh_json::{Json, array, object};
use dsh_json_schema::{Node, Schema, ViolationKind, compile_params, compile_value};

#[test]
fn parameters_equal_their_json_form() {
    let built = Schema::params()
        .required("path", Schema::string().description("The file.").title("Path"))
        .optional("limit", Schema::integer().default(10).examples([5, 10]))
        .optional("mode", Schema::string().enumeration(["a", "b"]).constant("a"))
        .required(
            "tags",
            Schema::array(Schema::one_of([Node::from(Schema::string()), Schema::null().into()])),
        )
        .optional(
            "pos",
            Schema::object().closed().required("x", Schema::number()).optional("y", Schema::number()),
        )
        .optional("extra", Schema::object().open().description("More."))
        .optional("any", Schema::any().description("Anything."))
        .optional("flag", Schema::boolean())
        .build()
        .unwrap();
    let written = compile_params(&object! {
        "path": object! { "title": "Path", "description": "The file.", "type": "string", "required": true },
        "limit": object! { "type": "integer", "examples": array![5, 10], "default": 10 },
        "mode": object! { "type": "string", "const": "a", "enum": array!["a", "b"] },
        "tags": object! {
            "type": "array",
            "required": true,
            "items": object! { "oneOf": array![object! { "type": "string" }, object! { "type": "null" }] },
        },
        "pos": object! {
            "type": "object",
            "properties": object! {
                "x": object! { "type": "number", "required": true },
                "y": object! { "type": "number" },
            },
            "additionalProperties": false,
        },
        "extra": object! { "type": "object", "additionalProperties": true, "description": "More." },
        "any": object! { "type": "json", "description": "Anything." },
        "flag": object! { "type": "boolean" },
    })
    .unwrap();
    assert_eq!(built.json().to_text(), written.json().to_text());
    assert_eq!(built, written);
}

#[test]
fn empty_parameters_say_so() {
    assert_eq!(Schema::params().build().unwrap().json().to_text(), r#"{"type":"object","properties":{}}"#);
}

#[test]
fn a_property_named_again_replaces_the_earlier_one() {
    let schema = Schema::params()
        .required("a", Schema::string())
        .required("b", Schema::string())
        .optional("a", Schema::number())
        .build()
        .unwrap();
    assert_eq!(
        schema.json().to_text(),
        r#"{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"string"}},"required":["b"]}"#
    );
}

#[test]
fn a_schema_is_a_node_of_a_larger_one() {
    let inner = Schema::object().closed().build().unwrap();
    let outer = Schema::array(&inner).build().unwrap();
    let form =
        object! { "type": "array", "items": object! { "type": "object", "additionalProperties": false } };
    assert_eq!(outer, compile_value(&form).unwrap());
}

#[test]
fn what_the_types_can_not_prevent_is_refused_when_built() {
    let kinds = |node: Node| -> Vec<ViolationKind> {
        node.build().unwrap_err().violations().iter().map(dsh_json_schema::Violation::kind).collect()
    };
    assert_eq!(kinds(Schema::one_of([Schema::string()]).into()), [ViolationKind::OneofArity]);
    assert_eq!(kinds(Schema::string().enumeration(Vec::<Json>::new()).into()), [ViolationKind::EnumInvalid]);
    assert_eq!(
        kinds(Schema::array(Schema::integer().constant("x").enumeration([1])).into()),
        [ViolationKind::ConstInvalid]
    );
}
