//! Each target over its seeds: what fuzzing has found once is found again here.

use dsh_fuzz_targets::{Met, Target, seeds};

/// Runs the target over its seeds, and looks that enough of them come past its first check, and some do not.
fn check(name: &str, taken_at_least: usize, refused_at_least: usize) {
    let target = Target::named(name).unwrap();
    let (mut taken, mut refused) = (0, 0);
    for seed in seeds(name).unwrap() {
        match (target.run)(&seed.bytes) {
            Met::Taken => taken += 1,
            Met::Refused => refused += 1,
        }
    }
    assert!(
        taken >= taken_at_least && refused >= refused_at_least,
        "{name}: {taken} taken, {refused} refused"
    );
}

#[test]
fn text_is_read_and_written_as_the_same_value() {
    check("json", 200, 20);
}

#[test]
fn schemas_are_taken_as_they_are() {
    check("schema", 100, 20);
}

#[test]
fn foreign_schemas_are_imported() {
    check("import", 200, 20);
}

#[test]
fn judges_agree_on_values() {
    check("validation", 200, 2);
}

#[test]
fn declarations_in_python_have_their_form() {
    check("sdk_python", 60, 2);
}

#[test]
fn declarations_in_typescript_have_their_form() {
    check("sdk_typescript", 60, 2);
}

#[test]
fn programs_keep_their_places() {
    check("erase", 20, 5);
}

#[test]
fn messages_arrive_as_they_were_sent() {
    check("wire", 10, 5);
}

#[test]
fn logs_are_read_and_repaired_without_a_loss() {
    check("session_log", 5, 3);
}
