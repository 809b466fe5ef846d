//! Numbers that a `Json` can't hold, for recorded inputs that have them.
//!
//! The original carried `-0` and infinities into its walks and refused them there; our reader refuses the text. To
//! compare the recorded paths, each such literal is replaced by a mark, and the mark is judged as the number.

use dsh_json::{Json, Object};

use crate::Fault;
use crate::oddities::{is_finite_integer, number_at};

const MARK: &str = "\u{e000}lossy";
const ANNOTATIONS: [&str; 4] = ["description", "title", "default", "examples"];

/// Reads text, with marks for `-0` and for what is infinite as a double.
pub(super) fn read(text: &str, what: &str) -> Result<Json, Fault> {
    let mut text = text.to_owned();
    loop {
        let error = match Json::parse(&text) {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        match error.code() {
            "JSON_NUMBER" => {
                let start = error.position().map_or(0, |position| position.offset);
                let number = number_at(text.get(start..).unwrap_or_default());
                if number.is_empty() || is_finite_integer(number) {
                    return Err(Fault::Refused("JSON_NUMBER"));
                }
                text.replace_range(start..start + number.len(), &format!("[\"{MARK}\"]"));
            }
            code @ ("JSON_STRING" | "JSON_TOO_DEEP" | "JSON_TOO_LONG") => return Err(Fault::Refused(code)),
            _ => return Err(Fault::not_json(what, &error)),
        }
    }
}

pub(super) fn is_mark(value: &Json) -> bool {
    value.at(0).and_then(Json::as_str) == Some(MARK)
}

pub(super) fn has_mark(value: &Json) -> bool {
    is_mark(value)
        || value.as_array().is_some_and(|items| items.iter().any(has_mark))
        || value.as_object().is_some_and(|object| object.values().any(has_mark))
}

/// Makes the marks in a schema's annotations visible to the assert: as unknown keywords, which it reports where the
/// original reported the lossy annotation. [`revealed`] names them back.
pub(crate) fn exposed(schema: &Json) -> Json {
    node(schema, true)
}

/// An author's schema in which a mark can't be taken for the list that it is made of.
pub(super) fn settled(spec: &Json) -> Json {
    node(spec, false)
}

/// The same for a property map.
pub(super) fn settled_map(spec: &Json) -> Json {
    map(spec, false)
}

/// The kind and path that the original reported for a violation of an exposed schema.
pub(super) fn revealed<'a>(kind: &'a str, path: &'a str) -> (&'a str, &'a str) {
    match path.strip_suffix(MARK) {
        Some(path) => ("annotation_not_lossless", path),
        None => (kind, path),
    }
}

fn node(schema: &Json, expose: bool) -> Json {
    let Some(members) = schema.as_object() else { return schema.clone() };
    let mut shown = Object::new();
    for (key, value) in members {
        let value = match &**key {
            "type" | "enum" | "required" | "oneOf" if is_mark(value) => Json::from(0),
            "properties" => map(value, expose),
            "oneOf" => match value.as_array() {
                Some(branches) => branches.iter().map(|branch| node(branch, expose)).collect(),
                None => value.clone(),
            },
            "items" => node(value, expose),
            _ => value.clone(),
        };
        if expose && ANNOTATIONS.contains(&&**key) && has_mark(&value) {
            shown.insert(format!("{key}{MARK}"), true);
        }
        shown.insert(key.clone(), value);
    }
    shown.into()
}

fn map(properties: &Json, expose: bool) -> Json {
    let Some(members) = properties.as_object() else { return properties.clone() };
    members.iter().map(|(name, schema)| (name.clone(), node(schema, expose))).collect::<Object>().into()
}
