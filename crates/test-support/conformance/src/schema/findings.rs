//! What the kinds of spec 04 have in common: their fields, and violations in the form of the vectors.

use dsh_json::{Json, Object, object};
use dsh_json_schema::{JsonSchemaError, Schema, Violation, compile_params, compile_value};

use super::lossy::{exposed, has_mark, read, revealed, settled, settled_map};
use super::{UNSUPPORTED, oracle};
use crate::Fault;
use crate::fault::{required, required_text};
use crate::text::{ecma, without};

/// The two author forms.
#[derive(Debug, Clone, Copy)]
pub(super) enum Form {
    Parameters,
    Value,
}

/// A field that stands as JSON, or as text under the name `…_text`.
pub(crate) fn field(input: &Json, name: &str) -> Result<Json, Fault> {
    let raw = format!("{name}_text");
    if input.get(&raw).is_some() {
        read(required_text(input, &raw)?, &raw)
    } else {
        required(input, name).cloned()
    }
}

/// A field of the `-cases` kinds, which hold all of their JSON as text.
pub(crate) fn text_field(input: &Json, name: &str) -> Result<Json, Fault> {
    read(required_text(input, name)?, name)
}

/// How the root of a value is called.
pub(super) fn root_of<'a>(input: &'a Json, name: &str) -> Result<&'a str, Fault> {
    if input.get(name).is_some() { required_text(input, name) } else { Ok("value") }
}

/// A compiled schema, or what was found; lossy annotations of the product are found in a second look.
pub(super) fn compiled(form: Form, spec: &Json) -> Result<Result<Json, Vec<Json>>, Fault> {
    let compiled = match form {
        Form::Parameters => compile_params(&settled_map(spec)),
        Form::Value => compile_value(&settled(spec)),
    };
    let schema = match compiled {
        Ok(schema) => schema.json().clone(),
        Err(error) => return Ok(Err(listed(&error)?)),
    };
    match Schema::new(&exposed(&schema)) {
        Ok(_) => Ok(Ok(schema)),
        Err(error) => Ok(Err(listed(&error)?)),
    }
}

/// What is wrong with a value. A value with a mark is judged by the oracle, as the number that it stands for.
pub(super) fn judged(schema: &Json, value: &Json, root: &str) -> Result<Vec<Json>, Fault> {
    let asserted = Schema::new(&exposed(schema)).map_err(Fault::scene)?;
    if has_mark(value) {
        return Ok(oracle::violations(schema, value, root));
    }
    let found: Vec<Json> = asserted.violations_up_to(value, root, usize::MAX).iter().map(recorded).collect();
    if asserted.is_valid(value) == found.is_empty() {
        Ok(found)
    } else {
        Err(Fault::scene("the two judges of values do not agree"))
    }
}

/// The error of a refused schema.
pub(super) fn refusal(found: &[Json]) -> Json {
    let paths: Json =
        found.iter().map(|violation| violation.get("path").cloned().unwrap_or_default()).collect();
    object! { "code": UNSUPPORTED, "paths": paths }
}

pub(super) fn listed(error: &JsonSchemaError) -> Result<Vec<Json>, Fault> {
    if error.code() != UNSUPPORTED {
        return Err(Fault::scene(format!("a schema is refused with {}", error.code())));
    }
    Ok(error.violations().iter().map(recorded).collect())
}

fn recorded(violation: &Violation) -> Json {
    let (kind, path) = revealed(violation.kind().as_str(), violation.path());
    let mut row = Object::new();
    row.insert("kind", kind);
    row.insert("path", path);
    if let Some(arg) = violation.arg() {
        row.insert("arg", arg);
    }
    row.into()
}

/// The member under which a rule expects a value whose order it leaves open.
pub(super) const ANY_ORDER: &str = "in any order";

/// Equal to the byte, order of keys included; what an expected error leaves out is not compared.
pub(super) fn agrees(got: &Json, expected: &Json) -> bool {
    match expected.get(ANY_ORDER) {
        Some(expected) => ecma(&sorted(&asserted_only(got, expected))) == ecma(&sorted(expected)),
        None => ecma(&asserted_only(got, expected)) == ecma(expected),
    }
}

/// The output without those members of its errors that the expected one does not have.
fn asserted_only(got: &Json, expected: &Json) -> Json {
    let (Some(members), Some(wanted)) = (got.as_object(), expected.as_object()) else { return got.clone() };
    let member = |(name, member): (&std::sync::Arc<str>, &Json)| {
        let Some(wanted) = wanted.get(name) else { return (name.clone(), member.clone()) };
        let error = member.as_object().zip(wanted.as_object()).filter(|_| &**name == "error");
        let kept = error.map(|(error, wanted)| {
            let left_out = error.keys().filter(|name| !wanted.contains_key(name));
            left_out.fold(error.clone(), |error, name| without(&error, name)).into()
        });
        (name.clone(), kept.unwrap_or_else(|| asserted_only(member, wanted)))
    };
    members.iter().map(member).collect::<Object>().into()
}

/// The same with keys and items in an order of their own.
fn sorted(value: &Json) -> Json {
    match value {
        Json::Null | Json::Bool(_) | Json::Number(_) => value.clone(),
        // Compiled schemas stand as text.
        Json::String(text) => Json::parse(text).map_or_else(
            |_| value.clone(),
            |inner| match inner {
                Json::Object(_) => sorted(&inner),
                Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_) => {
                    value.clone()
                }
            },
        ),
        Json::Array(items) => {
            let mut items: Vec<Json> = items.iter().map(sorted).collect();
            items.sort_by_cached_key(ecma);
            items.into()
        }
        Json::Object(members) => {
            let mut members: Vec<_> =
                members.iter().map(|(key, value)| (key.clone(), sorted(value))).collect();
            members.sort_by(|(one, _), (other, _)| one.cmp(other));
            members.into_iter().collect::<Object>().into()
        }
    }
}
