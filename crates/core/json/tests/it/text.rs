//! Text of values: exact, pretty, canonical.

use dsh_json::{Json, Number, array, object};

#[test]
fn exact_text_keeps_what_was_written() {
    for text in [
        "null",
        "1",
        "1.0",
        "-1.5",
        "0.0",
        "100000000000000000000.0",
        "1e+21",
        "5e-324",
        "1.7976931348623157e+308",
        "9007199254740993",
        "18446744073709551615",
        r#"{"b":[],"a":{},"c":[1,"x"]}"#,
        r#""é\u0000\u001f\b\t\n\f\r\"\\/😀""#,
    ] {
        let value = Json::parse(text).unwrap();
        assert_eq!(value.to_text(), text);
        assert_eq!(format!("{value} {value:?}"), format!("{text} {text}"));
    }
}

#[test]
fn pretty_text_is_indented_by_two() {
    let value = object! { "a": array![], "b": object! {}, "c": array![1, object! { "d": true }] };
    let expected = r#"{
  "a": [],
  "b": {},
  "c": [
    1,
    {
      "d": true
    }
  ]
}"#;
    assert_eq!(value.to_pretty(), expected);
    assert_eq!(format!("{value:#?}"), expected);
}

#[test]
fn pretty_text_of_deep_values_stays_linear() {
    let pretty = Json::parse(&crate::nested_arrays(10_000)).unwrap().to_pretty();
    assert!(pretty.len() < 20_000 * (2 * 32 + 3), "{}", pretty.len());
}

#[test]
fn canonical_text_follows_rfc_8785() {
    // The examples of RFC 8785 §3.2.2 and §3.2.3.
    let value = Json::parse(
        r#"{
            "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
            "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
            "literals": [null, true, false]
        }"#,
    )
    .unwrap();
    assert_eq!(
        value.canonical(),
        r#"{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}"#
    );
    let keys = Json::parse(
        r#"{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One",
            "\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}"#,
    )
    .unwrap();
    let canonical = Json::parse(&keys.canonical()).unwrap();
    let values: Vec<_> = canonical.as_object().unwrap().values().filter_map(Json::as_str).collect();
    assert_eq!(
        values,
        [
            "Carriage Return",
            "One",
            "Control",
            "Latin Small Letter O With Diaeresis",
            "Euro Sign",
            "Emoji: Grinning Face",
            "Hebrew Letter Dalet With Dagesh"
        ]
    );
}

#[test]
fn equal_values_have_equal_canonical_text() {
    let (a, b) = (Json::parse(r#"{"a":1.0,"b":[100]}"#), Json::parse(r#"{"b":[1e2],"a":1}"#));
    let (a, b) = (a.unwrap(), b.unwrap());
    assert_eq!(a, b);
    assert_eq!(a.canonical(), b.canonical());
    assert_eq!(Json::from(1_u64 << 60).canonical(), Json::try_from(2_f64.powi(60)).unwrap().canonical());
    assert_eq!(Json::from(9_007_199_254_740_993_u64).canonical(), "9007199254740993");
    assert_eq!(array![].canonical() + &object! {}.canonical(), "[]{}");
}

#[test]
fn ecmascript_text_of_numbers() {
    for (value, expected) in [
        (1.0, "1"),
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        (0.000_001, "0.000001"),
        (1e-7, "1e-7"),
        (18_446_744_073_709_551_616.0, "18446744073709552000"),
    ] {
        assert_eq!(Number::from_f64(value).unwrap().ecma(), expected);
    }
    assert_eq!(Number::from(u64::MAX).ecma(), "18446744073709551615");
    assert_eq!(Number::from(-3).ecma(), "-3");
}

#[test]
fn a_value_is_measured_no_further_than_it_has_to_be() {
    for (text, bytes) in [
        ("null", 4),
        ("7", 1),
        ("18446744073709551615", 20),
        ("-1.5", 4),
        ("false", 5),
        ("[true,false]", 12),
        (r#""abc""#, 5),
        ("[]", 2),
        ("[1,2]", 5),
        (r#"{"a":1}"#, 7),
        (r#"{"a":[1,{"bc":"d"}],"e":null}"#, 29),
    ] {
        let json = Json::parse(text).unwrap();
        assert!(json.exceeds(bytes - 1) && !json.exceeds(bytes), "{text}");
    }
    let wide: Json = vec![Json::Null; 1_000_000].into();
    assert!(wide.exceeds(10) && !wide.exceeds(10_000_000));
    let deep = Json::parse(&("[".repeat(10_000) + &"]".repeat(10_000))).unwrap();
    assert!(deep.exceeds(5_000) && !deep.exceeds(100_000));
}
