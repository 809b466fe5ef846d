//! Properties of any value.

use dsh_json::{Json, Number};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn printed_values_read_back_the_same(value in any_json()) {
        for text in [value.to_text(), value.to_pretty()] {
            prop_assert_eq!(&Json::parse(&text).unwrap(), &value);
        }
        // Not only equal: `1.0` is still written `1.0`.
        prop_assert_eq!(Json::parse(&value.to_text()).unwrap().to_text(), value.to_text());
    }

    #[test]
    fn foreign_readers_agree(value in any_json()) {
        let foreign: serde_json::Value = serde_json::from_str(&value.to_text()).unwrap();
        prop_assert_eq!(Json::from_serialize(&foreign).unwrap().to_text(), value.to_text());
        prop_assert_eq!(serde_json::to_value(&value).unwrap(), foreign);
    }

    #[test]
    fn typed_round_trips_are_the_identity(value in any_json()) {
        prop_assert_eq!(&Json::from_serialize(&value).unwrap(), &value);
        prop_assert_eq!(&value.read::<Json>().unwrap(), &value);
    }

    #[test]
    fn any_double_reads_back_bit_by_bit(bits in any::<u64>()) {
        let float = f64::from_bits(bits);
        if let Ok(number) = Number::from_f64(float) {
            for text in [number.to_string(), number.ecma()] {
                prop_assert_eq!(text.parse::<f64>().unwrap().to_bits(), bits);
            }
            prop_assert_eq!(Json::parse(&number.to_string()).unwrap().as_f64().unwrap().to_bits(), bits);
        }
    }

    #[test]
    fn any_text_is_read_as_strictly_as_elsewhere(text in r#"[\[\]{}:,"\\ \-0-9.eEa-u\n]{0,24}"#) {
        match (Json::parse(&text), serde_json::from_str::<serde_json::Value>(&text)) {
            (Ok(ours), Ok(theirs)) => prop_assert_eq!(ours, Json::from_serialize(&theirs).unwrap()),
            (Err(ours), Ok(_)) => prop_assert_eq!(ours.code(), "JSON_NUMBER"),
            (Err(ours), Err(_)) => prop_assert!(ours.position().unwrap().offset <= text.len()),
            (Ok(ours), Err(error)) => prop_assert!(false, "{ours} against {error}"),
        }
    }

    #[test]
    fn key_order_does_not_matter(value in any_json()) {
        let reversed = reverse(&value);
        prop_assert_eq!(&reversed, &value);
        prop_assert_eq!(reversed.canonical(), value.canonical());
    }
}

fn any_json() -> impl Strategy<Value = Json> {
    let scalar = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<u64>().prop_map(Json::from),
        (-3_i8..4).prop_map(Json::from),
        any::<f64>().prop_filter_map("not JSON", |float| Json::try_from(float).ok()),
        ".{0,8}".prop_map(Json::from),
    ];
    scalar.prop_recursive(4, 48, 12, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Json::from),
            prop::collection::vec((".{0,3}", inner), 0..12)
                .prop_map(|entries| entries.into_iter().collect::<dsh_json::Object>().into()),
        ]
    })
}

fn reverse(value: &Json) -> Json {
    match value {
        Json::Array(items) => items.iter().map(reverse).collect(),
        Json::Object(object) => object
            .iter()
            .rev()
            .map(|(key, value)| (key.clone(), reverse(value)))
            .collect::<dsh_json::Object>()
            .into(),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => value.clone(),
    }
}
