//! What is read, what is refused, and how the refusal reads.

use dsh_json::{Json, Limits, Position, array, object};

#[test]
fn values_are_read() {
    check("null", Json::Null);
    check(" true ", true);
    check("-12", -12);
    check("18446744073709551615", u64::MAX);
    check("-9223372036854775808", i64::MIN);
    check("1.5e3", Json::try_from(1500.0).unwrap());
    check("1e-400", Json::try_from(0.0).unwrap());
    check("[]", array![]);
    check("{}", object! {});
    check(r#"[1, [2, {"a": []}], "x"]"#, array![1, array![2, object! { "a": array![] }], "x"]);
    check(r#""\u00e9\ud83d\ude00\n\/\"""#, "é😀\n/\"");
    check(r#"{"__proto__": 1, "": 2, "0": 3}"#, object! { "__proto__": 1, "": 2, "0": 3 });

    fn check(text: &str, expected: impl Into<Json>) {
        assert_eq!(Json::parse(text).unwrap(), expected.into(), "{text}");
    }
}

#[test]
fn malformed_text_says_what_was_expected_and_where() {
    check("", "expected a value but the text ended at line 1 column 1 (byte 0)");
    check("  ", "expected a value but the text ended at line 1 column 3 (byte 2)");
    check("[1,\n 2x]", "expected `,` or `]` but found `x` at line 2 column 3 (byte 6)");
    check("[1,]", "expected another value after the comma but found `]` at line 1 column 4 (byte 3)");
    check("[", "expected a value or `]` but the text ended at line 1 column 2 (byte 1)");
    check("[1", "expected `,` or `]` but the text ended at line 1 column 3 (byte 2)");
    check("[1,", "expected the next value or key but the text ended at line 1 column 4 (byte 3)");
    check("{", "expected a key in double quotes or `}` but the text ended at line 1 column 2 (byte 1)");
    check("{a: 1}", "expected a key in double quotes but found `a` at line 1 column 2 (byte 1)");
    check(r#"{"a" 1}"#, "expected `:` but found `1` at line 1 column 6 (byte 5)");
    check(r#"{"a""#, "expected `:` but the text ended at line 1 column 5 (byte 4)");
    check(r#"{"a":"#, "expected a value but the text ended at line 1 column 6 (byte 5), in $.a");
    check(r#"{"a":"b""#, "expected `,` or `}` but the text ended at line 1 column 9 (byte 8)");
    check(r#"{"a":1,"b""#, "expected `:` but the text ended at line 1 column 11 (byte 10)");
    check(r#"{"a":1,"#, "expected the next value or key but the text ended at line 1 column 8 (byte 7)");
    check(r#"{"é":1 "b":2}"#, "expected `,` or `}` but found `\"` at line 1 column 8 (byte 8)");
    check(
        r#"{"a": {"b c": [0, tru]}}"#,
        "expected `true`, `false` or `null` but found `]` at line 1 column 22 (byte 21), in $.a[\"b c\"][1]",
    );
    check("nul", "expected `true`, `false` or `null` but the text ended at line 1 column 4 (byte 3)");
    check("1 2", "expected the end of the text but found `2` at line 1 column 3 (byte 2)");
    check("01", "expected no digit after a leading `0` but found `1` at line 1 column 2 (byte 1)");
    check("1.", "expected a digit but the text ended at line 1 column 3 (byte 2)");
    check("1.x", "expected a digit but found `x` at line 1 column 3 (byte 2)");
    check("-", "expected a digit but the text ended at line 1 column 2 (byte 1)");
    check("\"ab", "expected a closing `\"` but the text ended at line 1 column 4 (byte 3)");
    check(
        "\"a\nb\"",
        r"expected an escape such as `\n` for a control character but found U+000A at line 1 column 3 (byte 2)",
    );
    check(
        r#""\x""#,
        r#"expected a valid escape such as `\n`, `\"` or `\u00e9` but found `x` at line 1 column 3 (byte 2)"#,
    );
    check("\u{feff}1", "expected a value but found `\u{feff}` at line 1 column 1 (byte 0)");
    check("'a'", "expected a value but found `'` at line 1 column 1 (byte 0)");

    fn check(text: &str, expected: &str) {
        let error = Json::parse(text).unwrap_err();
        assert_eq!((error.code(), error.to_string().as_str()), ("JSON_SYNTAX", expected), "{text}");
    }
}

#[test]
fn what_would_be_lost_is_refused_with_its_path() {
    check("JSON_NUMBER", "-0", "negative zero (`-0`) is not accepted: write `0` at line 1 column 1 (byte 0)");
    check(
        "JSON_NUMBER",
        "[-0.0]",
        "negative zero (`-0.0`) is not accepted: write `0` at line 1 column 2 (byte 1), in $[0]",
    );
    check(
        "JSON_NUMBER",
        r#"{"a":[1,-1e-400]}"#,
        "negative zero (`-1e-400`) is not accepted: write `0` at line 1 column 9 (byte 8), in $.a[1]",
    );
    check(
        "JSON_NUMBER",
        "[1e400]",
        "`1e400` is beyond the range of a 64-bit floating point number at line 1 column 2 (byte 1), in $[0]",
    );
    check(
        "JSON_NUMBER",
        "18446744073709551616",
        "integer `18446744073709551616` does not fit 64 bits: write it as a string, or as a float such as `1e30` \
         at line 1 column 1 (byte 0)",
    );
    check(
        "JSON_NUMBER",
        "-9223372036854775809",
        "integer `-9223372036854775809` does not fit 64 bits: write it as a string, or as a float such as `1e30` \
         at line 1 column 1 (byte 0)",
    );
    check(
        "JSON_NUMBER",
        "[NaN]",
        "`NaN` is not a JSON number: write `null` or a string at line 1 column 2 (byte 1), in $[0]",
    );
    check(
        "JSON_NUMBER",
        "Infinity",
        "`Infinity` is not a JSON number: write `null` or a string at line 1 column 1 (byte 0)",
    );
    check(
        "JSON_NUMBER",
        "-Infinity",
        "`-Infinity` is not a JSON number: write `null` or a string at line 1 column 2 (byte 1)",
    );
    let half =
        "a `\\u` escape names only half of a surrogate pair: write both halves, or the character itself";
    for (text, place) in [
        (r#""\ud800""#, "line 1 column 8 (byte 7)"),
        (r#"["\udc00x"]"#, "line 1 column 8 (byte 7), in $[0]"),
        (r#"{"k":"\ud800\n"}"#, "line 1 column 14 (byte 13), in $.k"),
        (r#"{"k":"\ud800\u0041"}"#, "line 1 column 18 (byte 17), in $.k"),
    ] {
        check("JSON_STRING", text, &format!("{half} at {place}"));
    }

    fn check(code: &str, text: &str, expected: &str) {
        let error = Json::parse(text).unwrap_err();
        assert_eq!((error.code(), error.to_string().as_str()), (code, expected), "{text}");
    }
}

#[test]
fn limits_are_named_in_the_error() {
    let limits = Limits { max_depth: 2, max_bytes: 20 };
    assert!(Json::parse_with(r#"[[1],{"a":2}]"#, &limits).is_ok());
    for (text, code, expected) in [
        (
            r#"{"a":[[]]}"#,
            "JSON_TOO_DEEP",
            "nested deeper than 2 levels: flatten the value, or raise `max_depth` at line 1 column 7 (byte 6), in $.a[0]",
        ),
        (
            r#""123456789012345678901""#,
            "JSON_TOO_LONG",
            "the text has 23 bytes, over the limit of 20: shorten it, or raise `max_bytes`",
        ),
    ] {
        let error = Json::parse_with(text, &limits).unwrap_err();
        assert_eq!((error.code(), error.to_string().as_str()), (code, expected));
    }
}

#[test]
fn duplicate_key_keeps_the_last_value_at_the_first_place_and_is_reported() {
    let parsed =
        Json::parse_with(r#"{"a":1,"b":[{"c":1,"c":2}],"a":{"d e":0,"d e":1}}"#, &Limits::default()).unwrap();
    assert_eq!(parsed.value.to_text(), r#"{"a":{"d e":1},"b":[{"c":2}]}"#);
    assert_eq!(parsed.duplicate_keys, ["$.b[0].c", r#"$.a["d e"]"#, "$.a"]);
}

#[test]
fn position_counts_bytes_lines_and_characters() {
    let error = Json::parse("[\n  \"é\",\n  \"ü\" x]").unwrap_err();
    assert_eq!(error.position(), Some(Position { offset: 17, line: 3, column: 7 }));
}
