//! This repository keeps its own rules; so the tests alone tell CI what the quick gates tell.

use std::path::Path;

use crate::planted::run_in;

#[track_caller]
fn passes_here(words: &[&str]) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let ran = run_in(root, words);
    assert_eq!(ran.code, Some(0), "\n{}", ran.text);
}

#[test]
fn this_repository_is_tidy() {
    passes_here(&["tidy"]);
}

#[test]
fn this_repository_keeps_its_layers() {
    passes_here(&["layers"]);
}

#[test]
fn this_repository_answers_the_specification() {
    passes_here(&["parity"]);
}

#[test]
fn this_repositorys_generated_pages_are_fresh() {
    passes_here(&["gen", "--check"]);
}
