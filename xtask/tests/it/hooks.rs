//! Installing the hooks, in a repository of its own.

use std::process::Command;

use crate::planted::Planted;

#[test]
fn install_points_git_at_the_folder() {
    let planted = Planted::sound();
    git(&planted, &["init", "--quiet"]);
    let ran = planted.run(&["hooks", "install"]);
    assert_eq!(ran.code, Some(2), "{}", ran.text);
    assert!(ran.text.contains(".githooks is missing"), "{}", ran.text);

    planted.write(".githooks/pre-commit", "#!/bin/sh\n");
    planted.passes(&["hooks", "install"]);
    assert_eq!(git(&planted, &["config", "core.hooksPath"]), ".githooks\n");
}

fn git(planted: &Planted, words: &[&str]) -> String {
    let output = Command::new("git").args(words).current_dir(planted.path("")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
