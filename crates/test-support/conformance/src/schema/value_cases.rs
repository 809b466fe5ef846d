//! `value-cases`: `{root, schema, value}` as text → `{violations}`.

use dsh_json::{Json, object};

use super::findings::{agrees, judged, root_of, text_field};
use super::rules;
use crate::file::Vector;
use crate::{Fault, Kind};

pub(crate) const KIND: Kind =
    Kind { name: "value-cases", rules: &rules::JUDGED, lacks: || None, run, agrees };

fn run(vector: &Vector) -> Result<Json, Fault> {
    let (schema, value) = (text_field(&vector.input, "schema")?, text_field(&vector.input, "value")?);
    Ok(output(&judged(&schema, &value, root_of(&vector.input, "root")?)?))
}

pub(super) fn output(found: &[Json]) -> Json {
    object! { "violations": found.to_vec() }
}
