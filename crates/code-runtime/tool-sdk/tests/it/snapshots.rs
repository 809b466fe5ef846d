//! The declarations of each set in `fixtures/tool-sdk`, compared whole.

use std::fs;
use std::path::{Path, PathBuf};

use dsh_tool_sdk::Language;

use crate::tools::{rendered, tools};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/tool-sdk")
}

#[test]
fn each_set_of_tools_reads_as_it_was_accepted() {
    let mut sets: Vec<PathBuf> = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    sets.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    sets.sort();
    assert!(sets.len() > 10);
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(folder());
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        for path in sets {
            let tools = tools(&fs::read_to_string(&path).unwrap());
            let set = path.file_stem().unwrap().to_string_lossy().into_owned();
            for language in Language::ALL {
                let sdk = rendered(language, &tools);
                insta::assert_snapshot!(format!("{set}.{language}"), sdk.declarations());
            }
        }
    });
}
