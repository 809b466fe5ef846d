//! Spec 04 §2.4 written down as naively as possible: the oracle of the properties and of lossy inputs.

use dsh_json::{Json, object};

use super::lossy::{has_mark, is_mark};

/// The violations of a value, each `{kind, path, arg?}`, as the recorded vectors write them.
///
/// The schema is one that the assert accepts; what it would refuse is not looked at here. Takes quadratic time, and
/// recurses as deep as schema and value go.
pub fn violations(schema: &Json, value: &Json, root: &str) -> Vec<Json> {
    let mut out = Vec::new();
    judge(schema, value, root, &mut out);
    out
}

fn judge(schema: &Json, value: &Json, path: &str, out: &mut Vec<Json>) {
    if let Some(branches) = schema.get("oneOf") {
        let matches = |branch: &&Json| violations(branch, value, path).is_empty();
        let count = branches.as_array().unwrap_or_default().iter().filter(matches).count();
        if count != 1 {
            report(out, "oneof_mismatch", path, Some(count.to_string()));
        }
        return;
    }
    let Some(name) = schema.get("type").and_then(Json::as_str) else {
        if has_mark(value) {
            report(out, "not_lossless_value", path, None);
        }
        return;
    };
    match name {
        "array" => judge_array(schema, value, path, out),
        "object" => judge_object(schema, value, path, out),
        "number" if is_mark(value) => report(out, "not_json_number", path, None),
        scalar => judge_scalar(schema, scalar, value, path, out),
    }
}

fn judge_scalar(schema: &Json, name: &str, value: &Json, path: &str, out: &mut Vec<Json>) {
    let fits = match name {
        "string" => matches!(value, Json::String(_)),
        "number" => matches!(value, Json::Number(_)),
        "integer" => value.as_number().is_some_and(|number| number.as_f64().fract() == 0.0),
        "boolean" => matches!(value, Json::Bool(_)),
        "null" => value.is_null(),
        _ => false,
    };
    let list = schema.get("enum").and_then(Json::as_array);
    if !fits {
        report(out, "wrong_type", path, Some(name.to_owned()));
    } else if let Some(list) = list.filter(|list| !list.contains(value)) {
        report(out, "not_in_enum", path, Some(Json::from(list.to_vec()).canonical()));
    } else if let Some(literal) = schema.get("const").filter(|literal| *literal != value) {
        report(out, "not_const", path, Some(literal.canonical()));
    }
}

fn judge_array(schema: &Json, value: &Json, path: &str, out: &mut Vec<Json>) {
    let Some(items) = value.as_array().filter(|_| !is_mark(value)) else {
        return report(out, "wrong_type", path, Some("array".to_owned()));
    };
    let before = out.len();
    if let Some(schema) = schema.get("items") {
        for (index, item) in items.iter().enumerate() {
            judge(schema, item, &format!("{path}[{index}]"), out);
        }
    }
    if out.len() == before && has_mark(value) {
        report(out, "not_lossless_array", path, None);
    }
}

fn judge_object(schema: &Json, value: &Json, path: &str, out: &mut Vec<Json>) {
    let Some(members) = value.as_object() else {
        return report(out, "wrong_type", path, Some("object".to_owned()));
    };
    let before = out.len();
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    for name in schema.get("required").and_then(Json::as_array).unwrap_or_default() {
        let name = name.as_str().unwrap_or_default();
        if !members.contains_key(name) {
            report(out, "missing_required", &below(name), None);
        }
    }
    let declared = schema.get("properties").and_then(Json::as_object);
    for (name, schema) in declared.into_iter().flatten() {
        if let Some(member) = members.get(name) {
            judge(schema, member, &below(name), out);
        }
    }
    if schema.get("additionalProperties").and_then(Json::as_bool) == Some(false) {
        for name in members.keys() {
            if !declared.is_some_and(|declared| declared.contains_key(name)) {
                report(out, "undeclared_property", &below(name), None);
            }
        }
    }
    if out.len() == before && has_mark(value) {
        report(out, "not_lossless_object", path, None);
    }
}

fn report(out: &mut Vec<Json>, kind: &str, path: &str, arg: Option<String>) {
    let path = if path.is_empty() { "arguments" } else { path };
    out.push(match arg {
        None => object! { "kind": kind, "path": path },
        Some(arg) => object! { "kind": kind, "path": path, "arg": arg },
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use dsh_json::array;

    #[test]
    fn the_oracle_counts_branches() {
        let schema = object! { "oneOf": array![object! { "type": "number" }, object! { "type": "integer" }] };
        assert_eq!(
            violations(&schema, &1.into(), ""),
            [object! { "kind": "oneof_mismatch", "path": "arguments", "arg": "2" }]
        );
        assert_eq!(violations(&schema, &1.5.try_into().unwrap(), ""), Vec::<Json>::new());
    }
}
