//! `dsl-cases`: `{form: "value" | "params", spec}` as text → `{compiled}` as text, or `{error: violations}`.

use dsh_json::{Json, object};

use super::findings::{Form, agrees, compiled, text_field};
use super::rules;
use crate::fault::required;
use crate::file::Vector;
use crate::text::ecma;
use crate::{Fault, Kind};

pub(crate) const KIND: Kind =
    Kind { name: "dsl-cases", rules: &rules::COMPILED, lacks: || None, run, agrees };

fn run(vector: &Vector) -> Result<Json, Fault> {
    let form = required(&vector.input, "form")?;
    let form = match form.as_str() {
        Some("params") => Form::Parameters,
        Some("value") => Form::Value,
        _ => return Err(Fault::form("form", form, "`value` or `params`")),
    };
    Ok(match compiled(form, &text_field(&vector.input, "spec")?)? {
        Ok(schema) => object! { "compiled": ecma(&schema) },
        Err(found) => object! { "error": found },
    })
}
