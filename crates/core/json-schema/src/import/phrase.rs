//! Shapes and keywords in a few words, for descriptions. Types are written as in TypeScript, which models know well.

use std::fmt::Write as _;

use dsh_json::{Json, Number, Object};

use super::shape::{Fields, Form, Rule, Shape};
use crate::program::Scalar;
use crate::words;

/// The longest text of a type, in characters.
const MAX_TYPE_CHARS: usize = 240;
/// The longest schema that is quoted as it is, in characters.
const MAX_QUOTED_CHARS: usize = 240;
/// How deep types are written out.
const MAX_LEVELS: usize = 4;
/// The longest list of literals or properties in a type.
const MAX_MEMBERS: usize = 12;

/// The type of a shape, and what else it asks for.
pub(super) fn of(shape: &Shape) -> String {
    let mut text = String::new();
    write_type(&mut text, shape, 0);
    let mut remarks = shape.notes.remarks.clone();
    if let Some([only]) = shape.forms() {
        remarks.extend(only.notes.remarks.iter().cloned());
    }
    if !remarks.is_empty() {
        // Writing into a string can't fail.
        let _ = write!(text, " ({})", remarks.join(", "));
    }
    words::shorten(&text, MAX_TYPE_CHARS)
}

/// The types of alternatives, as one union.
pub(super) fn any_of<'a>(shapes: impl Iterator<Item = &'a Form>) -> String {
    let mut text = String::new();
    for (at, form) in shapes.take(MAX_MEMBERS).enumerate() {
        if at > 0 {
            text.push_str(" | ");
        }
        write_form(&mut text, form, 0);
    }
    words::shorten(&text, MAX_TYPE_CHARS)
}

fn write_type(text: &mut String, shape: &Shape, level: usize) {
    let Some(forms) = shape.forms() else { return text.push_str("any") };
    if forms.is_empty() {
        return text.push_str("never");
    }
    for (at, form) in forms.iter().enumerate() {
        if at > 0 {
            text.push_str(" | ");
        }
        write_form(text, form, level);
    }
}

fn write_form(text: &mut String, form: &Form, level: usize) {
    if text.len() > MAX_TYPE_CHARS.saturating_mul(4) {
        return;
    }
    match &form.rule {
        Rule::Scalar(_, Some(literals)) => {
            for (at, literal) in literals.iter().take(MAX_MEMBERS).enumerate() {
                if at > 0 {
                    text.push_str(" | ");
                }
                text.push_str(&words::excerpt(literal));
            }
            if literals.len() > MAX_MEMBERS {
                text.push_str(" | …");
            }
        }
        Rule::Scalar(Scalar::Integer, None) => text.push_str("integer"),
        Rule::Scalar(scalar, None) => text.push_str(scalar.name()),
        Rule::Array(None) => text.push_str("any[]"),
        Rule::Array(Some(_)) if level >= MAX_LEVELS => text.push_str("array"),
        Rule::Array(Some(items)) => {
            let several = items.forms().is_some_and(|forms| forms.len() > 1)
                || items.literals().is_some_and(|literals| literals.len() > 1);
            text.push_str(if several { "(" } else { "" });
            write_type(text, items, level.saturating_add(1));
            text.push_str(if several { ")[]" } else { "[]" });
        }
        Rule::Object(fields) if fields.len() == 0 || level >= MAX_LEVELS => text.push_str("object"),
        Rule::Object(fields) => write_fields(text, fields, level),
    }
}

fn write_fields(text: &mut String, fields: &Fields, level: usize) {
    text.push('{');
    for (at, field) in fields.iter().take(MAX_MEMBERS).enumerate() {
        text.push_str(if at > 0 { ", " } else { " " });
        text.push_str(&words::shorten(&field.name, 40));
        text.push_str(if field.required { ": " } else { "?: " });
        write_type(text, &field.shape, level.saturating_add(1));
    }
    text.push_str(if fields.len() > MAX_MEMBERS { ", … }" } else { " }" });
}

