//! Serde by way of the JSON form, so that each type has one reader and one writer.

/// For types with inherent `to_json` and `from_json`.
macro_rules! stored_as_json {
    ($($name:ty),+ $(,)?) => {$(
        impl From<$name> for ::dsh_json::Json {
            fn from(value: $name) -> Self {
                value.to_json()
            }
        }

        impl TryFrom<::dsh_json::Json> for $name {
            type Error = ::dsh_llm::ShapeError;

            fn try_from(json: ::dsh_json::Json) -> Result<Self, ::dsh_llm::ShapeError> {
                <$name>::from_json(&json)
            }
        }
    )+};
}

/// For payloads that build their JSON themselves.
macro_rules! payloads_as_json {
    ($($name:ty),+ $(,)?) => {$(
        impl From<$name> for ::dsh_json::Json {
            fn from(payload: $name) -> Self {
                payload.stored()
            }
        }

        impl TryFrom<::dsh_json::Json> for $name {
            type Error = ::dsh_llm::ShapeError;

            fn try_from(json: ::dsh_json::Json) -> Result<Self, ::dsh_llm::ShapeError> {
                <$name as $crate::payload::Payload>::from_json(&json)
            }
        }
    )+};
}
