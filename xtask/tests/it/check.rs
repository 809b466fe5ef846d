//! All gates together, on a real build of the sound workspace.

use crate::planted::Planted;

#[test]
fn every_gate_runs_in_order_and_the_failed_ones_are_named() {
    let planted = Planted::sound();
    planted.crate_("crates/test-support/benches", "dsh-benches", "development", &[]);
    planted.append(
        "crates/test-support/benches/Cargo.toml",
        "[[bench]]\nname = \"question\"\nharness = false\n",
    );
    planted.write("crates/test-support/benches/benches/question.rs", "//! A question.\n\nfn main() {}\n");
    planted.runner();
    planted.write("crates/fs/tool/src/lib.rs", "//! What it is.\n//!\n//! See [`Gone`].\nuse  std as _;\n");
    planted.passes(&["gen"]);

    let ran = planted.run(&["check"]);
    assert_eq!(ran.code, Some(1), "{}", ran.text);
    let gates: Vec<&str> = ran.text.lines().filter_map(|line| line.strip_prefix("== ")).collect();
    assert_eq!(
        gates,
        ["fmt", "tidy", "layers", "parity", "gen", "clippy", "test", "conformance", "doc", "bench", "deny"],
        "{}",
        ran.text
    );
    for announced in [
        "$ cargo fmt --all -- --check",
        "$ cargo xtask gen --check",
        "$ cargo clippy --workspace --all-targets -- -D warnings",
        "$ RUSTDOCFLAGS='-D warnings -D missing_docs' cargo doc --workspace --no-deps",
        "$ cargo run --quiet --package dsh-conformance --",
        "$ cargo bench --package dsh-benches --profile dev -- --test",
    ] {
        assert!(ran.text.contains(announced), "no {announced:?} in:\n{}", ran.text);
    }
    // Whether cargo-deny is here, and what it says of a workspace without licences, is not this test's.
    let failed = ran.text.lines().find_map(|line| line.strip_prefix("failed: ")).unwrap_or_default();
    assert_eq!(failed.trim_end_matches(", deny"), "fmt, doc", "{}", ran.text);
}
