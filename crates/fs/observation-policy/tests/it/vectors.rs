//! The recorded sequences under a policy: codes, values, meta, and what is on the disk after them.

#[test]
fn recorded_sequences() {
    let report = dsh_conformance::recorded(&["read-tool", "write-tool", "edit-tool"]);
    assert!(report.is_clean(), "{report}");
    assert_eq!(report.skipped, []);
}
