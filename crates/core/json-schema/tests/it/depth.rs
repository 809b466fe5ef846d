//! Nothing overflows or explodes: deep schemas and values, on a small stack, and shared parts.

use std::thread;

use dsh_json::{Json, array, object};
use dsh_json_schema::{JsonSchemaError, MAX_SCHEMA_ENTRIES, Node, Schema, ViolationKind, compile_value};

/// What a thread of the runtime has.
const STACK: usize = 2 * 1024 * 1024;

fn on_a_small_stack(test: impl FnOnce() + Send + 'static) {
    thread::Builder::new().stack_size(STACK).spawn(test).expect("a thread").join().expect("it ends well");
}

fn nested(levels: usize, leaf: Json, wrap: impl Fn(Json) -> Json) -> Json {
    (0..levels).fold(leaf, |inner, _| wrap(inner))
}

fn kinds(error: &JsonSchemaError) -> Vec<ViolationKind> {
    error.violations().iter().map(dsh_json_schema::Violation::kind).collect()
}

#[test]
fn nested_unions_are_judged_and_explained() {
    on_a_small_stack(|| {
        let union = |inner| object! { "oneOf": array![inner, object! { "type": "null" }] };
        let json = nested(5_000, object! { "type": "string" }, union);
        let schema = Schema::new(&json).unwrap();
        assert!(schema.is_valid(&"x".into()));
        // Null matches the null branch of every level, and the inner union of every second one.
        assert!(!schema.is_valid(&Json::Null));
        assert_eq!(schema.violations(&Json::Null, "").iter().next().unwrap().arg(), Some("2"));
        assert!(!schema.is_valid(&1.into()));
        let found = schema.violations(&1.into(), "value");
        assert_eq!(found.to_string(), "value: must be a string or null; found the number 1");
        let compiled = compile_value(&json).unwrap();
        assert_eq!(compiled, schema);
    });
}

#[test]
fn deep_arrays_and_objects_are_judged_in_linear_time() {
    on_a_small_stack(|| {
        let levels = 10_000;
        let schema = (0..levels).fold(Node::from(Schema::string()), |inner, _| Schema::array(inner).into());
        let schema = schema.build().unwrap();
        let value = nested(levels, "x".into(), |inner| array![inner]);
        assert!(schema.is_valid(&value));
        assert!(schema.violations(&value, "value").is_empty());
        let bad = nested(levels, 1.into(), |inner| array![inner]);
        assert!(!schema.is_valid(&bad));
        let found = schema.violations(&bad, "value");
        assert_eq!(found.len(), 1);
        assert_eq!(found.iter().next().unwrap().path().len(), "value".len() + levels * "[0]".len());
        assert!(found.to_string().len() < 500);

        let closed = (0..levels).fold(Node::from(Schema::string()), |inner, _| {
            Schema::object().closed().required("k", inner).into()
        });
        let closed = closed.build().unwrap();
        let value = nested(levels, "x".into(), |inner| object! { "k": inner });
        assert!(closed.is_valid(&value));
        assert!(!closed.is_valid(&bad));
    });
}

#[test]
fn a_deep_bad_schema_is_refused_with_bounded_effort() {
    on_a_small_stack(|| {
        let json =
            nested(9_000, object! {}, |inner| object! { "type": "array", "items": inner, "minItems": 1 });
        let error = Schema::new(&json).unwrap_err();
        assert_eq!(error.violations().len() + error.violations().truncated(), 9_000);
        assert_eq!(kinds(&error)[0], ViolationKind::UnknownKeyword);
        assert!(error.to_string().len() < 32 * 500);
        assert!(error.to_string().ends_with("; and 8968 more"));
    });
}

#[test]
fn shared_schema_nodes_can_not_explode() {
    let json =
        nested(60, object! { "type": "string" }, |inner| object! { "oneOf": array![inner.clone(), inner] });
    let limit = MAX_SCHEMA_ENTRIES.to_string();
    for (error, root) in
        [(Schema::new(&json).unwrap_err(), "schema"), (compile_value(&json).unwrap_err(), "schema")]
    {
        assert_eq!(kinds(&error), [ViolationKind::SchemaTooLarge]);
        let violation = error.violations().iter().next().unwrap();
        assert_eq!((violation.path(), violation.arg()), (root, Some(limit.as_str())));
    }
}

#[test]
fn shared_lists_can_not_explode() {
    let list: Json = (0..20_000).map(Json::from).collect();
    let scalar = object! { "type": "integer", "enum": list };
    let branches: Json = std::iter::repeat_n(scalar, 1_000).collect();
    let error = Schema::new(&object! { "oneOf": branches }).unwrap_err();
    assert_eq!(kinds(&error), [ViolationKind::SchemaTooLarge]);
}
