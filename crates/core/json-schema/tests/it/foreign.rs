//! Tool lists of published servers: every schema is imported.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use dsh_json::Json;
use dsh_json_schema::{ImportLimits, Imported, Schema};

/// The recorded lists, by the name of their server.
pub(crate) fn lists() -> Vec<(String, Json)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/foreign-schemas");
    let mut lists: Vec<(String, Json)> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .map(|path| {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            (name, Json::parse(&fs::read_to_string(&path).unwrap()).unwrap())
        })
        .collect();
    lists.sort_by(|left, right| left.0.cmp(&right.0));
    lists
}

#[test]
fn every_recorded_schema_is_imported() {
    let lists = lists();
    let mut page = String::new();
    for (server, list) in &lists {
        for tool in list.get("tools").and_then(Json::as_array).unwrap() {
            let name = tool.get("name").and_then(Json::as_str).unwrap();
            let arguments = Schema::import_params(tool.get("inputSchema").unwrap(), &ImportLimits::default());
            report(&mut page, &format!("{server}/{name}"), &arguments.unwrap());
            if let Some(output) = tool.get("outputSchema") {
                let output = Schema::import(output, &ImportLimits::default()).unwrap();
                report(&mut page, &format!("{server}/{name}, output"), &output);
            }
        }
    }
    assert!(lists.len() >= 12);
    insta::with_settings!({ snapshot_path => "../../../../../fixtures/foreign-schemas", prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!("report", page);
    });
}

fn report(page: &mut String, name: &str, imported: &Imported) {
    let report = imported.report().to_string();
    if report != "every keyword was kept" || imported.unchecked().is_some() {
        writeln!(page, "# {name}\n{report}").unwrap();
        if let Some(reason) = imported.unchecked() {
            writeln!(page, "not judged by itself: {reason}").unwrap();
        }
        page.push('\n');
    }
}
