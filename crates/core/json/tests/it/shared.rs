//! Values inside typed values are shared, not copied.

use std::sync::Arc;

use dsh_json::{Json, array, object};
use serde::{Deserialize, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
struct Holder {
    before: Option<u32>,
    data: Json,
    list: Vec<Json>,
}

#[test]
fn a_value_passes_typed_conversion_as_it_is() {
    let data = array![1, object! { "a": Json::Null }];
    let holder = Holder { before: None, data: data.clone(), list: vec![Json::Null, data.clone()] };
    let value = Json::from_serialize(&holder).unwrap();
    assert!(same(value.get("data").unwrap(), &data));
    assert!(same(value.get("list").unwrap().at(1).unwrap(), &data));
    let back: Holder = value.read().unwrap();
    assert!(same(&back.data, &data));
    assert!(same(&back.list[1], &data));
    assert_eq!(back.list[0], Json::Null);
}

#[test]
fn foreign_serialisation_inside_ours_sees_the_parts() {
    struct AsText(Json);
    impl Serialize for AsText {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let text = serde_json::to_string(&self.0).map_err(serde::ser::Error::custom)?;
            serializer.serialize_str(&text)
        }
    }
    let value = array![1, object! { "a": 2 }];
    let built = Json::from_serialize(&(AsText(value.clone()), &value, AsText(Json::Null))).unwrap();
    assert_eq!(built, array![value.to_text(), value, "null"]);
}

fn same(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Array(a), Json::Array(b)) => Arc::ptr_eq(a, b),
        (Json::Object(a), Json::Object(b)) => Arc::ptr_eq(a, b),
        _ => false,
    }
}
