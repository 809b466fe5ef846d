//! `param-dsl`: `{kind: "parameters", spec | spec_text}` or `{kind: "value", spec}` → `{ok: schema}` or `{error}`.

use dsh_json::{Json, object};

use super::findings::{Form, agrees, compiled, field, refusal};
use super::rules;
use crate::fault::required;
use crate::file::Vector;
use crate::{Fault, Kind};

pub(crate) const KIND: Kind =
    Kind { name: "param-dsl", rules: &rules::COMPILED, lacks: || None, run, agrees };

fn run(vector: &Vector) -> Result<Json, Fault> {
    let kind = required(&vector.input, "kind")?;
    let form = match kind.as_str() {
        Some("parameters") => Form::Parameters,
        Some("value") => Form::Value,
        _ => return Err(Fault::form("kind", kind, "`parameters` or `value`")),
    };
    Ok(match compiled(form, &field(&vector.input, "spec")?)? {
        Ok(schema) => object! { "ok": schema },
        Err(found) => object! { "error": refusal(&found) },
    })
}
