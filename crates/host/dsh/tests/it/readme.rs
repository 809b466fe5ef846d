//! The README's tour is what the program prints.

use std::path::{Path, PathBuf};
use std::process::Command;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// The commands of the `console` blocks with what they print.
fn tour(readme: &str) -> Vec<(String, String)> {
    let blocks = readme
        .split("```console\n")
        .skip(1)
        .filter_map(|rest| rest.split_once("```").map(|(block, _)| block));
    let parts = blocks.map(|block| block.strip_prefix("$ dsh ").unwrap().split_once('\n').unwrap());
    parts.map(|(command, printed)| (command.to_owned(), printed.to_owned())).collect()
}

#[test]
fn the_tour_prints_what_the_readme_says() {
    let readme = std::fs::read_to_string(repository().join("README.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let copied =
        Command::new("cp").arg("-r").arg(repository().join("fixtures")).arg(folder.path()).status().unwrap();
    assert!(copied.success());
    let _ = std::fs::remove_dir_all(folder.path().join("fixtures/workspaces/garden/out"));
    let tour = tour(&readme);
    assert_eq!(tour.len(), 4);
    for (command, expected) in tour {
        let line = format!("\"$DSH\" {command} 2>&1");
        let output = Command::new("sh")
            .args(["-c", &line])
            .env("DSH", env!("CARGO_BIN_EXE_dsh"))
            .env_remove("DEEPSEEK_API_KEY")
            .env_remove("OPENAI_API_KEY")
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), expected, "{command}");
    }
    let note = std::fs::read_to_string(folder.path().join("fixtures/workspaces/garden/out/note.md")).unwrap();
    assert_eq!(note, "One thing is open in src/plan.rs.\n");
}

#[test]
fn the_program_of_the_readme_is_the_one_that_a_test_builds() {
    let readme = std::fs::read_to_string(repository().join("README.md")).unwrap();
    let program = std::fs::read_to_string(repository().join("fixtures/outside-crate/main.rs")).unwrap();
    assert!(readme.contains(&format!("```rust\n{program}```")), "mend the README, or the fixture");
}

#[test]
fn the_configuration_of_the_readme_is_understood() {
    let readme = std::fs::read_to_string(repository().join("README.md")).unwrap();
    // The last one is a manifest.
    let blocks: Vec<_> =
        readme.split("```toml\n").skip(1).map(|rest| rest.split_once("```").unwrap().0).collect();
    let (manifest, settings) = blocks.split_last().unwrap();
    assert!(manifest.starts_with("[dependencies]") && settings.len() == 2, "{blocks:?}");
    for text in settings {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("dsh.toml"), text).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_dsh"));
        let output = command
            .arg("plugins")
            .current_dir(folder.path())
            .env("DEEPSEEK_API_KEY", "sk-0123456789")
            .output()
            .unwrap();
        assert!(output.status.success(), "{text}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
