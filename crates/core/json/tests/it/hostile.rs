//! Text made to hurt costs no more than its length.

use dsh_json::{Json, Limits};

use crate::{nested_arrays, nested_objects, on_small_stack};

const UNBOUNDED: Limits = Limits { max_depth: usize::MAX, max_bytes: usize::MAX };

#[test]
fn error_after_a_finished_deep_child_is_safe() {
    on_small_stack(|| {
        for deep in [nested_arrays(50_000), nested_objects(50_000)] {
            for text in [
                format!("[{deep},x]"),
                format!("[{deep}"),
                format!("{{\"a\":{deep},b}}"),
                format!("{{\"a\":{deep},\"a\":{deep}"),
                format!("{deep} x"),
            ] {
                assert_eq!(Json::parse_with(&text, &UNBOUNDED).unwrap_err().code(), "JSON_SYNTAX");
                assert_eq!(Json::parse(&text).unwrap_err().code(), "JSON_TOO_DEEP");
            }
        }
    });
}

#[test]
fn unclosed_brackets_are_refused_in_linear_time() {
    on_small_stack(|| {
        // Quadratic work would take minutes in a debug build.
        let text = format!("{}\"{}\"", "[".repeat(20_000), "x".repeat(1 << 20));
        let error = Json::parse_with(&text, &UNBOUNDED).unwrap_err();
        assert_eq!(error.position().unwrap().offset, text.len());
        assert!(error.to_string().len() < 400);

        let unclosed = "{\"a\":[".repeat(200_000);
        assert_eq!(Json::parse_with(&unclosed, &UNBOUNDED).unwrap_err().code(), "JSON_SYNTAX");
    });
}

#[test]
fn many_keys_and_many_duplicates_are_read_in_linear_time() {
    let keys: Vec<String> = (0..100_000).map(|n| format!("\"k{n}\":{n}")).collect();
    let text = format!("{{{0},{0}}}", keys.join(","));
    let parsed = Json::parse_with(&text, &UNBOUNDED).unwrap();
    assert_eq!(parsed.value.as_object().unwrap().len(), 100_000);
    assert_eq!(parsed.value.get("k99999").and_then(Json::as_i64), Some(99_999));
    assert_eq!(parsed.duplicate_keys.len(), 64);
    assert_eq!(parsed.duplicate_keys[63], "$.k63");
}

#[test]
fn errors_stay_short_whatever_they_quote() {
    let digits = "9".repeat(4_000);
    let key = "k".repeat(100_000);
    for text in [format!("[{digits}]"), format!("{{\"{key}\": -0}}"), "9".repeat(100_000)] {
        let error = Json::parse(&text).unwrap_err();
        assert_eq!(error.code(), "JSON_NUMBER");
        assert!(error.to_string().len() < 400, "{error}");
    }
    let error = Json::from("x".repeat(100_000)).read::<u32>().unwrap_err().to_string();
    assert!(error.len() < 700 && error.ends_with("expected u32"), "{error}");
}
