//! Another judge of values: the `jsonschema` crate.

use dsh_json::Json;
use jsonschema::Validator;
use serde_json::Value;

/// It recurses.
const DEPTH: usize = 64;

/// A judge by the standard; none for what it can't read, or only with more stack than there may be.
pub(crate) fn of(schema: &Json) -> Option<Validator> {
    if schema.depth() > DEPTH {
        return None;
    }
    let mut schema = serde_json::to_value(schema).ok()?;
    name_once(&mut schema);
    jsonschema::draft202012::new(&schema).ok()
}

/// What it says; none for values that are too deep for it.
pub(crate) fn takes(judge: &Validator, value: &Json) -> Option<bool> {
    if value.depth() > DEPTH {
        return None;
    }
    Some(judge.is_valid(&serde_json::to_value(value).ok()?))
}

/// The subset takes a name twice in `required`, the standard does not.
fn name_once(schema: &mut Value) {
    if let Some(Value::Array(names)) = schema.get_mut("required") {
        names.sort_by_key(ToString::to_string);
        names.dedup();
    }
    match schema {
        Value::Array(items) => items.iter_mut().for_each(name_once),
        Value::Object(node) => node.values_mut().for_each(name_once),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
