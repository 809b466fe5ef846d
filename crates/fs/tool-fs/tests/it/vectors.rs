//! The recorded behaviour, compared by value, meta, code and file.

fn check(kind: &str) {
    let report = dsh_conformance::recorded(&[kind]);
    assert!(report.is_clean(), "{report}");
    assert_eq!(report.skipped, []);
}

#[test]
fn read_tool() {
    check("read-tool");
}

#[test]
fn write_tool() {
    check("write-tool");
}

#[test]
fn edit_tool() {
    check("edit-tool");
}
