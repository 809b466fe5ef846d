//! The `jsonschema` crate as a judge: of our own judge over the subset, and of what an import takes.

use dsh_json::Json;
use dsh_json_schema::{ImportLimits, Schema};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::random::{foreign, schema, value};

fn judge(schema: &Json) -> jsonschema::Validator {
    let mut schema = converted(schema);
    name_once(&mut schema);
    jsonschema::draft202012::new(&schema).expect("a good schema")
}

/// The subset takes a name twice in `required`, the standard does not.
fn name_once(schema: &mut serde_json::Value) {
    if let Some(serde_json::Value::Array(names)) = schema.get_mut("required") {
        names.sort_by_key(ToString::to_string);
        names.dedup();
    }
    match schema {
        serde_json::Value::Array(items) => items.iter_mut().for_each(name_once),
        serde_json::Value::Object(node) => node.values_mut().for_each(name_once),
        serde_json::Value::Null
        | serde_json::Value::Bool(_)
        | serde_json::Value::Number(_)
        | serde_json::Value::String(_) => {}
    }
}

fn converted(value: &Json) -> serde_json::Value {
    serde_json::to_value(value).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn both_crates_agree_on_the_subset(schema in schema(), values in vec(value(), 10)) {
        let ours = Schema::new(&schema).unwrap();
        let theirs = judge(&schema);
        for value in &values {
            prop_assert_eq!(ours.is_valid(value), theirs.is_valid(&converted(value)), "{} on {}", schema, value);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn an_import_takes_what_the_original_takes(foreign in foreign(), values in vec(value(), 12)) {
        let imported = Schema::import(&foreign, &ImportLimits::default()).unwrap();
        let theirs = judge(&without_dangling(&foreign));
        let report = imported.report();
        let narrows = report.entries().iter().any(dsh_json_schema::ReportEntry::narrows);
        prop_assert_eq!(imported.unchecked(), None);
        for value in &values {
            let expected = theirs.is_valid(&converted(value));
            let lowered = imported.schema().is_valid(value);
            if expected && !narrows {
                prop_assert!(lowered, "{} refuses {}\n{}", imported.schema().json(), value, report);
            }
            if report.is_exact() {
                prop_assert_eq!(lowered, expected, "{} on {}", imported.schema().json(), value);
            }
            // With the original beside it, nothing wrong gets through, and nothing else is refused.
            prop_assert_eq!(imported.is_valid(value), expected && lowered);
            prop_assert_eq!(imported.violations(value, "").is_empty(), expected && lowered);
        }
    }

    #[test]
    fn parameters_take_what_the_original_takes_of_objects(foreign in foreign(), values in vec(value(), 12)) {
        let Ok(imported) = Schema::import_params(&foreign, &ImportLimits::default()) else { return Ok(()) };
        prop_assert_eq!(imported.schema().json().get("type").and_then(Json::as_str), Some("object"));
        let theirs = judge(&without_dangling(&foreign));
        let narrows = imported.report().entries().iter().any(dsh_json_schema::ReportEntry::narrows);
        for value in values.iter().filter(|value| value.as_object().is_some()) {
            let expected = theirs.is_valid(&converted(value));
            if !narrows {
                prop_assert_eq!(imported.is_valid(value), expected);
            }
        }
    }
}

/// What a reference that leads nowhere asks for: nothing.
fn without_dangling(schema: &Json) -> Json {
    Json::parse(&schema.to_text().replace(r##""$ref":"#/$defs/none""##, r#""title":"""#)).unwrap()
}
