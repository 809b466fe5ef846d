//! `cargo xtask conformance` on a planted runner; the real one has tests of its own.

use crate::planted::Planted;

#[test]
fn the_runner_gets_the_arguments_and_decides() {
    let planted = Planted::sound();
    planted.runner();
    let ran = planted.run(&["conformance", "--kind", "spill", "there"]);
    let there = planted.path("").canonicalize().unwrap().join("there");
    assert_eq!(ran.code, Some(0), "{}", ran.text);
    let asked = format!("asked: --kind spill {}", there.display());
    assert!(ran.text.lines().any(|line| line == asked), "no {asked:?} in:\n{}", ran.text);

    let failed = planted.run(&["conformance", "--kind=bad", "--kind", "bad"]);
    assert_eq!(failed.code, Some(1), "{}", failed.text);
}
