//! `schema-support`: `{schema | schema_text}` → `supported` and `object_root`, each `{accepted, error?}`.

use dsh_json::{Json, object};
use dsh_json_schema::{JsonSchemaError, Schema};

use super::findings::{agrees, field, listed, refusal};
use super::lossy::exposed;
use super::rules;
use crate::file::Vector;
use crate::{Fault, Kind};

pub(crate) const KIND: Kind =
    Kind { name: "schema-support", rules: &rules::READ, lacks: || None, run, agrees };

fn run(vector: &Vector) -> Result<Json, Fault> {
    let schema = exposed(&field(&vector.input, "schema")?);
    Ok(object! {
        "supported": verdict(Schema::new(&schema))?,
        "object_root": verdict(Schema::object_root(&schema))?,
    })
}

fn verdict(asserted: Result<Schema, JsonSchemaError>) -> Result<Json, Fault> {
    Ok(match asserted {
        Ok(_) => object! { "accepted": true },
        Err(error) => object! { "accepted": false, "error": refusal(&listed(&error)?) },
    })
}
