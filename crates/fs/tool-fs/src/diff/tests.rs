//! Rows for differences.

use super::*;

fn check(before: &str, after: &str, expected: &[(Option<&str>, &str)]) {
    let path = Arc::from("a");
    let diffs = hunks(&path, before, after);
    let found: Vec<_> = diffs.iter().map(|diff| (diff.old_text.as_deref(), &*diff.new_text)).collect();
    assert_eq!(found, expected);
}

fn numbered(range: Range<u32>) -> String {
    range.map(|number| number.to_string() + "\n").collect()
}

#[test]
fn what_is_equal_has_no_difference() {
    check("", "", &[]);
    check("a\nb", "a\nb", &[]);
}

#[test]
fn a_change_shows_three_lines_around_it() {
    let old = numbered(0..9);
    check(&old, &old.replace("4\n", "four\n"), &[(Some("1\n2\n3\n4\n5\n6\n7"), "1\n2\n3\nfour\n5\n6\n7")]);
}

#[test]
fn changes_share_a_group_up_to_six_lines_apart() {
    let old = numbered(0..30);
    for (apart, groups) in [(5, 1), (6, 1), (7, 2)] {
        let second = format!("\n{}\n", 10 + apart + 1);
        let new = old.replace("\n10\n", "\nx\n").replace(&second, "\ny\n");
        assert_eq!(hunks(&Arc::from("a"), &old, &new).len(), groups, "{apart}");
    }
}

#[test]
fn an_empty_side_is_no_text_or_none() {
    check("", "a\nb\n", &[(None, "a\nb")]);
    check("a\nb\n", "", &[(Some("a\nb"), "")]);
    check("\n", "", &[(Some(""), "")]);
}

#[test]
fn a_missing_break_at_the_end_is_a_difference_without_a_marker() {
    check("a\nb\n", "a\nb", &[(Some("a\nb"), "a\nb")]);
    check("a", "a\n", &[(Some("a"), "a")]);
}

#[test]
fn a_lone_carriage_return_breaks_no_line() {
    check("a\rb\nc\n", "a\rX\nc\n", &[(Some("a\rb\nc"), "a\rX\nc")]);
}

#[test]
fn a_rewrite_of_a_large_file_ends_in_bounded_time() {
    // The worst case for comparing lines: everything moved, nothing unique.
    let text = |seed: u64| -> String {
        let mut state = seed;
        (0..200_000)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                ((state >> 33) % 500).to_string() + "\n"
            })
            .collect()
    };
    let (old, new) = (text(1), text(2));
    let diffs = hunks(&Arc::from("a"), &old, &new);
    let total: usize = diffs.iter().map(|diff| diff.new_text.len()).sum();
    assert!(!diffs.is_empty() && total <= new.len() * 2);
}

#[test]
fn differences_survive_the_log_and_nothing_else_does() {
    let diffs = hunks(&Arc::from("a"), "", "x\n");
    assert_eq!(to_meta(&diffs).to_text(), r#"{"diffs":[{"path":"a","oldText":null,"newText":"x"}]}"#);
    assert_eq!(from_meta(Some(&to_meta(&diffs))), Some(diffs));
    assert_eq!(to_meta(&[]).to_text(), r#"{"diffs":[]}"#);
    let bad = [
        "{}",
        "[]",
        r#"{"diffs":[]}"#,
        r#"{"diffs":{}}"#,
        r#"{"diffs":[{"path":"a"}]}"#,
        r#"{"diffs":[{"path":1,"oldText":null,"newText":""}]}"#,
    ];
    for bad in bad {
        assert_eq!(from_meta(Some(&Json::parse(bad).unwrap())), None, "{bad}");
    }
    assert_eq!(from_meta(None), None);
}

#[test]
fn leaving_out_what_is_equal_changes_nothing() {
    let reference = |before: &str, after: &str| -> Vec<FileDiff> {
        let (old, new) = (lines(before), lines(after));
        let diff = TextDiff::configure().diff_slices(&old, &new);
        diff.grouped_ops(CONTEXT)
            .iter()
            .filter_map(|group| hunk(&Arc::from("a"), group, &old, &new))
            .collect()
    };
    let lines = numbered(0..40);
    let mut texts = vec![String::new(), "x".into(), "x\n".into(), "\n\n\n".into(), lines.clone()];
    for number in [0, 1, 2, 3, 4, 5, 20, 35, 36, 37, 38, 39] {
        texts.push(lines.replacen(&format!("\n{number}\n"), "\nx\ny\n", 1));
        texts.push(lines.replacen(&format!("\n{number}\n"), "\n", 1));
        texts.push(lines.replacen(&format!("{number}\n"), "é", 1));
    }
    texts.push(lines.trim_end().into());
    for before in &texts {
        for after in &texts {
            assert_eq!(
                hunks(&Arc::from("a"), before, after),
                reference(before, after),
                "{before:?} {after:?}"
            );
        }
    }
}
