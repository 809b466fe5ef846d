//! Vector files and the vectors in them, read so that one bad vector spoils nothing but itself.

use std::path::Path;

use dsh_json::Json;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::Fault;
use crate::oddities::{is_finite_integer, number_at, oddities};

/// A vector as it stands in its file.
#[derive(Debug, Clone)]
pub(crate) struct Vector {
    /// The kind of its file.
    pub(crate) kind: String,
    pub(crate) input: Json,
    pub(crate) output: Json,
    /// The text of the input.
    pub(crate) input_text: String,
    /// The code of the refusal, when our reader does not take the input as it stands.
    pub(crate) refused: Option<&'static str>,
}

/// A vector's name in the report, and the vector or what is wrong with it.
pub(crate) type Named = (String, Result<Vector, Fault>);

/// What a file holds.
pub(crate) enum Content {
    /// Vectors of one kind.
    Vectors(String, Vec<Named>),
    /// JSON, but no vectors.
    Other,
}

/// The whole of a file, each part still as text.
#[derive(Deserialize)]
struct Parts<'a> {
    #[serde(borrow)]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    vectors: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct VectorParts<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    output: Option<&'a RawValue>,
}

/// Reads a file.
pub(crate) fn read(path: &Path) -> Result<Content, Fault> {
    let text = std::fs::read_to_string(path).map_err(Fault::scene)?;
    parse(text.strip_prefix('\u{feff}').unwrap_or(&text))
}

fn parse(text: &str) -> Result<Content, Fault> {
    let not_json =
        |error: serde_json::Error| Fault::NotJson { what: "the file".into(), error: error.to_string() };
    if !text.trim_start().starts_with('{') {
        serde_json::from_str::<&RawValue>(text).map_err(not_json)?;
        return Ok(Content::Other);
    }
    let parts: Parts<'_> = serde_json::from_str(text).map_err(not_json)?;
    let Some(kind) = parts.kind.and_then(|kind| serde_json::from_str::<String>(kind.get()).ok()) else {
        return Ok(Content::Other);
    };
    let vectors = parts.vectors.ok_or_else(|| Fault::Missing("vectors".into()))?;
    let vectors: Vec<&RawValue> = serde_json::from_str(vectors.get()).map_err(|_| Fault::Form {
        field: "vectors".into(),
        found: vectors.get().chars().take(60).collect(),
        wanted: "a list",
    })?;
    let named = vectors.iter().enumerate().map(|(index, raw)| vector(&kind, index, raw.get())).collect();
    Ok(Content::Vectors(kind, named))
}

fn vector(kind: &str, index: usize, text: &str) -> Named {
    let nameless = format!("#{index}");
    let parts: VectorParts<'_> = match serde_json::from_str(text) {
        Ok(parts) => parts,
        Err(_) => return (nameless, Err(Fault::Missing("input".into()))),
    };
    let id = parts
        .id
        .map_or(nameless, |id| serde_json::from_str(id.get()).unwrap_or_else(|_| id.get().to_owned()));
    let read = || {
        let input_text = parts.input.ok_or_else(|| Fault::Missing("input".into()))?.get();
        let output_text = parts.output.ok_or_else(|| Fault::Missing("output".into()))?.get();
        let (input, refused) = read_by_javascript(input_text, "the input")?;
        let (output, _) = read_by_javascript(output_text, "the output")?;
        Ok(Vector { kind: kind.to_owned(), input, output, input_text: input_text.to_owned(), refused })
    };
    let vector = read();
    (id, vector)
}

/// What stands for half a surrogate pair, here and in what is compared with it.
pub(crate) const HALF: char = '\u{fffd}';