/// A keyword that only describes, in words; nothing when it asks for nothing a model could do about.
pub(super) fn keyword(name: &str, value: &Json, node: &Object) -> Option<String> {
    let number = || value.as_number().map(Number::ecma);
    let flag = |key: &str| node.get(key).and_then(Json::as_bool) == Some(true);
    let text = || value.as_str().map(|text| words::shorten(text, MAX_QUOTED_CHARS));
    let count = |least: &str, thing: &str| {
        let count = value.as_u64()?;
        (count > 0 || least == "at most").then(|| counted(least, count, thing))
    };
    match name {
        "minimum" | "maximum" if is_safe_bound(value) => None,
        "minimum" if flag("exclusiveMinimum") => Some(format!("more than {}", number()?)),
        "maximum" if flag("exclusiveMaximum") => Some(format!("less than {}", number()?)),
        "minimum" => Some(format!("at least {}", number()?)),
        "maximum" => Some(format!("at most {}", number()?)),
        "exclusiveMinimum" => Some(format!("more than {}", number()?)),
        "exclusiveMaximum" => Some(format!("less than {}", number()?)),
        "multipleOf" => Some(format!("a multiple of {}", number()?)),
        "minLength" => count("at least", "character"),
        "maxLength" => count("at most", "character"),
        "minItems" => count("at least", "item"),
        "maxItems" => count("at most", "item"),
        "minProperties" => count("at least", "property"),
        "maxProperties" => count("at most", "property"),
        "uniqueItems" => value.as_bool()?.then(|| "no item twice".to_owned()),
        "pattern" => Some(format!("matching the pattern `{}`", text()?)),
        "format" => Some(format!("format {}", text()?)),
        "contentEncoding" => Some(format!("encoded as {}", text()?)),
        "contentMediaType" => Some(format!("media type {}", text()?)),
        "deprecated" => value.as_bool()?.then(|| "deprecated".to_owned()),
        "readOnly" => value.as_bool()?.then(|| "read-only".to_owned()),
        _ => None,
    }
}

fn counted(least: &str, count: u64, thing: &str) -> String {
    match (count, thing) {
        (1, thing) => format!("{least} 1 {thing}"),
        (count, "property") => format!("{least} {count} properties"),
        (count, thing) => format!("{least} {count} {thing}s"),
    }
}

/// The largest integer that a double holds with all its neighbours, which generators write as a bound of every integer.
fn is_safe_bound(value: &Json) -> bool {
    value.as_i64().is_some_and(|bound| bound.unsigned_abs() == 9_007_199_254_740_991)
}

/// What has to be there beside what, from `dependentRequired` or the names in `dependencies`.
pub(super) fn dependencies(map: &Object) -> Option<String> {
    let mut rules = Vec::new();
    for (name, needed) in map {
        let names: Option<Vec<&str>> = needed.as_array()?.iter().map(Json::as_str).collect();
        if let Some((first, rest)) = names?.split_first() {
            let all = rest.iter().fold(format!("`{first}`"), |all, name| format!("{all} and `{name}`"));
            rules.push(format!("`{name}` needs {all}"));
        }
    }
    short(&rules.join(", "))
}

/// What `anyOf` or `oneOf` says whose branches only list required names.
pub(super) fn required_names(branches: &[Json], exactly_one: bool) -> Option<String> {
    let mut choices = Vec::with_capacity(branches.len());
    for branch in branches {
        let branch = branch.as_object()?;
        if branch.keys().any(|key| !matches!(&**key, "required" | "type" | "title")) {
            return None;
        }
        let names: Option<Vec<String>> = branch
            .get("required")?
            .as_array()?
            .iter()
            .map(|name| Some(format!("`{}`", name.as_str()?)))
            .collect();
        choices.push(names?.join(" with "));
    }
    let choices = choices.join(" or ");
    short(&if exactly_one { format!("either {choices}") } else { format!("{choices} is required") })
}

/// A keyword as it was written, when that is short.
pub(super) fn quoted(name: &str, value: &Json) -> Option<String> {
    short(&format!("{name} `{}`", bounded_text(value)?))
}

fn short(text: &str) -> Option<String> {
    let is_short = !text.is_empty() && text.chars().nth(MAX_QUOTED_CHARS).is_none();
    is_short.then(|| text.to_owned())
}

/// The text of a value that is small.
fn bounded_text(value: &Json) -> Option<String> {
    is_small(value, MAX_QUOTED_CHARS).then(|| value.to_text())
}

/// What a keyword said, for the report.
pub(super) fn excerpt(value: &Json) -> String {
    bounded_text(value).unwrap_or_else(|| words::found(value))
}

/// Whether the text of a value has at most about that many bytes; looks at no more of it.
pub(super) fn is_small(value: &Json, bytes: usize) -> bool {
    let mut left = bytes;
    let mut todo = vec![value];
    while let Some(value) = todo.pop() {
        let cost = match value {
            Json::Null | Json::Bool(_) | Json::Number(_) => 4,
            Json::String(text) => text.len().saturating_add(2),
            Json::Array(items) => items.len().saturating_add(2),
            Json::Object(node) => {
                let names: usize = node.keys().take(left).map(|key| key.len().saturating_add(4)).sum();
                names.saturating_add(2)
            }
        };
        let Some(rest) = left.checked_sub(cost) else { return false };
        left = rest;
        match value {
            Json::Array(items) => todo.extend(items.iter()),
            Json::Object(node) => todo.extend(node.values()),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
        }
    }
    true
}
