//! Random schemas and values: both judges against the naive oracle, and what follows from a schema.

use dsh_conformance::schema::violations;
use dsh_json::{Json, Object};
use dsh_json_schema::{DEFAULT_LISTED, JsonSchemaError, Schema, Violation, Violations};
use proptest::prelude::*;
use proptest::sample::select;

use crate::random::{schema, value};

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
