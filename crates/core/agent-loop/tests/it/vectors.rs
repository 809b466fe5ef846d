//! The recorded vectors of the kind `scheduler`.

#[test]
fn every_recorded_vector_is_reproduced_or_explained() {
    let report = dsh_conformance::recorded(&["scheduler"]);
    assert!(report.is_clean(), "{report}");
}
