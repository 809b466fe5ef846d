//! The recorded vectors of spec 04.

#[test]
fn every_recorded_vector_is_reproduced() {
    let kinds = ["param-dsl", "schema-support", "validate", "schema-cases", "dsl-cases", "value-cases"];
    let report = dsh_conformance::recorded(&kinds);
    assert!(report.is_clean(), "{report}");
    assert_eq!(report.passed.len(), kinds.len());
}
