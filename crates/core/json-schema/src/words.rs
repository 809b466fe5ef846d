//! The words of violations, and the pieces of values that they show. Every piece is bounded.

use dsh_json::{Json, Kind, Number, Object};

use crate::program::{Allowed, Kinds, ObjectRule};

/// The longest piece of a value that a text shows, in characters.
const MAX_EXCERPT: usize = 60;
/// The longest list of names or literals that a text shows, in characters.
const MAX_LIST: usize = 140;
/// Names and strings longer than this are not compared for likeness.
const MAX_COMPARED: usize = 64;
/// How many names or literals are compared for likeness.
const MAX_CANDIDATES: usize = 1_000;

/// `text`, cut after `limit` characters.
pub(crate) fn shorten(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}

/// A text of at most `most` characters, the mark of a cut included.
pub(crate) fn cut(text: &str, most: usize) -> String {
    if text.chars().nth(most).is_none() { text.to_owned() } else { shorten(text, most.saturating_sub(1)) }
}

/// `text` without its middle, when it is longer than `limit` characters.
pub(crate) fn shorten_middle(text: &str, limit: usize) -> String {
    let half = limit / 2;
    if text.char_indices().nth(limit).is_none() {
        return text.to_owned();
    }
    let head = text.char_indices().nth(half).map_or(text.len(), |(at, _)| at);
    let tail = text.char_indices().rev().nth(half.saturating_sub(1)).map_or(0, |(at, _)| at);
    format!("{}…{}", text.get(..head).unwrap_or_default(), text.get(tail..).unwrap_or_default())
}

/// A string as JSON text, shortened.
pub(crate) fn quoted(text: &str) -> String {
    literal(&Json::from(shorten(text, MAX_EXCERPT)))
}

/// A scalar as compact JSON with ECMAScript numbers; containers are not looked into.
fn literal(value: &Json) -> String {
    match value {
        Json::Number(number) => number.ecma(),
        Json::Null | Json::Bool(_) | Json::String(_) => value.to_text(),
        Json::Array(_) => "[…]".to_owned(),
        Json::Object(_) => "{…}".to_owned(),
    }
}

/// A literal, shortened.
pub(crate) fn excerpt(value: &Json) -> String {
    shorten(&literal(value), MAX_EXCERPT)
}

/// A literal whole, as the argument of a violation.
pub(crate) fn literal_arg(value: &Json) -> String {
    literal(value)
}

/// A list of literals whole, as the argument of a violation.
pub(crate) fn list_arg(allowed: &Allowed) -> String {
    let members: Vec<String> = allowed.list().iter().map(literal).collect();
    format!("[{}]", members.join(","))
}

/// What a value is, with a short excerpt.
pub(crate) fn found(value: &Json) -> String {
    match value {
        Json::Null => "null".to_owned(),
        Json::Bool(flag) => flag.to_string(),
        Json::Number(number) => format!("the number {}", number.ecma()),
        Json::String(text) => format!("the string {}", quoted(text)),
        Json::Array(_) => match value.as_array().map_or(0, <[Json]>::len) {
            0 => "an empty array".to_owned(),
            1 => "an array of 1 item".to_owned(),
            count => format!("an array of {count} items"),
        },
        Json::Object(object) => format!("an object {}", keys_of(object)),
    }
}

fn keys_of(object: &Object) -> String {
    if object.is_empty() {
        return "without properties".to_owned();
    }
    format!("with {}", list(object.keys().map(|key| &**key)))
}

/// Names, shortened one by one, and only as many as fit.
fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    list_of(names.map(|name| shorten(name, MAX_EXCERPT)))
}

fn list_of(entries: impl Iterator<Item = String>) -> String {
    let mut text = String::new();
    let mut left_out = 0_usize;
    for entry in entries {
        if left_out > 0 || (!text.is_empty() && text.len().saturating_add(entry.len()) > MAX_LIST) {
            left_out = left_out.saturating_add(1);
            continue;
        }
        if !text.is_empty() {
            text.push_str(", ");
        }
        text.push_str(&entry);
    }
    match left_out {
        0 => text,
        more => format!("{text} and {more} more"),
    }
}

/// A value of another type, and what to send instead.
pub(crate) fn wrong_type(expected: &str, value: &Json) -> String {
    let article = if expected.starts_with(['a', 'i', 'o']) { "an" } else { "a" };
    let wanted = if expected == "null" { "null".to_owned() } else { format!("{article} {expected}") };
    let advice = match value {
        Json::String(text) if holds(text, expected) => {
            format!(
                "; send {} itself, not a string of JSON",
                if expected == "null" { "null" } else { "the value" }
            )
        }
        Json::Number(_) if expected == "integer" => "; it must have no fraction".to_owned(),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_) | Json::Object(_) => {
            String::new()
        }
    };
    format!("must be {wanted}; found {}{advice}", found(value))
}

