//! Text to value and back (design §5): what is read is written as the same value, what is refused is refused with its
//! place, and another reader agrees about the grammar.

use dsh_json::{Json, JsonError, Limits};
use serde::de::IgnoredAny;

use crate::Met;

/// The codes that a text can be refused with.
const CODES: [&str; 5] = ["JSON_SYNTAX", "JSON_TOO_DEEP", "JSON_TOO_LONG", "JSON_NUMBER", "JSON_STRING"];
/// Duplicate keys that are reported.
const REPORTED: usize = 64;
/// More than any message needs: paths and quotes in it are bounded.
const LONGEST_MESSAGE: usize = 32 << 10;
/// From here on a double may stand for more than one integer.
const LARGE: f64 = 9_007_199_254_740_992.0;
/// Below what the other reader accepts.
const COMPARED_DEPTH: usize = 100;

pub(crate) fn json(bytes: &[u8]) -> Met {
    let Ok(text) = str::from_utf8(bytes) else { return Met::Refused };
    match Json::parse_with(text, &Limits::default()) {
        Ok(parsed) => {
            assert!(parsed.duplicate_keys.len() <= REPORTED);
            assert!(parsed.duplicate_keys.iter().all(|path| path.starts_with('$')));
            bounds_hold(text, &parsed.value);
            writing_is_exact(&parsed.value);
            the_other_reader_agrees(text, &parsed.value);
            Met::Taken
        }
        Err(error) => {
            refusal_has_a_place(text, &error);
            // The other reader does not look into what it skips, so it takes numbers and strings that are refused here.
            let grammar = serde_json::from_str::<IgnoredAny>(text).is_err();
            assert!(grammar || error.code() != "JSON_SYNTAX", "grammar allows what is refused: {error}");
            Met::Refused
        }
    }
}

fn bounds_hold(text: &str, value: &Json) {
    let default = Limits::default();
    let depth = value.depth();
    assert!(depth <= default.max_depth);
    let exact = Limits { max_depth: depth, max_bytes: text.len() };
    assert!(Json::parse_with(text, &exact).is_ok_and(|parsed| parsed.value == *value));
    let short = Limits { max_bytes: text.len().saturating_sub(1), ..default };
    assert_eq!(code(Json::parse_with(text, &short).map(drop)), "JSON_TOO_LONG");
    if let Some(flat) = depth.checked_sub(1) {
        let flat = Limits { max_depth: flat, ..default };
        assert_eq!(code(Json::parse_with(text, &flat).map(drop)), "JSON_TOO_DEEP");
    }
}

fn code(result: Result<(), JsonError>) -> &'static str {
    result.err().map_or("nothing", |error| error.code())
}

fn writing_is_exact(value: &Json) {
    let text = value.to_text();
    assert_eq!(read(&text).to_text(), text);
    for text in [&text, &value.to_pretty()] {
        assert!(read(text) == *value, "{text}");
    }
    let canonical = value.canonical();
    assert_eq!(read(&value.to_pretty()).canonical(), canonical);
    // The text of larger numbers is ECMAScript's, which stands for other integers here.
    if !has_large_numbers(value) {
        let again = read(&canonical);
        assert!(again == *value && again.canonical() == canonical, "{canonical}");
    }
    assert!(Json::from_serialize(value).is_ok_and(|same| same == *value));
    assert!(value.read::<Json>().is_ok_and(|same| same == *value));
}

fn read(text: &str) -> Json {
    let parsed = Json::parse_with(text, &Limits::default())
        .unwrap_or_else(|error| panic!("what was written is refused: {error}\n{text}"));
    assert!(parsed.duplicate_keys.is_empty(), "{text}");
    parsed.value
}

fn has_large_numbers(value: &Json) -> bool {
    let mut rest = vec![value];
    while let Some(value) = rest.pop() {
        match value {
            Json::Number(number) if number.as_f64().abs() >= LARGE => return true,
            Json::Array(items) => rest.extend(items.iter()),
            Json::Object(object) => rest.extend(object.values()),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
        }
    }
    false
}

fn the_other_reader_agrees(text: &str, value: &Json) {
    if value.depth() > COMPARED_DEPTH {
        return;
    }
    let theirs = serde_json::from_str::<serde_json::Value>(text).map(|theirs| Json::from_serde_json(&theirs));
    assert!(matches!(&theirs, Ok(Ok(theirs)) if theirs == value), "{theirs:?}\n{value:?}");
}

fn refusal_has_a_place(text: &str, error: &JsonError) {
    let message = error.to_string();
    assert!(CODES.contains(&error.code()), "{}: {message}", error.code());
    assert!(error.path().starts_with('$'), "{}", error.path());
    assert!(!message.is_empty() && message.len() <= LONGEST_MESSAGE, "{} bytes: {message}", message.len());
    let Some(place) = error.position() else {
        assert_eq!(error.code(), "JSON_TOO_LONG", "{message}");
        return;
    };
    let before = text.get(..place.offset).unwrap_or_else(|| panic!("no place in the text: {message}"));
    let last = before.rsplit('\n').next().unwrap_or_default();
    assert_eq!(place.line, before.matches('\n').count() + 1, "{message}");
    assert_eq!(place.column, last.chars().count() + 1, "{message}");
}
