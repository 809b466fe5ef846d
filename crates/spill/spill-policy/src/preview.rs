//! What stands in the place of a text: its head, what is left out, its tail, and the notice.

use dsh_retention::{Budget, TextRetainer};
use dsh_spill::SpillRef;

use crate::give_up::GiveUp;
use crate::words::{self, Gap};

/// The line breaks around an elision and before a notice.
const BREAKS: &str = "\n\n\n\n";

/// What is shown of a text that is stored there: at most `cap` bytes, and the same for the same input.
///
/// Of what the notice and the elision leave at the most, the head gets one half and the tail the other; of an odd number,
/// the head gets the larger. Each side is cut at the end of a line, unless that costs it more than half of its budget;
/// then it is cut between characters. Where nothing of the text fits, the notice stands alone.
pub(crate) fn shown(text: &str, stored: &SpillRef, cap: usize) -> Result<String, GiveUp> {
    // With the largest numbers that they can have.
    let reserve = words::notice(text.len(), text.len(), stored).len()
        + words::longest_elision(text.len())
        + BREAKS.len();
    let cut = Cut::new(text, cap.saturating_sub(reserve));
    let shown = cut.with(&words::notice(cut.gap.len(), text.len(), stored));
    if shown.len() > cap {
        return Err(GiveUp::TooLarge { needed: shown.len(), allowed: cap });
    }
    Ok(shown)
}

/// A text in three parts.
#[derive(Debug, PartialEq, Eq)]
struct Cut<'a> {
    head: &'a str,
    gap: &'a str,
    tail: &'a str,
}

impl<'a> Cut<'a> {
    /// With so many bytes in head and tail, at the most.
    fn new(text: &'a str, room: usize) -> Self {
        let budget = Budget { head: room.div_ceil(2), tail: room / 2 };
        let mut retainer = TextRetainer::new(budget);
        retainer.push(text.as_bytes());
        let kept = retainer.finish();
        let (head, rest) = text.split_at_checked(kept.head.len()).unwrap_or((text, ""));
        let (gap, tail) =
            rest.split_at_checked(rest.len().saturating_sub(kept.tail.len())).unwrap_or((rest, ""));
        let head = head.get(..line_end(head, budget.head)).unwrap_or(head);
        let tail = tail.get(line_start(gap, tail, budget.tail)..).unwrap_or(tail);
        let gap = text.get(head.len()..text.len() - tail.len()).unwrap_or(gap);
        Self { head, gap, tail }
    }

    /// All parts in order, with the elision where there is something around it.
    fn with(&self, notice: &str) -> String {
        let Self { head, tail, .. } = self;
        if head.is_empty() && tail.is_empty() {
            return notice.to_owned();
        }
        let elision = words::elision(self.measured());
        let (after_head, after_tail) = (end_of_line(head), end_of_line(tail));
        [head, after_head, &elision, "\n", tail, after_tail, "\n", notice].concat()
    }

    fn measured(&self) -> Gap {
        let Self { head, gap, .. } = self;
        let ends = memchr::memchr_iter(b'\n', gap.as_bytes()).count();
        let is_cut = !gap.ends_with('\n');
        let whole_lines = !is_cut && (head.is_empty() || head.ends_with('\n'));
        Gap { bytes: gap.len(), lines: ends + usize::from(is_cut), whole_lines }
    }
}

/// Where a head is cut: behind its last line, if that leaves half of its budget.
fn line_end(head: &str, budget: usize) -> usize {
    let end = head.rfind('\n').map_or(0, |at| at + 1);
    if end >= budget.div_ceil(2) { end } else { head.len() }
}

/// Where a tail is cut: before its first line that is whole, if that leaves half of its budget.
fn line_start(before: &str, tail: &str, budget: usize) -> usize {
    if before.is_empty() || before.ends_with('\n') {
        return 0;
    }
    let start = tail.find('\n').map_or(tail.len(), |at| at + 1);
    if tail.len() - start >= budget.div_ceil(2) { start } else { 0 }
}

/// What ends a line that is begun.
fn end_of_line(text: &str) -> &'static str {
    if text.is_empty() || text.ends_with('\n') { "" } else { "\n" }
}

#[cfg(test)]
mod tests {
    use dsh_spill::SpillLocator;

    use super::*;

    fn row(text: &str, room: usize) -> (&str, &str, &str) {
        let Cut { head, gap, tail } = Cut::new(text, room);
        (head, gap, tail)
    }

    #[test]
    fn sides_are_cut_at_lines_where_that_leaves_half_of_them() {
        for (text, room, expected) in [
            // Both sides have lines.
            ("aa\nbb\ncc\ndd\nee\n", 8, ("aa\n", "bb\ncc\ndd\n", "ee\n")),
            // The tail begins with a line by chance.
            ("aa\nbb\ncc\ndd\n", 6, ("aa\n", "bb\ncc\n", "dd\n")),
            ("aa\nbb\ncc\ndd\nee\nff\n", 12, ("aa\nbb\n", "cc\ndd\n", "ee\nff\n")),
            // Lines that are too long for that.
            ("a\nbbbbbbbb\ncccccccc\nd", 14, ("a\nbbbbb", "bbb\nccc", "ccccc\nd")),
            ("abcdefghij", 5, ("abc", "defgh", "ij")),
            // Exactly half is enough; one byte less is not.
            ("a\nbbbbbb\nc", 4, ("a\n", "bbbbbb\n", "c")),
            ("\nbbbbbbbb", 6, ("\nbb", "bbb", "bbb")),
            // The end of a text is no line of its own.
            ("aaaa\nbbbbbbbb\n", 4, ("aa", "aa\nbbbbbbb", "b\n")),
            ("", 4, ("", "", "")),
            ("abc", 0, ("", "abc", "")),
            ("abc", 1, ("a", "bc", "")),
            ("€a", 2, ("", "€", "a")),
        ] {
            assert_eq!(row(text, room), expected, "{text:?} {room}");
        }
    }

    #[test]
    fn no_character_is_cut_at_any_byte_of_it() {
        for character in ["é", "€", "😀", "\r\n"] {
            let text = character.repeat(12);
            for room in 0..text.len() {
                let (head, gap, tail) = row(&text, room);
                assert_eq!(format!("{head}{gap}{tail}"), text);
                assert!(head.len() <= room.div_ceil(2) && tail.len() <= room / 2, "{room}");
                if character != "\r\n" {
                    // What does not fit is less than a character.
                    let width = character.len();
                    assert_eq!(head.len(), room.div_ceil(2) / width * width, "{room}");
                    assert_eq!(tail.len(), room / 2 / width * width, "{room}");
                }
            }
        }
    }

    #[test]
    fn the_smallest_cap_that_takes_anything_takes_the_notice() {
        let stored = SpillRef {
            locator: SpillLocator::new("mem:1"),
            bytes: 4_000,
            retrieval_hint: "Ask for it.".into(),
        };
        let (text, notice) = ("ab\n".repeat(1_333) + "c", words::notice(4_000, 4_000, &stored));
        for cap in 0..notice.len() {
            assert!(matches!(
                shown(&text, &stored, cap),
                Err(GiveUp::TooLarge { needed, allowed }) if needed == notice.len() && allowed == cap
            ));
        }
        for cap in notice.len()..notice.len() + words::longest_elision(4_000) + BREAKS.len() {
            assert_eq!(shown(&text, &stored, cap).unwrap(), notice, "{cap}");
        }
        for cap in notice.len()..4_000 {
            assert!(shown(&text, &stored, cap).unwrap().len() <= cap, "{cap}");
        }
    }
}
