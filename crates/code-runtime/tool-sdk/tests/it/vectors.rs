//! The recorded vectors of spec 05.

#[test]
fn every_recorded_vector_is_reproduced() {
    let kinds = ["ts-render", "py-render", "type-cases", "sdk-cases"];
    let report = dsh_conformance::recorded(&kinds);
    assert!(report.is_clean(), "{report}");
    assert_eq!(report.passed.len(), kinds.len());
}
