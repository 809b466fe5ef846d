//! Between Rust types and values.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use dsh_json::{Json, Number, Object, array, object};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, PartialEq, Debug)]
struct Unit;

#[derive(Serialize, Deserialize, PartialEq, Debug)]
struct Newtype(u8);

#[derive(Serialize, Deserialize, PartialEq, Debug)]
struct Pair(i8, String);

#[derive(Serialize, Deserialize, PartialEq, Debug)]
#[serde(rename_all = "kebab-case")]
enum External {
    Unit,
    One(u32),
    Two(u32, bool),
    Named { a: Option<u32> },
}

#[derive(Serialize, Deserialize, PartialEq, Debug)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum Internal {
    Empty,
    Named { value: Json, list: Vec<u32> },
    Inner(Inner),
}

#[derive(Serialize, Deserialize, PartialEq, Debug)]
struct Inner {
    name: Arc<str>,
    #[serde(flatten)]
    rest: BTreeMap<String, Json>,
}

#[derive(Serialize, Deserialize, PartialEq, Debug)]
#[serde(tag = "t", content = "c")]
enum Adjacent {
    A(u32),
    B { x: bool },
    C,
}

#[derive(Serialize, Deserialize, PartialEq, Debug)]
#[serde(untagged)]
enum Untagged {
    Number(i64),
    Text(String),
    Named { x: f64 },
}

#[test]
fn typed_values_cross_both_ways() {
    check(&true, true);
    check(&(1_u8, -1_i64, 1.5_f64), array![1, -1, Json::try_from(1.5).unwrap()]);
    check(&'é', "é");
    check(&Some(1), 1);
    check(&None::<u32>, Json::Null);
    check(&Unit, Json::Null);
    check(&(), Json::Null);
    check(&Newtype(7), 7);
    check(&Pair(-1, "x".to_owned()), array![-1, "x"]);
    check(&u64::MAX, u64::MAX);
    check(&i128::from(i64::MIN), i64::MIN);
    check(&u128::from(u64::MAX), u64::MAX);
    check(&External::Unit, "unit");
    check(&External::One(1), object! { "one": 1 });
    check(&External::Two(1, true), object! { "two": array![1, true] });
    check(&External::Named { a: None }, object! { "named": object! { "a": Json::Null } });
    check(&Internal::Empty, object! { "kind": "empty" });
    check(
        &Internal::Named {
            value: array![1, object! { "x": Json::try_from(1.0).unwrap() }],
            list: vec![1, 2],
        },
        object! { "kind": "named", "value": array![1, object! { "x": Json::try_from(1.0).unwrap() }], "list": array![1, 2] },
    );
    check(
        &Internal::Inner(Inner { name: "n".into(), rest: [("more".to_owned(), array![Json::Null])].into() }),
        object! { "kind": "inner", "name": "n", "more": array![Json::Null] },
    );
    check(&Adjacent::A(1), object! { "t": "A", "c": 1 });
    check(&Adjacent::B { x: true }, object! { "t": "B", "c": object! { "x": true } });
    check(&Adjacent::C, object! { "t": "C" });
    check(&Untagged::Number(-5), -5);
    check(&Untagged::Text("x".to_owned()), "x");
    check(&Untagged::Named { x: 0.5 }, object! { "x": Json::try_from(0.5).unwrap() });
    check(&HashMap::from([(1_u32, "one".to_owned())]), object! { "1": "one" });
    check(&BTreeMap::from([(-1_i64, 0), (1, 1)]), object! { "-1": 0, "1": 1 });
    check(&BTreeMap::from([(true, 0)]), object! { "true": 0 });
    check(&BTreeMap::from([('x', 0)]), object! { "x": 0 });
    check(&Number::from(3), 3);
    check(&object! { "a": 1 }.as_object().unwrap().clone(), object! { "a": 1 });
    check(&Vec::<Json>::new(), array![]);

    fn check<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(
        value: &T,
        json: impl Into<Json>,
    ) {
        let json = json.into();
        let built = Json::from_serialize(value).unwrap();
        assert_eq!(built.to_text(), json.to_text());
        assert_eq!(serde_json::to_string(value).unwrap(), json.to_text());
        assert_eq!(&json.read::<T>().unwrap(), value);
    }
}

#[test]
fn integral_floats_are_integers() {
    let one = Json::parse("[1.0, -2.0, 1e3]").unwrap();
    assert_eq!(one.read::<(u32, i8, u64)>().unwrap(), (1, -2, 1000));
    assert_eq!(Json::parse("1.5").unwrap().read::<u32>().unwrap_err().code(), "JSON_TYPE");
    assert!(Json::parse("1e20").unwrap().read::<u64>().is_err());
    assert_eq!(Json::from(1).read::<f64>().unwrap().to_string(), "1");
}

#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only errors are read")]
struct Strict {
    items: Vec<Item>,
    choice: Option<External>,
    by_number: Option<BTreeMap<u32, bool>>,
}

