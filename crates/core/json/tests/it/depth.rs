//! Nothing overflows a 2 MB stack at 10,000 levels, in debug builds too.

use std::mem::ManuallyDrop;

use dsh_json::{Array, Json, Limits, Object, array, object};
use serde::{Deserialize, Serialize};

use crate::{nested_arrays, nested_objects, on_small_stack};

const DEEP: usize = 10_000;

#[test]
fn deep_values_are_parsed_compared_printed_and_dropped() {
    on_small_stack(|| {
        for text in [nested_arrays(DEEP), nested_objects(DEEP)] {
            let (value, twin) = (Json::parse(&text).unwrap(), Json::parse(&text).unwrap());
            assert_eq!(value.depth(), DEEP);
            assert!(value == twin);
            assert_eq!(value.to_text(), text);
            assert_eq!(value.to_string(), text);
            assert_eq!(format!("{value:?}"), text);
            assert_eq!(value.canonical(), text);
            assert_eq!(Json::parse(&value.to_pretty()).unwrap(), value);
        }
    });
}

#[test]
fn deep_values_cross_serde() {
    on_small_stack(|| {
        for text in [nested_arrays(DEEP), nested_objects(DEEP)] {
            let value = Json::parse(&text).unwrap();
            assert_eq!(serde_json::to_string(&value).unwrap(), text);
            assert_eq!(Json::from_serialize(&value).unwrap(), value);
            assert_eq!(value.read::<Json>().unwrap(), value);

            let mut foreign = serde_json::Deserializer::from_str(&text);
            foreign.disable_recursion_limit();
            assert_eq!(Json::deserialize(&mut foreign).unwrap(), value);
        }
    });
}

#[derive(Serialize, Deserialize, Debug)]
enum Tree {
    Leaf(u32),
    Node { child: Option<Box<Tree>> },
    List(Vec<Tree>),
}

#[test]
fn deep_typed_values_are_read_and_built() {
    on_small_stack(|| {
        let text = format!(
            "{}{{\"Leaf\":1}}{}",
            r#"{"Node":{"child":{"List":["#.repeat(2_400),
            "]}}}".repeat(2_400)
        );
        let value = Json::parse(&text).unwrap();
        // The derived drop of a typed tree recurses: that is its author's choice of type, not ours.
        let tree = ManuallyDrop::new(value.read::<Tree>().unwrap());
        assert_eq!(Json::from_serialize(&*tree).unwrap(), value);
    });
}

#[derive(Deserialize)]
#[serde(tag = "type")]
enum Tagged {
    Held { held: Json },
}

#[derive(Deserialize)]
struct Flat {
    #[serde(flatten)]
    rest: Json,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Untagged {
    #[expect(dead_code, reason = "only its failure matters")]
    Number(u32),
    Any(Json),
}

#[test]
fn deep_values_pass_types_that_serde_buffers() {
    on_small_stack(|| {
        let deep = Json::parse(&nested_arrays(DEEP - 1)).unwrap();
        let held = object! { "type": "Held", "held": &deep };
        let Tagged::Held { held: read } = held.read().unwrap();
        assert!(read == deep);

        let flat: Flat = held.read().unwrap();
        assert!(flat.rest == held);

        let Untagged::Any(any) = held.read().unwrap() else { panic!("not a number") };
        assert!(any == held);
        assert!(deep.read::<Tagged>().is_err());
    });
}

#[test]
fn one_level_more_is_refused_at_every_ingress() {
    on_small_stack(|| {
        let text = nested_arrays(DEEP + 1);
        let error = Json::parse(&text).unwrap_err();
        assert_eq!((error.code(), error.position().unwrap().offset), ("JSON_TOO_DEEP", DEEP));
        assert_eq!(error.path(), format!("${0}…{0}", "[0]".repeat(16)));

        let value =
            Json::parse_with(&text, &Limits { max_depth: DEEP + 1, ..Limits::default() }).unwrap().value;
        assert_eq!(value.read::<Json>().unwrap_err().code(), "JSON_TOO_DEEP");
        assert_eq!(Json::from_serialize(&value).unwrap_err().code(), "JSON_TOO_DEEP");
        let around = Json::parse(&nested_arrays(DEEP)).unwrap();
        assert_eq!(Json::from_serialize(&[around]).unwrap_err().code(), "JSON_TOO_DEEP");
        assert!(serde_json::to_string(&value).is_err());

        let mut foreign = serde_json::Deserializer::from_str(&text);
        foreign.disable_recursion_limit();
        assert!(Json::deserialize(&mut foreign).is_err());
    });
}

#[test]
fn values_built_by_hand_are_dropped_at_any_depth() {
    on_small_stack(|| {
        let mut value = Json::Null;
        for level in 0..200_000 {
            value = match level % 3 {
                0 => array![value],
                1 => object! { "a": value, "b": 1 },
                _ => Array::from(vec![Json::Null, value.clone(), value]).into(),
            };
        }
        let (array, object) = (Array::from(vec![value.clone()]), Object::from_iter([("a", value.clone())]));
        assert_eq!(value.depth(), 200_000);
        drop((array, object, value));
    });
}

#[test]
fn a_replaced_deep_property_is_dropped_safely() {
    on_small_stack(|| {
        let text = format!(r#"{{"a":{},"a":1}}"#, nested_arrays(DEEP - 1));
        assert_eq!(Json::parse(&text).unwrap(), object! { "a": 1 });
    });
}
