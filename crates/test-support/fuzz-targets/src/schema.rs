//! Schemas of the subset, and the author's short form (spec 04 §2, §3): what is taken is kept as it is and taken again.

use dsh_json::Json;
use dsh_json_schema::{JsonSchemaError, Schema, compile_params, compile_value};

use crate::{Met, violations};

pub(crate) fn schema(bytes: &[u8]) -> Met {
    let Some(json) = str::from_utf8(bytes).ok().and_then(|text| Json::parse(text).ok()) else {
        return Met::Refused;
    };
    let taken = asserted(&json);
    let value = compiled(compile_value(&json));
    let params = compiled(compile_params(&json));
    assert!(params.as_ref().is_none_or(takes_objects));
    Met::taken(taken || value.is_some() || params.is_some())
}

fn asserted(json: &Json) -> bool {
    let rooted = Schema::object_root(json);
    match Schema::new(json) {
        Ok(schema) => {
            assert!(schema.json() == json && schema.drops().is_empty());
            assert_eq!(schema.json().to_text(), json.to_text());
            match rooted {
                Ok(rooted) => assert!(takes_objects(&rooted) && rooted == schema),
                Err(error) => {
                    violations::refused(&error);
                    assert!(!takes_objects(&schema), "{error}");
                }
            }
            true
        }
        Err(error) => {
            violations::refused(&error);
            assert!(rooted.is_err(), "refused, and taken where more is asked: {error}");
            false
        }
    }
}

/// What the author's form compiles to is of the subset.
fn compiled(compiled: Result<Schema, JsonSchemaError>) -> Option<Schema> {
    match compiled {
        Ok(schema) => {
            assert!(Schema::new(schema.json()).is_ok_and(|same| same == schema), "{schema:?}");
            Some(schema)
        }
        Err(error) => {
            violations::refused(&error);
            None
        }
    }
}

fn takes_objects(schema: &Schema) -> bool {
    schema.json().get("type").and_then(Json::as_str) == Some("object")
}
