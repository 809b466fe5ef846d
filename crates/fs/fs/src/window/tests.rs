//! Rows for the window rule.

use proptest::prelude::*;

use super::*;

fn rule() -> LineWindow {
    LineWindow { mark: |cut| format!("<+{}@{}>", cut.rest, cut.next_column), ..LineWindow::default() }
}

fn look(rule: LineWindow, pieces: &[&str]) -> (Vec<(u64, String)>, u64) {
    let mut window = rule.start();
    for piece in pieces {
        window.push(piece);
    }
    let (lines, total) = window.finish();
    (lines.into_iter().map(|line| (line.number, line.text)).collect(), total)
}

/// The single place that knows how a whole text is shown.
fn check(rule: LineWindow, text: &str, lines: &[(u64, &str)], total: u64) {
    let lines: Vec<_> = lines.iter().map(|(number, text)| (*number, (*text).to_owned())).collect();
    assert_eq!(look(rule, &[text]), (lines, total), "{text:?}");
}

#[test]
fn lines_are_split_and_counted() {
    check(rule(), "", &[], 0);
    check(rule(), "\n", &[(1, "")], 1);
    check(rule(), "\n\n", &[(1, ""), (2, "")], 2);
    check(rule(), "a", &[(1, "a")], 1);
    check(rule(), "a\n\n", &[(1, "a"), (2, "")], 2);
    check(rule(), "a\r\nb\r", &[(1, "a"), (2, "b")], 2);
    check(rule(), "a\rb\r\r\n", &[(1, "a\rb\r")], 1);
    check(rule(), "\r", &[(1, "")], 1);
}

#[test]
fn a_window_shows_its_lines_and_the_exact_total() {
    let at = |first, max_lines| LineWindow { first, max_lines, ..rule() };
    check(at(2, 2), "1\n2\n3\n4\n5\n", &[(2, "2"), (3, "3")], 5);
    check(at(5, 5), "1\n2\n3\n4\n5", &[(5, "5")], 5);
    check(at(6, 1), "1\n2\n3\n4\n5\n", &[], 5);
    check(at(9, 1), "1\n2", &[], 2);
    check(at(2, 1), "1\n", &[], 1);
    check(at(u64::MAX, 1), "1\n2\n", &[], 2);
}

#[test]
fn a_long_line_is_cut_on_a_character_and_says_where_to_go_on() {
    let cap = |max_line_chars| LineWindow { max_line_chars, ..rule() };
    check(cap(3), "abc\r\nd", &[(1, "abc"), (2, "d")], 2);
    check(cap(3), "abcd\n", &[(1, "abc<+1@4>")], 1);
    check(cap(3), "abc\rd\n", &[(1, "abc<+2@4>")], 1);
    check(cap(2), "é路字", &[(1, "é路<+1@3>")], 1);
    check(cap(3), "😀😀😀", &[(1, "😀<+4@3>")], 1); // the second would be cut in half
    check(cap(1), "😀", &[(1, "<+2@1>")], 1);
}

#[test]
fn a_column_shows_the_rest_of_a_line() {
    let from = |column| LineWindow { column, max_line_chars: 3, ..rule() };
    check(from(4), "abcdefgh\nxy\n", &[(1, "def<+2@7>"), (2, "")], 2);
    check(from(7), "abcdefgh\n", &[(1, "gh")], 1);
    check(from(3), "😀😀", &[(1, "😀")], 1);
    check(from(2), "😀😀", &[(1, "😀")], 1); // begins inside a character: the next one
    check(from(u64::MAX), "abc", &[(1, "")], 1);
}

#[test]
fn bytes_are_bounded_with_marks_and_breaks() {
    let cap = |max_bytes| LineWindow { max_bytes, ..rule() };
    check(cap(9), "aaaa\nbbbb\ncc\n", &[(1, "aaaa"), (2, "bbbb")], 3);
    check(cap(8), "aaaa\nbbbb\ncc\n", &[(1, "aaaa")], 3);
    check(cap(1), "\n\n\n", &[(1, ""), (2, "")], 3);
    // One line that exceeds the cap ends the selection, even where a later one would fit.
    check(cap(7), "aaaa\nbbbb\n\n", &[(1, "aaaa")], 3);
}

#[test]
fn a_first_line_over_the_byte_cap_is_cut_instead_of_hidden() {
    let cap = |max_bytes| LineWindow { max_bytes, ..rule() };
    check(cap(10), "aaaaaaaaaaaaaaa\nb\n", &[(1, "aaa<+12@4>")], 2);
    check(cap(3), "aaaa\nbbbb\n", &[(1, "aaa")], 2); // no room for a mark
    check(cap(1), "é\n", &[(1, "")], 1);
    check(cap(8), "路路路路\n", &[(1, "路路")], 1);
}

#[test]
fn a_giant_line_is_held_up_to_the_cap_only() {
    let mut window = LineWindow { max_line_chars: 4, ..rule() }.start();
    for _ in 0..5_000 {
        window.push(&"x".repeat(1000));
        assert!(window.current.text.capacity() <= 64);
    }
    let (lines, total) = window.finish();
    assert_eq!((lines[0].text.as_str(), total), ("xxxx<+4999996@5>", 1));
}

proptest! {
    #[test]
    fn pieces_do_not_show(
        text in "[a\\r\\né😀]{0,60}",
        cuts in proptest::collection::vec(0usize..60, 0..6),
        first in 1u64..5,
        column in 1u64..4,
        max_line_chars in 1usize..6,
        max_bytes in 1usize..40,
    ) {
        let rule = LineWindow { first, column, max_line_chars, max_bytes, ..rule() };
        let mut pieces: Vec<&str> = Vec::new();
        let mut rest = text.as_str();
        for cut in cuts {
            let (head, tail) = rest.split_at(rest.floor_char_boundary(cut.min(rest.len())));
            pieces.push(head);
            rest = tail;
        }
        pieces.push(rest);
        let whole = look(rule.clone(), &[&text]);
        prop_assert_eq!(&look(rule, &pieces), &whole);
        let expected = text.matches('\n').count() + usize::from(!text.is_empty() && !text.ends_with('\n'));
        prop_assert_eq!(whole.1, expected as u64);
        let bytes: usize = whole.0.iter().map(|(_, text)| text.len() + 1).sum();
        prop_assert!(bytes.saturating_sub(1) <= max_bytes);
    }
}
