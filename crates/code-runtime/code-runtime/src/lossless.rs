//! The words for what does not cross between program and host, the same in every engine (spec 06 §9, design §5).
//!
//! Which values of a language these are is the engine's to know. It says what and where, and this page says it to the
//! model.

use std::fmt::{self, Write as _};
use std::sync::Arc;

use dsh_json::Json;

use crate::string_bytes;

/// Levels that a value may have.
pub const MAX_DEPTH: usize = 10_000;

/// The first part of a value that is not lossless JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lossy {
    /// Where: `$` is the value itself.
    pub path: String,
    /// What, as a phrase that follows "is": `NaN`, `a function`.
    pub what: String,
    /// What to write instead, as an order; empty if that is plain.
    pub instead: &'static str,
}

impl fmt::Display for Lossy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {}", self.path, self.what)?;
        if self.instead.is_empty() { Ok(()) } else { write!(f, ": {}", self.instead) }
    }
}

impl std::error::Error for Lossy {}

/// One step from a container to its child.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// A property.
    Key(Arc<str>),
    /// An element.
    Index(usize),
}

/// A path such as `$.a[3]`, its length bounded: the middle of a long one and the end of a long key are elided.
pub fn path<'a>(steps: impl ExactSizeIterator<Item = &'a Step>) -> String {
    let count = steps.len();
    let mut out = String::from("$");
    for (at, step) in steps.enumerate() {
        if at >= SHOWN && at + SHOWN < count {
            if at == SHOWN {
                out.push('…');
            }
            continue;
        }
        match step {
            Step::Index(index) => {
                // Writing into a `String` can't fail.
                let _ = write!(out, "[{index}]");
            }
            Step::Key(key) if is_word(key) => {
                out.push('.');
                out.push_str(key);
            }
            Step::Key(key) => {
                let mut shown: String = key.chars().take(KEY_CHARS).collect();
                if shown.len() < key.len() {
                    shown.push('…');
                }
                let _ = write!(out, "[{}]", Json::from(shown));
            }
        }
    }
    out
}

/// What a value weighs while it waits: its texts as JSON, and [`PART`] for each value and key, which is about what holding it
/// costs. Never less than the length of its JSON text.
pub fn weight(value: &Json) -> usize {
    let mut rest = vec![value];
    let mut bytes = 0;
    while let Some(value) = rest.pop() {
        bytes += PART;
        match value {
            Json::Null | Json::Bool(_) | Json::Number(_) => {}
            Json::String(text) => bytes += text_weight(text),
            Json::Array(items) => rest.extend(items.iter()),
            Json::Object(object) => {
                bytes += object.keys().map(|key| PART + text_weight(key)).sum::<usize>();
                rest.extend(object.values());
            }
        }
    }
    bytes
}

/// What [`weight`] counts for a text: its length as JSON, without the quotes.
pub fn text_weight(text: &str) -> usize {
    string_bytes(text, usize::MAX).unwrap_or(usize::MAX).saturating_sub(2)
}

/// What [`weight`] counts for a value or a key, beside its text. The longest number and its comma are shorter.
pub const PART: usize = 32;

/// Steps shown at each end of a long path.
const SHOWN: usize = 16;
/// Characters shown of a long key.
const KEY_CHARS: usize = 64;

fn is_word(key: &str) -> bool {
    let mut bytes = key.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || matches!(first, b'_' | b'$'))
        && key.len() <= KEY_CHARS
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_written_as_everywhere_in_the_house() {
        let key = |key: &str| Step::Key(key.into());
        let steps = [key("a-b"), Step::Index(3), key("two words"), key(""), key("1")];
        assert_eq!(path(steps.iter()), r#"$.a-b[3]["two words"][""]["1"]"#);
        assert_eq!(path([].iter()), "$");
        assert_eq!(path([key(&"é".repeat(65))].iter()), format!("$[\"{}…\"]", "é".repeat(64)));
        let long: Vec<_> = (0..33).map(Step::Index).collect();
        let shown = path(long.iter());
        assert!(shown.contains("[15]…[17]") && shown.ends_with("[32]"), "{shown}");
        let steps: Vec<_> = (0..32).map(Step::Index).collect();
        assert!(!path(steps.iter()).contains('…'));
    }

    #[test]
    fn weight_counts_texts_and_parts() {
        let value = dsh_json::object! { "ab": dsh_json::array!["xyz", 1] };
        assert_eq!(weight(&value), 5 * PART + 2 + 3);
        assert_eq!(weight(&"\u{1}\"é".into()), PART + 6 + 2 + 2);
    }

    #[test]
    fn nothing_weighs_less_than_its_text() {
        for value in [
            Json::parse("[-9223372036854775808,18446744073709551615,-1.7976931348623157e308,5e-324,-0.0000012345678901234]")
                .unwrap(),
            dsh_json::object! { "": "", "\u{1f}\u{1f}": dsh_json::array![true, false, Json::Null, dsh_json::object! {}] },
            "\u{0}\u{1}\n\"\\/é😀".into(),
        ] {
            assert!(weight(&value) >= value.to_text().len(), "{value}");
        }
    }
}
