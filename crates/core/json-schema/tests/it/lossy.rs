//! Numbers that a `Json` can't hold, for recorded inputs that have them.
//!
//! The original carried `-0` and infinities into its walks and refused them there; our reader refuses the text. To
//! compare the recorded paths, each refused literal is replaced by a mark, and the mark is judged as the number.

use dsh_json::{Json, Object};

const MARK: &str = "\u{e000}lossy";
const ANNOTATIONS: [&str; 4] = ["description", "title", "default", "examples"];

/// Reads text, with marks for the numbers that the reader refuses.
pub(crate) fn read(text: &str) -> Json {
    let mut text = text.to_owned();
    loop {
        match Json::parse(&text) {
            Ok(value) => return value,
            Err(error) => {
                assert_eq!(error.code(), "JSON_NUMBER", "{error}");
                let start = error.position().expect("the error comes from a text").offset;
                let rest = &text[start..];
                let len = rest.find([',', ']', '}', ' ', '\n', '\t']).unwrap_or(rest.len());
                text.replace_range(start..start + len, &format!("[\"{MARK}\"]"));
            }
        }
    }
}

pub(crate) fn is_mark(value: &Json) -> bool {
    value.at(0).and_then(Json::as_str) == Some(MARK)
}

pub(crate) fn has_mark(value: &Json) -> bool {
    is_mark(value)
        || value.as_array().is_some_and(|items| items.iter().any(has_mark))
        || value.as_object().is_some_and(|object| object.values().any(has_mark))
}

/// Makes the marks in a schema's annotations visible to the assert: as unknown keywords, which it reports where the
/// original reported the lossy annotation. [`revealed`] names them back.
pub(crate) fn exposed(schema: &Json) -> Json {
    let Some(node) = schema.as_object() else { return schema.clone() };
    let mut shown = Object::new();
    for (key, value) in node {
        let value = match &**key {
            "type" if is_mark(value) => Json::from(0),
            "properties" if value.as_object().is_some() => value
                .as_object()
                .unwrap()
                .iter()
                .map(|(name, schema)| (name.clone(), exposed(schema)))
                .collect::<Object>()
                .into(),
            "oneOf" if !is_mark(value) && value.as_array().is_some() => {
                value.as_array().unwrap().iter().map(exposed).collect()
            }
            "items" => exposed(value),
            _ => value.clone(),
        };
        if ANNOTATIONS.contains(&&**key) && has_mark(&value) {
            shown.insert(format!("{key}{MARK}"), true);
        }
        shown.insert(key.clone(), value);
    }
    shown.into()
}

/// The kind and path that the original reported for a violation of an exposed schema.
pub(crate) fn revealed<'a>(kind: &'a str, path: &'a str) -> (&'a str, &'a str) {
    match path.strip_suffix(MARK) {
        Some(path) => ("annotation_not_lossless", path),
        None => (kind, path),
    }
}