/// Whether a string is the JSON text of a value of the expected type. Long text is judged by its ends.
fn holds(text: &str, expected: &str) -> bool {
    let text = text.trim();
    let ends = |open, close| text.starts_with(open) && text.ends_with(close);
    match expected {
        "array" => ends('[', ']'),
        "object" => ends('{', '}'),
        "string" => false,
        _ => {
            text.len() <= MAX_COMPARED
                && Json::parse(text).is_ok_and(|value| match expected {
                    "null" => value.is_null(),
                    "boolean" => value.as_bool().is_some(),
                    "integer" => value.as_number().is_some_and(Number::is_integral),
                    _ => value.as_number().is_some(),
                })
        }
    }
}

/// A value outside `enum`.
pub(crate) fn not_in_enum(allowed: &Allowed, value: &Json) -> String {
    let members = list_of(allowed.list().iter().map(|member| shorten(&literal(member), MAX_EXCERPT)));
    let like = value
        .as_str()
        .and_then(|text| nearest(text, allowed.list().iter().filter_map(Json::as_str)))
        .map_or_else(String::new, |like| format!("; did you mean {}?", quoted(like)));
    format!("must be one of {members}; found {}{like}", found(value))
}

/// A value that is not the `const`.
pub(crate) fn not_const(constant: &Json, value: &Json) -> String {
    format!("must be exactly {}; found {}", shorten(&literal(constant), MAX_EXCERPT), found(value))
}

/// A missing property.
pub(crate) fn missing_required() -> String {
    "is required but missing; add it".to_owned()
}

/// A property that a closed object does not declare.
pub(crate) fn undeclared_property(rule: &ObjectRule, name: &str) -> String {
    if rule.properties.is_empty() {
        return "is not allowed; this object takes no properties".to_owned();
    }
    let known = list(rule.names());
    match nearest(name, rule.names()) {
        Some(like) => {
            format!(
                "is not a known property; did you mean {}? Known properties: {known}",
                shorten(like, MAX_EXCERPT)
            )
        }
        None => format!("is not a known property; remove it. Known properties: {known}"),
    }
}

/// No branch of a union accepts a value of this kind.
pub(crate) fn no_kind_fits(accepted: Kinds, value: &Json) -> String {
    let names: Vec<String> = accepted.iter().map(with_article).collect();
    let wanted = match names.split_last() {
        None => "something else".to_owned(),
        Some((only, [])) => only.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
    };
    format!("must be {wanted}; found {}", found(value))
}

fn with_article(kind: Kind) -> String {
    match kind {
        Kind::Null => "null",
        Kind::Boolean => "a boolean",
        Kind::Number => "a number",
        Kind::String => "a string",
        Kind::Array => "an array",
        Kind::Object => "an object",
    }
    .to_owned()
}

/// No branch matches; `closest` says which nearly does, and why it does not.
pub(crate) fn no_branch(branches: u32, closest: Option<(usize, String)>) -> String {
    let Some((index, problem)) = closest else {
        return format!("matches none of the {branches} allowed forms");
    };
    let form = index.saturating_add(1);
    format!("matches none of the {branches} allowed forms; the closest is form {form}, where {problem}")
}

/// The property that tells the branches apart names none of them.
pub(crate) fn unknown_tag(branches: u32, name: &str, tags: &[&Json], value: &Json) -> String {
    let tags = list_of(tags.iter().map(|tag| shorten(&literal(tag), MAX_EXCERPT)));
    let name = shorten(name, MAX_EXCERPT);
    format!(
        "matches none of the {branches} allowed forms: {name} must be one of {tags}; found {}",
        found(value)
    )
}

/// More than one branch matches.
pub(crate) fn many_branches(branches: u32, matched: &[usize]) -> String {
    let forms = list_of(matched.iter().map(|index| index.saturating_add(1).to_string()));
    format!(
        "matches {} of the {branches} allowed forms (forms {forms}) but must match exactly one",
        matched.len()
    )
}

/// Checking took too many steps.
pub(crate) fn value_too_large(limit: u64) -> String {
    format!("takes more than {limit} steps to check against its schema; send a smaller value")
}

/// The candidate most like `name`, if one is alike enough to be a slip: what errors about unknown names suggest.
///
/// Case, `_` and `-` don't count. Long names, and candidates after the first thousand, are not compared.
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > MAX_COMPARED {
        return None;
    }
    let plain = |text: &str| text.to_lowercase().replace(['_', '-'], "");
    let wanted = plain(name);
    candidates
        .take(MAX_CANDIDATES)
        .filter(|candidate| candidate.len() <= MAX_COMPARED)
        .map(|candidate| (strsim::damerau_levenshtein(&wanted, &plain(candidate)), candidate))
        .filter(|(distance, candidate)| *distance <= candidate.chars().count().max(name.chars().count()) / 3)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}
