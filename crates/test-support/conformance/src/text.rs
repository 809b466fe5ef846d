//! Comparing outputs.

use dsh_json::Json;
#[cfg(any(feature = "files", feature = "schema", feature = "scheduler"))]
use dsh_json::Object;

/// Compact text with ECMAScript numbers, which is how the vectors are written.
pub(crate) fn ecma(value: &Json) -> String {
    match value {
        Json::Number(number) => number.ecma(),
        Json::Null | Json::Bool(_) | Json::String(_) => value.to_text(),
        Json::Array(items) => format!("[{}]", items.iter().map(ecma).collect::<Vec<_>>().join(",")),
        Json::Object(members) => {
            let member = |(key, value): (&std::sync::Arc<str>, &Json)| {
                format!("{}:{}", Json::from(key).to_text(), ecma(value))
            };
            format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(","))
        }
    }
}

/// An object without one of its members.
#[cfg(any(feature = "schema", feature = "scheduler"))]
pub(crate) fn without(object: &Object, name: &str) -> Object {
    let kept = object.iter().filter(|(key, _)| &***key != name);
    kept.map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// An object with one member replaced, or added at its end.
#[cfg(feature = "files")]
pub(crate) fn with(object: &Object, name: &str, value: impl Into<Json>) -> Object {
    let mut object = object.clone();
    object.insert(name, value);
    object
}
