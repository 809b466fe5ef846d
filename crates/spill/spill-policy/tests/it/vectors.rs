//! What was recorded (spec 12 §4).

#[test]
fn every_recorded_vector_is_reproduced_or_ruled() {
    let report = dsh_conformance::recorded(&["spill"]);
    assert!(report.is_clean(), "{report}");
}
