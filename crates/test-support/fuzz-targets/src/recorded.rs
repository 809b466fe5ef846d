//! The inputs below `fixtures/`, in the form that each target takes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use dsh_json::Json;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::SeedError;
use crate::seeds::{bytes, files, name_of};

/// Names and texts.
type Rows = Vec<(String, String)>;

/// Those of a target; none for most.
pub(crate) fn inputs(target: &str) -> Result<Rows, SeedError> {
    match target {
        "json" => Ok([texts(&["spec", "schema", "value"])?, schemas()?].concat()),
        "schema" => schemas(),
        "import" => Ok([schemas()?, foreign()?].concat()),
        "validation" => judged(),
        "erase" => programs(),
        "sdk_python" | "sdk_typescript" => tools(),
        _ => Ok(Rows::new()),
    }
}

/// What the vectors hold as raw text under these keys.
fn texts(keys: &[&str]) -> Result<Rows, SeedError> {
    let mut rows = Rows::new();
    for kind in ["dsl-cases", "schema-cases", "type-cases", "value-cases"] {
        for (id, input) in vectors(kind)? {
            for key in keys {
                rows.extend(input.text(key).map(|text| (format!("{kind}-{id}-{key}"), text)));
            }
        }
    }
    Ok(rows)
}

fn schemas() -> Result<Rows, SeedError> {
    let mut rows = texts(&["spec", "schema"])?;
    for (kind, key) in [("param-dsl", "spec"), ("schema-support", "schema"), ("ts-render", "schema")] {
        for (id, input) in vectors(kind)? {
            rows.extend(input.value(key).map(|text| (format!("{kind}-{id}"), text)));
        }
    }
    Ok(rows)
}

/// A schema with its value, as a list of both.
fn judged() -> Result<Rows, SeedError> {
    let mut rows = Rows::new();
    for (id, input) in vectors("validate")? {
        if let (Some(schema), Some(value)) = (input.value("schema"), input.value("value")) {
            rows.push((format!("validate-{id}"), format!("[{schema},{value}]")));
        }
    }
    for (id, input) in vectors("value-cases")? {
        if let (Some(schema), Some(value)) = (input.text("schema"), input.text("value")) {
            rows.push((format!("value-cases-{id}"), format!("[{schema},{value}]")));
        }
    }
    Ok(rows)
}

/// The schemas of published tools.
fn foreign() -> Result<Rows, SeedError> {
    let mut rows = Rows::new();
    for (server, list) in documents("foreign-schemas")? {
        for tool in list.get("tools").and_then(Json::as_array).unwrap_or_default() {
            let name = tool.get("name").and_then(Json::as_str).unwrap_or_default();
            for key in ["inputSchema", "outputSchema"] {
                rows.extend(tool.get(key).map(|schema| (format!("{server}-{name}-{key}"), schema.to_text())));
            }
        }
    }
    Ok(rows)
}

fn tools() -> Result<Rows, SeedError> {
    let mut rows = Rows::new();
    for kind in ["sdk-cases", "ts-render", "py-render"] {
        for (id, input) in vectors(kind)? {
            let single = |schema| format!(r#"[{{"name":"t","output":{schema}}}]"#);
            let text = input.value("tools").or_else(|| input.value("schema").map(single));
            rows.extend(text.map(|text| (format!("{kind}-{id}"), text)));
        }
    }
    for set in ["tool-sdk", "foreign-schemas"] {
        for (name, list) in documents(set)? {
            rows.extend(list.get("tools").map(|tools| (format!("{set}-{name}"), tools.to_text())));
        }
    }
    Ok(rows)
}

fn programs() -> Result<Rows, SeedError> {
    let mut rows = Rows::new();
    for set in ["programs", "tool-sdk"] {
        for path in files(&fixtures(set))? {
            let name = name_of(&path);
            // What is rendered is TypeScript as well.
            let is_program = path.extension().is_some_and(|extension| extension == "ts");
            if is_program || name.ends_with(".typescript.snap") {
                let text = String::from_utf8_lossy(&bytes(&path)?).into_owned();
                rows.push((format!("{set}-{name}"), text));
            }
        }
    }
    Ok(rows)
}

/// The inputs of one kind of vectors, by id; each value as the raw text that it is, which may be more than JSON can hold.
fn vectors(kind: &str) -> Result<Vec<(String, Input)>, SeedError> {
    let path = fixtures("vectors").join(format!("{kind}.json"));
    let file = serde_json::from_slice::<File>(&bytes(&path)?);
    let file = file.map_err(|source| SeedError::Vectors { path: path.clone(), source })?;
    Ok(file.vectors.into_iter().map(|vector| (vector.id, Input(vector.input))).collect())
}

#[derive(Deserialize)]
struct File {
    vectors: Vec<Vector>,
}

#[derive(Deserialize)]
struct Vector {
    id: String,
    input: BTreeMap<String, Box<RawValue>>,
}

struct Input(BTreeMap<String, Box<RawValue>>);

impl Input {
    /// The text of a value.
    fn value(&self, key: &str) -> Option<String> {
        let raw = self.text(&format!("{key}_text"));
        raw.or_else(|| self.0.get(key).map(|value| value.get().to_owned()))
    }

    /// A value that is a text.
    fn text(&self, key: &str) -> Option<String> {
        serde_json::from_str(self.0.get(key)?.get()).ok()
    }
}

/// The JSON files of a set, by name.
fn documents(set: &str) -> Result<Vec<(String, Json)>, SeedError> {
    let paths = files(&fixtures(set))?.into_iter();
    let json = paths.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    json.map(|path| Ok((name_of(&path), document(&path)?))).collect()
}

fn document(path: &Path) -> Result<Json, SeedError> {
    let text = String::from_utf8_lossy(&bytes(path)?).into_owned();
    Json::parse(&text).map_err(|source| SeedError::Json { path: path.to_owned(), source })
}

fn fixtures(set: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures").join(set)
}
