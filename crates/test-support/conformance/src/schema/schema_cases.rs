//! `schema-cases`: `{schema}` as text → `assert` and `assert_object_root`: violations in order.

use dsh_json::{Json, array, object};
use dsh_json_schema::{JsonSchemaError, Schema};

use super::findings::{agrees, listed, text_field};
use super::lossy::exposed;
use super::rules;
use crate::file::Vector;
use crate::{Fault, Kind};

pub(crate) const KIND: Kind = Kind { name: "schema-cases", rules: &rules::READ, lacks: || None, run, agrees };

fn run(vector: &Vector) -> Result<Json, Fault> {
    let schema = exposed(&text_field(&vector.input, "schema")?);
    Ok(object! {
        "assert": found(Schema::new(&schema))?,
        "assert_object_root": found(Schema::object_root(&schema))?,
    })
}

fn found(asserted: Result<Schema, JsonSchemaError>) -> Result<Json, Fault> {
    asserted.map_or_else(|error| Ok(listed(&error)?.into()), |_| Ok(array![]))
}
