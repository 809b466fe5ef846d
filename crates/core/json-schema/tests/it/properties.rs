//! Random schemas and values: both judges against the naive oracle, and what follows from a schema.

use dsh_conformance::schema::violations;
use dsh_json::{Json, Object};
use dsh_json_schema::{DEFAULT_LISTED, JsonSchemaError, Schema, Violation, Violations};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Few names and few literals, so that schemas and values meet.
fn name() -> impl Strategy<Value = &'static str> {
    select(&["a", "b", "c", "", "0", "a.b", "toString"][..])
}

fn scalar() -> impl Strategy<Value = Json> {
    prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        (-2_i64..3).prop_map(Json::from),
        select(&[0.5, 1.0, 1e21, -3.25][..]).prop_map(|number| Json::try_from(number).unwrap()),
        select(&["", "x", "1"][..]).prop_map(Json::from),
    ]
}

fn object_of(entries: Vec<(&'static str, Json)>) -> Json {
    entries.into_iter().collect::<Object>().into()
}

fn value() -> impl Strategy<Value = Json> {
    scalar().prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Json::from),
            vec((name(), inner), 0..4).prop_map(object_of),
        ]
    })
}

fn typed(name: &str, rest: impl IntoIterator<Item = (&'static str, Json)>) -> Json {
    let mut node = Object::new();
    node.insert("type", name);
    node.extend(rest);
    node.into()
}

fn scalar_schema() -> impl Strategy<Value = Json> {
    let plain =
        select(&["string", "number", "integer", "boolean", "null"][..]).prop_map(|name| typed(name, []));
    let numbers = vec(-2_i64..3, 1..16)
        .prop_map(|list| typed("number", [("enum", list.into_iter().map(Json::from).collect::<Json>())]));
    let strings = vec(select(&["", "x", "y"][..]), 1..16)
        .prop_map(|list| typed("string", [("enum", list.into_iter().map(Json::from).collect::<Json>())]));
    let constant = (-2_i64..3).prop_map(|literal| typed("integer", [("const", literal.into())]));
    prop_oneof![Just(Object::new().into()), plain, numbers, strings, constant]
}

fn schema() -> impl Strategy<Value = Json> {
    scalar_schema().prop_recursive(3, 24, 4, |inner| {
        let object = (vec((name(), inner.clone()), 0..5), vec(any::<Index>(), 0..4), any::<Option<bool>>());
        prop_oneof![
            Just(typed("array", [])),
            inner.clone().prop_map(|items| typed("array", [("items", items)])),
            object.prop_map(|(properties, required, additional)| {
                let properties: Object = properties.into_iter().collect();
                let names: Vec<Json> = properties.keys().map(Json::from).collect();
                let required =
                    required.iter().filter(|_| !names.is_empty()).map(|index| index.get(&names).clone());
                let mut rest =
                    vec![("required", required.collect::<Json>()), ("properties", properties.into())];
                rest.extend(additional.map(|open| ("additionalProperties", open.into())));
                typed("object", rest)
            }),
            vec(inner, 2..4).prop_map(|branches| {
                let mut node = Object::new();
                node.insert("oneOf", branches);
                node.into()
            }),
        ]
    })
}

fn recorded(violation: &Violation) -> Json {
    let mut row = Object::new();
    row.insert("kind", violation.kind().as_str());
    row.insert("path", violation.path());
    if let Some(arg) = violation.arg() {
        row.insert("arg", arg);
    }
    row.into()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn both_judges_agree_with_the_oracle(schema in schema(), value in value(), root in select(&["", "value"][..])) {
        let compiled = Schema::new(&schema).unwrap();
        let found = compiled.violations(&value, root);
        let expected = violations(&schema, &value, root);
        prop_assert_eq!(found.iter().map(recorded).collect::<Vec<_>>(), expected.clone());
        prop_assert_eq!(compiled.is_valid(&value), expected.is_empty());
        prop_assert!(expected.len() <= DEFAULT_LISTED && found.truncated() == 0);
        for violation in &found {
            prop_assert!(violation.to_string().chars().count() < 500);
        }
    }

    #[test]
    fn dropping_a_required_property_is_always_named(schema in schema(), value in value()) {
        let (Some(names), Some(members)) = (schema.get("required").and_then(Json::as_array), value.as_object()) else {
            return Ok(());
        };
        let compiled = Schema::new(&schema).unwrap();
        for name in names.iter().filter_map(Json::as_str) {
            let rest: Object = members.iter().filter(|(key, _)| &***key != name).map(|(key, value)| (key.clone(), value.clone())).collect();
            let found = compiled.violations(&rest.into(), "value");
            let path = format!("value.{name}");
            prop_assert!(found.iter().any(|found| found.kind().as_str() == "missing_required" && found.path() == path));
        }
    }

    #[test]
    fn any_json_is_a_schema_or_is_refused_with_paths(json in value()) {
        match Schema::new(&json) {
            Ok(schema) => prop_assert_eq!(schema.json(), &json),
            Err(error) => prop_assert!(error.violations().iter().all(|found| found.path().starts_with("schema"))),
        }
    }
}

#[test]
fn the_public_types_cross_threads() {
    fn crosses<T: Send + Sync + 'static>() {}
    crosses::<Schema>();
    crosses::<Violations>();
    crosses::<JsonSchemaError>();
    crosses::<dsh_json_schema::LowerError>();
    assert_eq!(JsonSchemaError::NAME, "JsonSchemaError");
}

#[test]
fn many_properties_are_found_in_any_order() {
    let names = || (0..100).map(|index| format!("p{index}"));
    let draft =
        names().fold(Schema::object().closed(), |draft, name| draft.required(name, Schema::integer()));
    let schema = draft.build().unwrap();
    let forwards: Object = names().zip(0..100).collect();
    let backwards: Object = names().zip(0..100).collect::<Vec<_>>().into_iter().rev().collect();
    assert!(schema.is_valid(&forwards.clone().into()));
    assert!(schema.is_valid(&backwards.into()));

    let mut other = forwards;
    other.insert("p100", 1);
    assert!(!schema.is_valid(&other.into()));
}

#[test]
fn long_enumerations_compare_numbers_by_value() {
    // The last two have the same nearest double.
    let odd = [1_i64, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, i64::MAX - 2, i64::MAX];
    let schema = Schema::number().enumeration(odd).build().unwrap();
    for number in odd {
        assert!(schema.is_valid(&number.into()), "{number}");
        assert!(!schema.is_valid(&(number - 1).into()), "{number}");
    }
    assert!(schema.is_valid(&Json::try_from(21.0).unwrap()));
    assert!(!schema.is_valid(&Json::try_from(21.5).unwrap()));
}
