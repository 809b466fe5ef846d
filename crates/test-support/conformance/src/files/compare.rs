//! Whether results and files are the expected ones.

use dsh_json::Json;
use sha2::{Digest, Sha256};

use super::editing::folded;
use super::layout::entry;

/// The member under which a rule expects a text without what edits look past.
pub(super) const AFTER_FOLDED: &str = "after, but for blanks and typesetting";

/// Whatever the expected output states is compared, and nothing else.
pub(super) fn agrees(got: &Json, expected: &Json) -> bool {
    let same = |name: &str| got.get(name) == expected.get(name);
    let results = match expected.get("results").map(|results| results.as_array().unwrap_or_default()) {
        None => result(got, expected),
        Some(expected) => got.get("results").and_then(Json::as_array).is_some_and(|got| {
            got.len() == expected.len()
                && got.iter().zip(expected).all(|(got, expected)| result(got, expected))
        }),
    };
    results
        && same("refused")
        && same("config_error")
        && files(got.get("files_after"), expected.get("files_after"))
}

fn result(got: &Json, expected: &Json) -> bool {
    let code = |json: &Json| json.get("error").and_then(|error| error.get("code")).cloned();
    got.get("isError") == expected.get("isError")
        && code(expected).is_none_or(|expected| code(got) == Some(expected))
        && ["value", "meta"].iter().all(|name| {
            expected
                .get(name)
                .is_none_or(|expected| got.get(name).is_some_and(|got| same_json(got, expected)))
        })
}

/// Equal; or, where a large one was recorded by its digest, of the same text.
fn same_json(got: &Json, expected: &Json) -> bool {
    if let Some(digest) = expected.get("$sha256_of_json") {
        return digest_of(got) == *digest
            && expected.get("json_bytes").is_none_or(|bytes| *bytes == got.to_text().len().into());
    }
    match expected.get(AFTER_FOLDED).and_then(Json::as_str) {
        None => got == expected,
        Some(after) => {
            let text = |name: &str| got.get(name).and_then(Json::as_str);
            got.get("before") == expected.get("before")
                && text("after").is_some_and(|got| folded(got) == after)
        }
    }
}

/// The digest of a value's compact text.
pub(super) fn digest_of(json: &Json) -> Json {
    format!("{:x}", Sha256::digest(json.to_text())).into()
}

fn files(got: Option<&Json>, expected: Option<&Json>) -> bool {
    let Some(expected) = expected.and_then(Json::as_object) else { return true };
    expected.iter().all(|(name, expected)| {
        let got = got.and_then(|got| got.get(name)).and_then(|got| entry(name, got).ok());
        got.is_some_and(|got| entry(name, expected).is_ok_and(|expected| got == expected))
    })
}
