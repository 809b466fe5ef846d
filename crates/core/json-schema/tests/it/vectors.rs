//! The recorded vectors of spec 04, byte for byte. One function per kind, from input to output.

use dsh_json::{Json, Object, array, object};
use dsh_json_schema::{JsonSchemaError, Schema, Violation, compile_params, compile_value};

use crate::lossy::{exposed, has_mark, read, revealed};
use crate::reference;

type Run = fn(&Json) -> Json;

/// The kinds that this crate answers.
const KINDS: [(&str, Run); 6] = [
    ("param-dsl", param_dsl),
    ("schema-support", schema_support),
    ("validate", validate),
    ("schema-cases", schema_cases),
    ("dsl-cases", dsl_cases),
    ("value-cases", value_cases),
];

fn param_dsl(input: &Json) -> Json {
    let spec = field(input, "spec");
    let compiled = if input.get("kind").and_then(Json::as_str) == Some("parameters") {
        compile_params(&spec)
    } else {
        compile_value(&spec)
    };
    match findings(compiled) {
        Ok(schema) => object! { "ok": schema },
        Err(found) => object! { "error": refusal(&found) },
    }
}

fn dsl_cases(input: &Json) -> Json {
    let spec = text_field(input, "spec");
    let params = input.get("form").and_then(Json::as_str) == Some("params");
    let compiled = if params { compile_params(&spec) } else { compile_value(&spec) };
    match findings(compiled) {
        Ok(schema) => object! { "compiled": text(&schema) },
        Err(found) => object! { "error": found },
    }
}

fn schema_support(input: &Json) -> Json {
    let schema = exposed(&field(input, "schema"));
    let verdict = |asserted: Result<Schema, JsonSchemaError>| match asserted {
        Ok(_) => object! { "accepted": true },
        Err(error) => object! { "accepted": false, "error": refusal(&listed(&error)) },
    };
    object! { "supported": verdict(Schema::new(&schema)), "object_root": verdict(Schema::object_root(&schema)) }
}

fn schema_cases(input: &Json) -> Json {
    let schema = exposed(&text_field(input, "schema"));
    let found = |asserted: Result<Schema, JsonSchemaError>| {
        asserted.map_or_else(|error| listed(&error).into(), |_| array![])
    };
    object! { "assert": found(Schema::new(&schema)), "assert_object_root": found(Schema::object_root(&schema)) }
}

fn validate(input: &Json) -> Json {
    let root = input.get("path").and_then(Json::as_str).unwrap_or("value");
    let found = judged(&field(input, "schema"), &field(input, "value"), root);
    // The recorder took the first word of the message for the path, and for a missing property that word is "missing".
    let paths = found.iter().map(|violation| match violation.get("kind").and_then(Json::as_str) {
        Some("missing_required") => Json::from("missing"),
        _ => violation.get("path").cloned().unwrap_or_default(),
    });
    object! { "valid": found.is_empty(), "paths": paths.collect::<Json>() }
}

fn value_cases(input: &Json) -> Json {
    let root = input.get("root").and_then(Json::as_str).unwrap_or("value");
    object! { "violations": judged(&text_field(input, "schema"), &text_field(input, "value"), root) }
}

/// A field that stands as JSON, or as text under the name `…_text`.
fn field(input: &Json, name: &str) -> Json {
    match input.get(&format!("{name}_text")) {
        Some(raw) => read(raw.as_str().unwrap_or_default()),
        None => input.get(name).cloned().unwrap_or_default(),
    }
}

/// A field of the `-cases` kinds, which hold all of their JSON as text.
fn text_field(input: &Json, name: &str) -> Json {
    read(input.get(name).and_then(Json::as_str).unwrap_or_default())
}

/// What is wrong with a value; the mark of a refused number is left to the oracle.
fn judged(schema: &Json, value: &Json, root: &str) -> Vec<Json> {
    let asserted = Schema::new(schema).expect("the schema of a value case is good");
    if has_mark(value) {
        return reference::violations(schema, value, root);
    }
    let found: Vec<Json> = asserted.violations_up_to(value, root, usize::MAX).iter().map(recorded).collect();
    assert_eq!(asserted.is_valid(value), found.is_empty(), "both judges agree");
    found
}

/// A compiled schema, or what was found; lossy annotations of the product are found in a second look.
fn findings(compiled: Result<Schema, JsonSchemaError>) -> Result<Json, Vec<Json>> {
    let schema = compiled.map_err(|error| listed(&error))?;
    Schema::new(&exposed(schema.json())).map_err(|error| listed(&error))?;
    Ok(schema.json().clone())
}

fn refusal(found: &[Json]) -> Json {
    let paths: Json =
        found.iter().map(|violation| violation.get("path").cloned().unwrap_or_default()).collect();
    object! { "code": "UNSUPPORTED_SCHEMA", "paths": paths }
}

fn listed(error: &JsonSchemaError) -> Vec<Json> {
    assert_eq!(error.code(), "UNSUPPORTED_SCHEMA");
    error.violations().iter().map(recorded).collect()
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

/// Compact text with ECMAScript numbers, which is how the vectors are written.
fn text(value: &Json) -> String {
    match value {
        Json::Number(number) => number.ecma(),
        Json::Null | Json::Bool(_) | Json::String(_) => value.to_text(),
        Json::Array(items) => format!("[{}]", items.iter().map(text).collect::<Vec<_>>().join(",")),
        Json::Object(members) => {
            let member = |(key, value): (&std::sync::Arc<str>, &Json)| {
                format!("{}:{}", Json::from(key).to_text(), text(value))
            };
            format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(","))
        }
    }
}

#[test]
fn every_recorded_vector_is_reproduced() {
    for (kind, run) in KINDS {
        let path = format!("{}/../../../fixtures/vectors/{kind}.json", env!("CARGO_MANIFEST_DIR"));
        let file = Json::parse(&std::fs::read_to_string(&path).expect("the vectors are there"))
            .expect("they are JSON");
        assert_eq!(file.get("kind").and_then(Json::as_str), Some(kind));
        let vectors = file.get("vectors").and_then(Json::as_array).expect("there are vectors");
        assert!(!vectors.is_empty());
        for vector in vectors {
            let (Some(id), Some(input), Some(output)) =
                (vector.get("id"), vector.get("input"), vector.get("output"))
            else {
                panic!("not a vector: {vector}");
            };
            assert_eq!(text(&run(input)), text(output), "{kind} {id}\n{input}");
        }
    }
}
