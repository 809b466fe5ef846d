//! What does it cost to import the tools of other people's servers?
//!
//! Goal: 5 ms for a hundred typical tools.

use std::error::Error;
use std::fs;
use std::hint::black_box;
use std::path::Path;

use dsh_benches::criterion;
use dsh_json::Json;
use dsh_json_schema::{ImportLimits, Schema};

fn main() -> Result<(), Box<dyn Error>> {
    let schemas = recorded()?;
    let hundred: Vec<Json> = schemas.iter().cycle().take(100).cloned().collect();
    let limits = ImportLimits::default();
    let mut criterion = criterion().configure_from_args();
    criterion.bench_function("schema_lower/100 recorded tools", |bencher| {
        bencher.iter(|| {
            let imported = hundred.iter().map(|schema| Schema::import_params(black_box(schema), &limits));
            imported.flatten().count()
        });
    });
    criterion.final_summary();
    Ok(())
}

/// The argument schemas of the recorded servers, as far apart from each other as they are listed.
fn recorded() -> Result<Vec<Json>, Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/foreign-schemas");
    let mut paths: Vec<_> =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_, std::io::Error>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    let mut schemas = Vec::new();
    for path in paths {
        let list = Json::parse(&fs::read_to_string(path)?)?;
        let tools = list.get("tools").and_then(Json::as_array).unwrap_or_default();
        schemas.extend(tools.iter().filter_map(|tool| tool.get("inputSchema").cloned()));
    }
    Ok(schemas)
}
