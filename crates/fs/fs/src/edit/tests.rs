//! Rows for finding and replacing.

use proptest::prelude::*;

use super::*;

fn request(old: &str, new: &str) -> EditRequest {
    EditRequest { old: old.into(), new: new.into(), replace_all: false, intent: None }
}

fn all(old: &str, new: &str) -> EditRequest {
    EditRequest { replace_all: true, ..request(old, new) }
}

fn said(text: &str, request: &EditRequest) -> String {
    let error = request.apply(text).unwrap_err().about("/w/a");
    format!("{}: {error}", error.code())
}

#[test]
fn only_what_was_meant_changes() {
    // text, old, new, text after
    let rows = [
        ("hello world\n", "world", "there", "hello there\n"),
        ("x\n", "x\n", "", ""),
        ("a.b*c", ".b*", "$&", "a$&c"),
        ("aaa", "aa", "b", "ba"),
        // `\n` finds any line break, and the old and the new text may have either.
        ("a\r\nb\r\nc\n", "a\nb", "a\nB", "a\r\nB\r\nc\n"),
        ("a\r\nb\r\nc\n", "a\nb\nc", "x\ny\nz", "x\r\ny\r\nz\n"),
        ("one\ntwo\n", "one\r\ntwo", "x", "x\n"),
        ("a\r\nb", "\n", " ", "a b"),
        ("one\r\ntwo\r\n", "two", "a\nb\r\nc", "one\r\na\r\nb\r\nc\r\n"),
        // New line breaks are like those around them, also where a file has both.
        ("a\nb\nc\r\nd\r\n", "b", "b1\nb2", "a\nb1\nb2\nc\r\nd\r\n"),
        ("a\nb\nc\r\nd\r\n", "c", "c1\nc2", "a\nb\nc1\r\nc2\r\nd\r\n"),
        ("a\r\nb", "b", "b\nc\n", "a\r\nb\r\nc\r\n"),
        ("a\r\nb\nc", "a\nb", "a\nx\nb", "a\r\nx\r\nb\nc"),
        ("a", "a", "a\nb", "a\nb"),
        // Lone returns are text.
        ("a\rb\r", "a", "A", "A\rb\r"),
        ("a\r\r\nb\r\n", "a", "A", "A\r\r\nb\r\n"),
        ("漢字\n路径\n", "字\n路", "Z\n😀", "漢Z\n😀径\n"),
    ];
    for (text, old, new, after) in rows {
        let edited = request(old, new).apply(text).unwrap();
        assert_eq!((edited.text.as_str(), edited.replacements), (after, 1), "{text:?}");
        assert!(edited.tolerance.is_exact());
        assert_eq!(request(old, new).found_in(text), Some((1, Tolerance::default())));
    }
}

#[test]
fn all_occurrences_are_replaced_from_left_to_right() {
    let rows = [
        ("aaaa", "aa", "b", "bb", 2),
        ("aaaaa", "aa", "aaa", "aaaaaaa", 2),
        ("x\r\nx\n", "x\n", "y\nz\n", "y\r\nz\r\ny\nz\n", 2),
    ];
    for (text, old, new, after, count) in rows {
        let edited = all(old, new).apply(text).unwrap();
        assert_eq!((edited.text.as_str(), edited.replacements), (after, count));
    }
    assert_eq!(all("b", "c").apply("abc").unwrap().replacements, 1);
}

#[test]
fn what_no_reader_sees_is_looked_past_and_kept() {
    let tolerance =
        |line_numbers, trailing_blanks, typography| Tolerance { line_numbers, trailing_blanks, typography };
    let rows = [
        ("a  \nb\t\nc\n", "a\nb\nc", "a\nb\nC", "a  \nb\t\nC\n", tolerance(false, true, false)),
        ("a\nb\n", "a \nb  ", "x\ny", "x\ny\n", tolerance(false, true, false)),
        (
            "let s = \u{201c}hi\u{201d}; // x\n",
            "let s = \"hi\"; // x",
            "let s = \"hi\"; // y",
            "let s = \u{201c}hi\u{201d}; // y\n",
            tolerance(false, false, true),
        ),
        (
            "a\u{a0}b \u{2013} c\n",
            "a b - c",
            "a b - d",
            "a\u{a0}b \u{2013} d\n",
            tolerance(false, false, true),
        ),
        ("it's\n", "it\u{2019}s", "it\u{2019}s so", "it's so\n", tolerance(false, false, true)),
        (
            "\u{2018}a\u{2019} \r\nb\r\n",
            "'a'\nb",
            "'a'\nc",
            "\u{2018}a\u{2019} \r\nc\r\n",
            tolerance(false, true, true),
        ),
        (
            "one\n  two\n",
            "  1: one\n  2:   two\n",
            "  1: one\n  2:   TWO\n",
            "one\n  TWO\n",
            tolerance(true, false, false),
        ),
        ("one\n\ntwo\n", "1: one\n2:\n3: two", "uno", "uno\n", tolerance(true, false, false)),
        ("one  \ntwo\n", "7: one\n8: two", "x\ny", "x\ny\n", tolerance(true, true, false)),
    ];
    for (text, old, new, after, tolerance) in rows {
        let edited = request(old, new).apply(text).unwrap();
        assert_eq!((edited.text.as_str(), edited.tolerance), (after, tolerance), "{old:?}");
        assert_eq!(request(old, new).found_in(text), Some((1, tolerance)));
    }
}

