//! The test task and the command line, on real builds of a tiny workspace.

use crate::planted::{Planted, Ran};

fn last_line(ran: &Ran) -> &str {
    ran.text.lines().find(|line| line.ends_with(" failed") && line.contains(" passed, ")).unwrap_or_default()
}

fn tiny(lib: &str) -> Planted {
    let planted = Planted::sound();
    planted
        .write("Cargo.toml", "[workspace]\nresolver = \"3\"\nmembers = [\"one\", \"two\"]\ndefault-members = [\"two\"]\nexclude = [\"crates\"]\n");
    for name in ["one", "two"] {
        let manifest = format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
        planted.write(&format!("{name}/Cargo.toml"), &manifest);
    }
    planted.write("two/src/lib.rs", "//! Two.\n#[test]\nfn other() {}\n");
    planted.write("one/src/lib.rs", lib);
    planted
}

#[test]
fn tests_and_doctests_are_counted_together() {
    let planted = tiny(
        "//! ```\n//! assert_eq!(1, 1);\n//! ```\n#[test]\nfn passes() {}\n#[test]\nfn fails() { assert_eq!(1, 2) }\n\
         #[test]\nfn keeps_state_to_itself() { assert!(std::env::var(\"XDG_STATE_HOME\").unwrap().ends_with(\"test-state\")) }\n",
    );
    let ran = planted.run(&["test"]);
    assert_eq!((ran.code, last_line(&ran)), (Some(1), "4 passed, 1 failed"), "{}", ran.text);

    let ran = planted.run(&["test", "-p", "two"]);
    assert_eq!((ran.code, last_line(&ran)), (Some(0), "1 passed, 0 failed"), "{}", ran.text);

    let ran = planted.run(&["test", "passes"]);
    assert_eq!((ran.code, last_line(&ran)), (Some(0), "1 passed, 0 failed"), "{}", ran.text);
}

#[test]
fn in_ci_no_snapshot_is_written() {
    let planted = tiny(
        "//! One.\n#[test]\nfn says_no() { assert_eq!(std::env::var(\"INSTA_UPDATE\").as_deref(), Ok(\"no\")) }\n",
    );
    assert_eq!(last_line(&planted.run(&["test"])), "1 passed, 1 failed");
    assert_eq!(last_line(&planted.run_in_ci(&["test"])), "2 passed, 0 failed");
}

#[test]
fn what_does_not_build_has_failed() {
    let ran = tiny("fn f() { nothing }\n").run(&["test"]);
    assert_eq!((ran.code, last_line(&ran)), (Some(1), "0 passed, 2 failed"), "{}", ran.text);
}

#[test]
fn a_wrong_word_is_named_and_helped() {
    let planted = Planted::sound();
    let ran = planted.run(&["tidyy"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.text.contains("no task is called \"tidyy\"\nusage: cargo xtask TASK"), "{}", ran.text);
    for (words, expected) in [
        (["layers", "x"], "layers takes no arguments"),
        (["parity", "x"], "parity takes no arguments"),
        (["gen", "--chekc"], "gen takes --check or nothing"),
        (["hooks", "x"], "say `cargo xtask hooks install`"),
        (["check", "x"], "check takes no arguments"),
    ] {
        let ran = planted.run(&words);
        assert_eq!(ran.code, Some(2));
        assert!(ran.text.contains(expected), "{}", ran.text);
    }
}
