//! `cargo xtask e2e` on a planted program; the real one has tests of its own.

use crate::planted::Planted;

/// A program whose story passes so many of its three rounds.
fn telling(passed: usize) -> Planted {
    let planted = Planted::sound();
    let story = format!(
        "#[test]\nfn a_run_killed_after_any_line_keeps_every_event_that_it_printed() {{\n    \
         assert_eq!(std::env::var(\"DSH_E2E\").as_deref(), Ok(\"all\"));\n    \
         println!(\"\\n{passed} of 3\");\n    assert_eq!({passed}, 3);\n}}\n"
    );
    planted.write("crates/host/dsh/tests/it/main.rs", "//! The program.\n\nmod kills;\n");
    planted.write("crates/host/dsh/tests/it/kills.rs", &format!("//! Kills.\n\n{story}"));
    planted
}

#[test]
fn the_rounds_that_passed_are_counted_in_the_last_line() {
    for (passed, code) in [(3, 0), (2, 1)] {
        let ran = telling(passed).run(&["e2e", "kill"]);
        assert_eq!(ran.code, Some(code), "{}", ran.text);
        let count = format!("{passed} of 3");
        assert!(ran.text.lines().any(|line| line == count), "no {count:?} in:\n{}", ran.text);
    }
}

#[test]
fn a_story_that_is_not_there_is_an_error() {
    let ran = telling(3).run(&["e2e", "kill", "interrupt"]);
    assert_eq!(ran.code, Some(2), "{}", ran.text);
    assert!(ran.text.contains("interrupt: no round was run"), "{}", ran.text);
    let ran = Planted::sound().run(&["e2e", "kil"]);
    assert_eq!(ran.code, Some(2), "{}", ran.text);
    assert!(ran.text.contains("no story is called \"kil\""), "{}", ran.text);
}
