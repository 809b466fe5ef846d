//! The answers to the specification, planted one by one.

use crate::planted::Planted;

const TASK: &[&str] = &["parity"];
const ANSWERS: &str = "docs/parity.toml";

/// A specification with three items, each answered in another way.
fn answered() -> Planted {
    let planted = Planted::sound();
    planted.write(
        "docs/spec/01-calls.md",
        "# 01\n\n## 2. Checklist\n\n1. One. 2. Two:\n   more.\n3. Three.\n\n## 3. Rest\n\n4. No.\n",
    );
    planted.write("docs/design.md", "# Plan\n\n```\nfs/  store/ · later/ consumer\n```\n");
    planted.write(
        ANSWERS,
        "[\"01.2.1\"]\nitem = \"One.\"\ntest = \"dsh-tool::tests::works\"\nnote = \"In part.\"\n\
         [\"01.2.2\"]\nitem = \"Two\"\nchanged = \"design §4.5: we do otherwise\"\n\
         [\"01.2.3\"]\nitem = \"Three.\"\nabsent = \"can't arise\"\n",
    );
    planted.write(
        "crates/fs/tool/src/lib.rs",
        "//! Tool.\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn works() {}\n}\n",
    );
    planted
}

/// Each row: what the answers have, what stands there instead, and what parity says about it.
#[track_caller]
fn check(rows: &[(&str, &str, &str)]) {
    for (from, to, expected) in rows {
        let planted = answered();
        planted.replace(ANSWERS, from, to);
        planted.fails(TASK, expected);
    }
}

#[test]
fn a_workspace_without_a_specification_passes() {
    Planted::sound().passes(TASK);
}

#[test]
fn answered_items_pass_and_are_counted() {
    let planted = answered();
    let ran = planted.run(TASK);
    assert_eq!(ran.code, Some(0), "{}", ran.text);
    let expected = "spec  tested  changed  absent  not built\n\
                    01         1        1       1          0\n\
                    all        1        1       1          0\n\
                    parity: ok (3 items)\n";
    assert_eq!(ran.text, expected);

    planted.replace(ANSWERS, "can't arise", "not built yet: later: the rest");
    assert!(planted.run(TASK).text.contains("01         1        1       0          1\n"));
}

#[test]
fn every_item_has_a_row_and_every_row_an_item() {
    check(&[
        (
            "[\"01.2.3\"]\nitem = \"Three.\"\nabsent = \"can't arise\"\n",
            "",
            "parity.toml: has no row for 01.2.3: \"Three.\"",
        ),
        ("01.2.3", "01.2.4", "parity.toml:8: 01.2.4 is no item of a checklist"),
        ("\"Two\"", "\"To\"", "parity.toml:5: 01.2.2 is about something else now: \"Two:\""),
        ("item = \"Two\"\n", "", "01.2.2 is about something else now"),
    ]);
    let planted = Planted::sound();
    planted.write("docs/spec/01-calls.md", "## 2. Checklist\n1. One.\n");
    planted.fails(TASK, "docs/parity.toml: has no row for 01.2.1");
}

#[test]
fn a_row_has_exactly_one_answer() {
    check(&[
        ("absent = \"can't arise\"\n", "", "01.2.3 does not have exactly one answer"),
        ("absent =", "changed = \"design §1\"\nabsent =", "01.2.3 does not have exactly one answer"),
        ("absent =", "missing =", "01.2.3 has `missing`"),
        ("\"can't arise\"", "7", "01.2.3 has `absent`"),
        ("can't arise", " ", "01.2.3 is absent without a reason"),
    ]);
}

#[test]
fn a_test_exists_where_it_is_said_to() {
    check(&[
        ("tests::works", "works", "01.2.1 names the test `dsh-tool::works`, which does not exist"),
        ("\"dsh-tool::tests::works\"", "[]", "01.2.1 names no test"),
        (
            "\"dsh-tool::tests::works\"",
            "[\"dsh-tool::tests::works\", \"dsh-tool::it::x\"]",
            "names the test `dsh-tool::it::x`",
        ),
    ]);
    let planted = answered();
    planted.replace("crates/fs/tool/src/lib.rs", "#[test]\n    fn works", "fn works");
    planted.fails(TASK, "names the test `dsh-tool::tests::works`, which does not exist");
    planted.write("crates/fs/tool/tests/it/main.rs", "mod rows;\n");
    planted.write("crates/fs/tool/tests/it/rows.rs", "proptest! { #[test] fn holds(x in 0..9) {} }\n");
    planted.replace(ANSWERS, "tests::works", "it::rows::holds");
    planted.passes(TASK);
}

#[test]
fn a_deviation_is_decided_somewhere() {
    check(&[("design §4.5: ", "", "01.2.2 does otherwise and does not say where that is decided")]);
}

#[test]
fn what_is_built_is_not_waited_for() {
    check(&[
        ("can't arise", "not built yet: store: the rest", "01.2.3 waits for `store`, which is built"),
        ("can't arise", "not built yet: dsh-tool", "01.2.3 waits for `dsh-tool`, which is built"),
        ("can't arise", "not built yet: castle: high", "01.2.3 waits for `castle`, which nobody plans"),
        ("can't arise", "not built yet:", "01.2.3 waits for ``, which nobody plans"),
    ]);
}
