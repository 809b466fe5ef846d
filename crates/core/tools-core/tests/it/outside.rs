//! A crate from outside: one dependency of ours, a tool, a call.

use std::process::Command;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../..");

#[test]
fn a_crate_from_outside_needs_this_crate_alone() {
    let (outside, given) = (tempfile::tempdir().unwrap(), format!("{ROOT}/fixtures/outside-crate"));
    let manifest = std::fs::read_to_string(format!("{given}/Cargo.toml.in")).unwrap();
    std::fs::write(outside.path().join("Cargo.toml"), manifest.replace("../dsh", ROOT)).unwrap();
    std::fs::create_dir(outside.path().join("src")).unwrap();
    std::fs::copy(format!("{given}/main.rs"), outside.path().join("src/main.rs")).unwrap();
    // The same versions as here, which are on this machine already.
    std::fs::copy(format!("{ROOT}/Cargo.lock"), outside.path().join("Cargo.lock")).unwrap();

    // What it depends on stays built between runs; the crate itself has another path in each.
    let target = concat!(env!("CARGO_TARGET_TMPDIR"), "/outside");
    let cargo = |arguments: &[&str]| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(arguments).args(["--quiet", "--offline"]).current_dir(outside.path());
        cargo.env("CARGO_TARGET_DIR", target).env("CARGO_INCREMENTAL", "0");
        cargo.env("CARGO_PROFILE_DEV_DEBUG", "false").output().unwrap()
    };
    let (output, cleaned) = (cargo(&["run"]), cargo(&["clean", "--package", "outside"]));
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let expected = "(Some(\"{\\\"words\\\":3}\"), None)\n(None, Some(\"INVALID_ARGS\"))\n";
    assert_eq!(stdout, expected, "{stderr}");
    assert!(cleaned.status.success(), "{cleaned:?}");
}

#[test]
fn the_dependencies_in_the_readme_are_those_of_the_crate_from_outside() {
    let manifest = std::fs::read_to_string(format!("{ROOT}/fixtures/outside-crate/Cargo.toml.in")).unwrap();
    let readme = std::fs::read_to_string(format!("{ROOT}/README.md")).unwrap();
    let (_, dependencies) = manifest.split_once("\n\n").unwrap();
    assert!(readme.contains(&format!("```toml\n{dependencies}```")), "mend the README, or the fixture");
}
