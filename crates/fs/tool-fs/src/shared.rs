//! Long texts in values: shared with the value, where serde would copy them.

use std::sync::Arc;

use dsh_tools_core::Json;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub(crate) fn serialize<S: Serializer>(text: &Arc<str>, serializer: S) -> Result<S::Ok, S::Error> {
    Json::String(Arc::clone(text)).serialize(serializer)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<str>, D::Error> {
    match Json::deserialize(deserializer)? {
        Json::String(text) => Ok(text),
        other @ (Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_) | Json::Object(_)) => {
            Err(D::Error::custom(format_args!("expected a string, found {}", other.kind())))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize, Deserialize)]
    struct Value {
        #[serde(with = "super")]
        text: Arc<str>,
    }

    #[test]
    fn a_text_is_not_copied() {
        let value = Value { text: "long".into() };
        let json = Json::from_serialize(&value).unwrap();
        assert_eq!(json.to_text(), r#"{"text":"long"}"#);
        assert!(Arc::ptr_eq(&json.read::<Value>().unwrap().text, &value.text));
        assert!(Json::parse(r#"{"text":1}"#).unwrap().read::<Value>().is_err());
    }
}
