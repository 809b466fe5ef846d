//! `validate`: `{schema | schema_text, value | value_text, path}` → `{valid, paths}`.

use dsh_json::{Json, object};

use super::findings::{agrees, field, judged, root_of};
use super::rules;
use crate::file::Vector;
use crate::{Fault, Kind};

pub(crate) const KIND: Kind = Kind { name: "validate", rules: &rules::JUDGED, lacks: || None, run, agrees };

fn run(vector: &Vector) -> Result<Json, Fault> {
    let (schema, value) = (field(&vector.input, "schema")?, field(&vector.input, "value")?);
    Ok(output(&judged(&schema, &value, root_of(&vector.input, "path")?)?))
}

/// The recorder took the first word of a message for the path, and for a missing property that word is "missing".
pub(super) fn output(found: &[Json]) -> Json {
    let paths = found.iter().map(|violation| match violation.get("kind").and_then(Json::as_str) {
        Some("missing_required") => Json::from("missing"),
        _ => violation.get("path").cloned().unwrap_or_default(),
    });
    object! { "valid": found.is_empty(), "paths": paths.collect::<Json>() }
}
