//! A crate from outside: one dependency of ours, a tool, a call.

use std::path::Path;
use std::process::Command;

const HERE: &str = env!("CARGO_MANIFEST_DIR");

#[test]
fn a_crate_from_outside_needs_this_crate_alone() {
    let (outside, root) = (tempfile::tempdir().unwrap(), Path::new(HERE).join("../../.."));
    let given = root.join("fixtures/outside-crate");
    let manifest = std::fs::read_to_string(given.join("Cargo.toml.in")).unwrap();
    std::fs::write(outside.path().join("Cargo.toml"), manifest.replace("@TOOLS_CORE@", HERE)).unwrap();
    std::fs::create_dir(outside.path().join("src")).unwrap();
    std::fs::copy(given.join("main.rs"), outside.path().join("src/main.rs")).unwrap();
    // The same versions as here, which are on this machine already.
    std::fs::copy(root.join("Cargo.lock"), outside.path().join("Cargo.lock")).unwrap();

    // What it depends on stays built between runs; the crate itself has another path in each.
    let target = concat!(env!("CARGO_TARGET_TMPDIR"), "/outside");
    let cargo = |arguments: &[&str]| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(arguments).args(["--quiet", "--offline"]).current_dir(outside.path());
        cargo.env("CARGO_TARGET_DIR", target).env("CARGO_INCREMENTAL", "0").output().unwrap()
    };
    let (output, cleaned) = (cargo(&["run"]), cargo(&["clean", "--package", "outside"]));
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let expected = "(Some(\"{\\\"words\\\":3}\"), None)\n(None, Some(\"INVALID_ARGS\"))\n";
    assert_eq!(stdout, expected, "{stderr}");
    assert!(cleaned.status.success(), "{cleaned:?}");
}