#[test]
fn exact_comes_first_and_tolerance_wants_one_place() {
    let quotes = "\u{201c}a\u{201d}\n\"a\"\n";
    assert_eq!(request("\"a\"", "b").apply(quotes).unwrap().text, "\u{201c}a\u{201d}\nb\n");
    // Numbers that are in the file are text.
    assert_eq!(request("1: a\n", "1: b\n").apply("1: a\na\n").unwrap().text, "1: b\na\n");
    for request in [request("a\nb", "c"), all("a\nb", "c")] {
        let miss = request.apply("a \nb\nx\na  \nb\n").unwrap_err();
        assert_eq!(miss, EditMiss::Ambiguous { count: 2, lines: vec![1, 4], exact: false });
    }
    for (old, new) in [
        ("1: one\ntwo", "x"),
        ("1: one\n3: two", "x"),
        ("1: one\n2: two", "1: one\nthree\n2: two"),
        ("  ", "x"),
        ("one ", "x"),
    ] {
        assert!(request(old, new).apply("one\ttwo\none-\ntwo three\n").is_err(), "{old:?}");
    }
}

#[test]
fn each_miss_says_what_is_wrong_and_what_is_near() {
    let text = "fn main() {\n\tlet a = 1;\n\tprintln!(\"{a}\");\n}\n\nfn other() {\n\tlet a = 1;\n}\n";
    let rows = [
        request("", "x"),
        request("\tlet a = 1;", "x"),
        request("a", "x"),
        request("fn main() {\n    let a = 1;\n", "x"),
        request("FN MAIN() {", "x"),
        request("fn main() {\n\tlet a = 2;\n\tprintln!(\"{a}\");\n}", "x"),
        request("1: fn main() {\n2: let b = 1;", "x"),
        request("let a = 0;", "fn other"),
        request("let\u{a0}b = 1;", "x"),
        request("nothing like it", "x"),
        request("}\n\nfn  other()\r{", "x"),
    ];
    let said: Vec<String> = rows.iter().map(|request| said(text, request)).collect();
    insta::assert_snapshot!(said.join("\n---\n"));
    assert_eq!(request("it\u{2019}s", "it's").apply("it's\n"), Err(EditMiss::Unchanged));
}

#[test]
fn a_miss_in_a_giant_line_is_short_and_quick() {
    let giant = format!("[{}]", "1234567,".repeat(625_000));
    let said = said(&giant, &request("[1234567,1234568", "x"));
    assert!(said.len() < 600, "{}", said.len());
    let many = "}\n".repeat(500_000);
    let said = self::said(&many, &request(&"}\n}\nx\n".repeat(1000), "y"));
    assert!(said.len() < 1500);
    let said = self::said(&many, &request("}", "y"));
    assert!(said.contains("500000 times") && said.contains("(lines 1, 2, 3, 4, 5, …)"), "{said}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn a_unique_piece_is_replaced_and_the_rest_is_the_same_bytes(
        before in "[ab \r\n]{0,12}",
        after in "[ab \r\n]{0,12}",
        old in "[xy]{1,3}",
        new in "[ab\n]{0,6}",
    ) {
        let text = format!("{before}{old}{after}");
        let edited = request(&old, &new).apply(&text).unwrap();
        prop_assert!(edited.text.starts_with(&before) && edited.text.ends_with(&after));
        let middle = &edited.text[before.len()..edited.text.len() - after.len()];
        prop_assert_eq!(middle.replace("\r\n", "\n"), new);
    }

    #[test]
    fn the_plain_result_is_that_of_plain_replacement(
        text in "[ab\r\n]{0,14}",
        old in "[ab\n]{1,3}",
        new in "[abc\n]{0,4}",
    ) {
        let plain = text.replace("\r\n", "\n");
        if let Ok(edited) = all(&old, &new).apply(&text) && edited.tolerance.is_exact() {
            // A lone return before a new line break reads as one.
            prop_assume!(!plain.contains('\r'));
            prop_assert_eq!(edited.text.replace("\r\n", "\n"), plain.replace(&old, &new));
        }
    }
}
