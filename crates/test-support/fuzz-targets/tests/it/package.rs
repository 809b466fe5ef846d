//! The package in `fuzz/` has a program for each target.

use std::fs;
use std::path::PathBuf;

use dsh_fuzz_targets::TARGETS;

#[test]
fn every_target_has_a_program_that_fuzzes_it() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz");
    let manifest: toml::Table = fs::read_to_string(folder.join("Cargo.toml")).unwrap().parse().unwrap();
    let programs = manifest["bin"].as_array().unwrap();
    let names: Vec<&str> = programs.iter().map(|program| program["name"].as_str().unwrap()).collect();
    assert_eq!(names, TARGETS.iter().map(|target| target.name).collect::<Vec<_>>());
    for program in programs {
        let (name, path) = (program["name"].as_str().unwrap(), program["path"].as_str().unwrap());
        let source = fs::read_to_string(folder.join(path)).unwrap();
        assert!(source.contains(&format!("dsh_fuzz_targets::run({name:?}, bytes)")), "{source}");
    }
}
