//! Rust types as schemas: what `schemars` says about a type, lowered into the subset.

mod union;
mod walk;

use dsh_json::{Json, JsonError};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;

use crate::schema::Schema;
use crate::violation::JsonSchemaError;

/// Typed schemas.
///
/// | in the type | in the schema |
/// |---|---|
/// | doc comments | `description` |
/// | property of type `Option<T>` that may be absent | optional `T` |
/// | other `Option<T>` | `oneOf` of `T` and null |
/// | enum without data | string `enum`; comments on variants go into the description |
/// | enum with data, tagged | `oneOf`, as serde writes it |
/// | untagged enum | `oneOf`, when no value can fit two variants |
/// | map | open object |
/// | tuple | array; of the common element, else of anything |
/// | [`Json`] or `serde_json::Value` | any JSON |
/// | `deny_unknown_fields` | `additionalProperties: false`; without it the keyword is absent (open) |
///
/// Bounds, formats and other keywords beyond the subset are left to serde and the tool, and listed in
/// [`Schema::drops`].
impl Schema {
    /// The schema of a tool's arguments: what `T` accepts when it is deserialised.
    ///
    /// # Errors
    /// [`LowerError`] when the type is not an object, or has a part that the subset can't express.
    pub fn for_input<T: JsonSchema + ?Sized>() -> Result<Self, LowerError> {
        let settings = SchemaSettings::draft2020_12();
        let schema = lowered::<T>(settings)?;
        if schema.json().get("type").and_then(Json::as_str) == Some("object") {
            Ok(schema)
        } else {
            Err(LowerError::RootNotObject { type_name: T::schema_name().into_owned() })
        }
    }

    /// The schema of a tool's output: what `T` looks like when it is serialised. Any root will do.
    ///
    /// A property that may be skipped is optional and not nullable: skip it by `Option::is_none`.
    ///
    /// # Errors
    /// [`LowerError`] when the type has a part that the subset can't express.
    pub fn for_output<T: JsonSchema + ?Sized>() -> Result<Self, LowerError> {
        lowered::<T>(SchemaSettings::draft2020_12().for_serialize())
    }
}

fn lowered<T: JsonSchema + ?Sized>(settings: SchemaSettings) -> Result<Schema, LowerError> {
    let settings = settings.with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let described = settings.into_generator().into_root_schema_for::<T>();
    let described = Json::from_serialize(&described).map_err(LowerError::Json)?;
    let (product, drops) = walk::lower(&described)?;
    Schema::lowered(&product, drops).map_err(LowerError::Refused)
}

/// A keyword that the subset does not have, left out of a lowered schema.
#[derive(Clone, Debug, PartialEq)]
pub struct Dropped {
    path: String,
    keyword: String,
    value: Json,
}

impl Dropped {
    /// The node that had the keyword, as a schema path such as `schema.properties.limit`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The keyword, such as `minimum`.
    pub fn keyword(&self) -> &str {
        &self.keyword
    }

    /// What it said.
    pub fn value(&self) -> &Json {
        &self.value
    }
}

/// Why a Rust type has no schema in the subset, where, and what to do. It is for the author of the type.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LowerError {
    /// A type contains itself.
    #[error(
        "{path}: recursive types can't be described; give the recursive field \
         `#[schemars(with = \"dsh_json::Json\")]`"
    )]
    Recursive {
        /// Where, as a schema path.
        path: String,
    },
    /// A value could fit two variants of an untagged enum.
    #[error(
        "{path}: variants {first} and {second} can fit the same value; tag the enum (`#[serde(tag = \"type\")]`) \
         or make the variants differ"
    )]
    Overlap {
        /// Where, as a schema path.
        path: String,
        /// The place of one variant, from 1.
        first: usize,
        /// The place of the other.
        second: usize,
    },
    /// A part that the subset can't express, even loosely.
    #[error("{path}: {what} can't be described; {advice}")]
    Unsupported {
        /// Where, as a schema path.
        path: String,
        /// The keyword or construction.
        what: String,
        /// What to do instead.
        advice: &'static str,
    },
    /// The arguments of a tool are not an object.
    #[error(
        "schema: `{type_name}` is not an object; use a struct with named fields (empty for no arguments)"
    )]
    RootNotObject {
        /// The type's name.
        type_name: String,
    },
    /// The type's own description has a value that is not lossless JSON.
    #[error("the description of the type is not lossless JSON")]
    Json(#[source] JsonError),
    /// The lowered schema was refused by the assert.
    #[error("the lowered schema was refused")]
    Refused(#[source] JsonSchemaError),
}