#[derive(Deserialize, Debug)]
#[expect(dead_code, reason = "only errors are read")]
struct Item {
    size: u8,
}

#[test]
fn a_misfit_names_its_path() {
    check(
        r#"{"items":[{"size":1},{"size":"x"}]}"#,
        "$.items[1].size",
        r#"invalid type: string "x", expected u8 at $.items[1].size"#,
    );
    check(
        r#"{"items":[{"size":256}]}"#,
        "$.items[0].size",
        "invalid value: integer `256`, expected u8 at $.items[0].size",
    );
    check(r#"{"items":[{}]}"#, "$.items[0]", "missing field `size` at $.items[0]");
    check(r#"{"items":{}}"#, "$.items", "invalid type: object, expected a sequence at $.items");
    check(r#"{"items":null}"#, "$.items", "invalid type: null, expected a sequence at $.items");
    check(
        r#"{"items":[],"typo":1}"#,
        "$.typo",
        "unknown field `typo`, expected one of `items`, `choice`, `by_number` at $.typo",
    );
    check("[1]", "$[0]", "invalid type: integer `1`, expected a sequence at $[0]");
    check("null", "$", "invalid type: null, expected struct Strict");
    check(
        r#"{"items":[],"choice":"other"}"#,
        "$.choice",
        "unknown variant `other`, expected one of `unit`, `one`, `two`, `named` at $.choice",
    );
    check(
        r#"{"items":[],"choice":{"two":[1,2]}}"#,
        "$.choice.two[1]",
        "invalid type: integer `2`, expected a boolean at $.choice.two[1]",
    );
    check(
        r#"{"items":[],"choice":{"two":[1,true,3]}}"#,
        "$.choice.two",
        "invalid length 3, expected 2 elements at $.choice.two",
    );
    check(
        r#"{"items":[],"choice":{"one":1,"two":2}}"#,
        "$.choice",
        "expected an object with one key, the name of a variant at $.choice",
    );
    check(
        r#"{"items":[],"choice":"one"}"#,
        "$.choice",
        "invalid type: unit variant, expected newtype variant at $.choice",
    );
    check(
        r#"{"items":[],"by_number":{"x":true}}"#,
        "$.by_number.x",
        r#"invalid type: string "x", expected u32 at $.by_number.x"#,
    );

    fn check(text: &str, path: &str, message: &str) {
        let error = Json::parse(text).unwrap().read::<Strict>().unwrap_err();
        assert_eq!((error.code(), error.path(), error.to_string().as_str()), ("JSON_TYPE", path, message));
        assert_eq!(error.position(), None);
    }
}

#[test]
fn what_json_can_not_hold_is_refused_with_its_path() {
    let nested = |value: f64| BTreeMap::from([("a", vec![1.0, value])]);
    check(&nested(f64::NAN), "JSON_NUMBER", "$.a[1]");
    check(&nested(f64::INFINITY), "JSON_NUMBER", "$.a[1]");
    check(&nested(-0.0), "JSON_NUMBER", "$.a[1]");
    check(&vec![u128::MAX], "JSON_NUMBER", "$[0]");
    check(&vec![i128::MIN], "JSON_NUMBER", "$[0]");
    check(&BTreeMap::from([(vec![1], 1)]), "JSON_TYPE", "$");
    check(&serde_json::json!({ "a": [0, -0.0] }), "JSON_NUMBER", "$.a[1]");

    fn check<T: Serialize>(value: &T, code: &str, path: &str) {
        let error = Json::from_serialize(value).unwrap_err();
        assert_eq!((error.code(), error.path()), (code, path));
    }
}

#[test]
fn foreign_text_into_a_value_is_refused_alike() {
    for text in ["-0", "-0.0", "[-1e-400]"] {
        assert!(serde_json::from_str::<Json>(text).is_err(), "{text}");
    }
    let value: Json = serde_json::from_str(r#"{"a":1,"b":[1.0,null],"a":"x"}"#).unwrap();
    assert_eq!(value.to_text(), r#"{"a":"x","b":[1.0,null]}"#);
    assert!(serde_json::from_str::<Object>("[]").is_err());
    assert!(serde_json::from_str::<Number>("[]").is_err());
}

#[test]
fn values_convert_from_foreign_ones() {
    let foreign =
        serde_json::json!({ "type": "object", "n": [1, 1.0, null, 18_446_744_073_709_551_615_u64] });
    let value = Json::from_serde_json(&foreign).unwrap();
    assert_eq!(value.to_text(), foreign.to_string());
}

#[test]
fn schemas_say_any_value() {
    #[derive(schemars::JsonSchema)]
    #[expect(dead_code, reason = "only its schema is read")]
    struct Args {
        any: Json,
        properties: Object,
    }
    let schema = Json::from_serialize(&schemars::schema_for!(Args)).unwrap();
    assert_eq!(schema.get("properties").unwrap().to_text(), r#"{"any":true,"properties":{"type":"object"}}"#);
}