/// JSON as JavaScript takes it, and as it wrote these files: each integer is a double; a text may have lone surrogates,
/// which our reader refuses, so that here stands [`HALF`] for each, and the code of the refusal is told.
pub(crate) fn read_by_javascript(text: &str, what: &str) -> Result<(Json, Option<&'static str>), Fault> {
    let mut text = text.to_owned();
    let mut refused = None;
    loop {
        let error = match Json::parse(&text) {
            Ok(value) => return Ok((value, refused)),
            Err(error) => error,
        };
        let at = error.position().map_or(0, |position| position.offset);
        let rest = text.get(at..).unwrap_or_default();
        match error.code() {
            "JSON_NUMBER" if is_finite_integer(number_at(rest)) => {
                let end = at + number_at(rest).len();
                text.insert_str(end, "e0");
            }
            "JSON_STRING" if oddities(&text).lone_surrogate => {
                refused = Some("JSON_STRING");
                text = without_halves(&text);
            }
            "JSON_TOO_DEEP" => return Ok((Json::Null, Some("JSON_TOO_DEEP"))),
            _ => return Err(Fault::not_json(what, &error)),
        }
    }
}

/// The text with [`HALF`] for each escaped surrogate that has no other half.
fn without_halves(text: &str) -> String {
    let unit_at = |rest: &str| -> Option<u16> {
        let digits = rest.strip_prefix("\\u")?.get(..4)?;
        u16::from_str_radix(digits, 16).ok().filter(|unit| (0xD800..0xE000).contains(unit))
    };
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match (unit_at(rest), rest.get(6..).and_then(unit_at)) {
            (Some(high @ ..0xDC00), Some(low @ 0xDC00..)) => {
                out.extend(char::decode_utf16([high, low]).flatten());
                12
            }
            (Some(_), _) => {
                out.push(HALF);
                6
            }
            (None, _) => {
                let length = if first == '\\' { 2 } else { first.len_utf8() };
                out.push_str(rest.get(..length).unwrap_or_default());
                length
            }
        };
        rest = rest.get(length..).unwrap_or_default();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vectors(text: &str) -> Vec<String> {
        match parse(text) {
            Ok(Content::Other) => vec!["other".into()],
            Err(fault) => vec![fault.to_string()],
            Ok(Content::Vectors(kind, named)) => named
                .into_iter()
                .map(|(id, vector)| match vector {
                    Ok(vector) => {
                        let refused = vector.refused.unwrap_or("-");
                        format!(
                            "{kind} {id} {} {} {refused}",
                            vector.input.to_text(),
                            vector.output.to_text()
                        )
                    }
                    Err(fault) => format!("{kind} {id}: {fault}"),
                })
                .collect(),
        }
    }

    #[test]
    fn one_bad_vector_spoils_nothing_else() {
        let text = r#"{"vectors": [
            {"id": "a", "input": {"x": 100000000000000000000}, "output": 1, "note": 1e999},
            {"id": "b", "input": "\ud83d\ude00 \ud83d \\ud83d", "output": "\ude00"},
            {"id": 7, "input": 1},
            {"output": [], "input": -0},
            3
        ], "kind": "k"}"#;
        let expected = [
            r#"k a {"x":100000000000000000000.0} 1 -"#,
            r#"k b "😀 � \\ud83d" "�" JSON_STRING"#,
            "k 7: the vector has no `output`",
        ];
        let found = vectors(text);
        assert_eq!(found.get(..3).unwrap_or_default(), expected);
        assert!(
            found.get(3).is_some_and(|text| text.starts_with("k #3: the input is not JSON")),
            "{found:?}"
        );
        assert_eq!(found.get(4).map(String::as_str), Some("k #4: the vector has no `input`"));
    }

    #[test]
    fn what_is_no_vector_file_is_told_apart_from_a_broken_one() {
        let rows = [
            ("[]", "other"),
            ("{\"a\": 1}", "other"),
            ("{\"kind\": 1, \"vectors\": []}", "other"),
            ("{\"kind\": \"k\"}", "the vector has no `vectors`"),
            ("{\"kind\": \"k\", \"vectors\": {}}", "`vectors` is {}, not a list"),
        ];
        for (text, expected) in rows {
            assert_eq!(vectors(text), [expected], "{text}");
        }
        assert!(vectors("{\"kind\": \"k\"").iter().all(|text| text.starts_with("the file is not JSON")));
    }
}
