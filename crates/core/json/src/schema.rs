//! What our values look like to `schemars`: a tool may have them among its arguments and outputs.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::{Json, Number, Object};

macro_rules! inline_schema {
    ($($type:ident: $schema:tt)*) => {$(
        impl JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }

            fn schema_id() -> Cow<'static, str> {
                concat!(module_path!(), "::", stringify!($type)).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    )*};
}
inline_schema! {
    Json: true
    Object: { "type": "object" }
    Number: { "type": "number" }
}
