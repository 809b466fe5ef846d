//! Every vector in this repository.

use dsh_conformance::{KINDS, recorded};

#[test]
fn every_recorded_vector_is_reproduced_or_ruled() {
    let kinds: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
    let report = recorded(&kinds);
    assert!(report.is_clean(), "{report}");
    assert_eq!(report.skipped, []);
    assert_eq!(report.passed.len(), KINDS.len());
}

#[test]
fn rules_have_a_name_and_a_reason_of_their_own() {
    let mut rules: Vec<_> = KINDS.iter().flat_map(|kind| kind.rules).collect();
    rules.sort_by_key(|rule| rule.name);
    rules.dedup_by_key(|rule| (rule.name, rule.reason));
    assert!(
        rules.windows(2).all(|two| two.iter().map(|rule| rule.name).is_sorted_by(|one, next| one < next))
    );
    assert!(rules.iter().all(|rule| rule.reason.contains("design §") || rule.reason.contains("spec ")));
}

#[test]
fn a_kind_is_known_once() {
    let mut names: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
    names.sort_unstable();
    assert!(names.is_sorted_by(|one, next| one < next), "{names:?}");
}
