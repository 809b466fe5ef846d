//! Head and tail of a stream of bytes.

use std::collections::VecDeque;

use crate::utf8::{whole_end, whole_start};

/// How many bytes are kept of the beginning of a stream and of its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Budget {
    /// From the beginning on.
    pub head: usize,
    /// Up to the end, of what the head does not have.
    pub tail: usize,
}

/// Keeps head and tail of a stream, in chunks of any size.
#[derive(Debug)]
pub struct TextRetainer {
    budget: Budget,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
}

/// What was kept of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptText {
    /// The beginning: the whole text, where nothing was omitted. It ends with a whole character, and bytes that are no UTF-8
    /// are replaced by U+FFFD.
    pub head: String,
    /// The end. No character is put together across the gap.
    pub tail: String,
    /// The bytes in between, with those of characters that were cut; 0 where there is no gap.
    pub omitted: u64,
    /// All bytes of the stream.
    pub total: u64,
}

impl TextRetainer {
    /// A retainer that has seen nothing.
    pub fn new(budget: Budget) -> Self {
        Self { budget, head: Vec::new(), tail: VecDeque::new(), total: 0 }
    }

    /// Takes more of the stream; whether the budget had room for all of it.
    pub fn push(&mut self, chunk: &[u8]) -> bool {
        let before = self.omitted();
        self.total += chunk.len() as u64;
        let (head, rest) = chunk.split_at(chunk.len().min(self.budget.head - self.head.len()));
        self.head.extend_from_slice(head);
        // Of a chunk that is larger than the tail, its own tail is all that matters.
        let rest = rest.get(rest.len().saturating_sub(self.budget.tail)..).unwrap_or_default();
        let over = (self.tail.len() + rest.len()).saturating_sub(self.budget.tail);
        self.tail.drain(..over);
        self.tail.extend(rest);
        self.omitted() == before
    }

    /// Whether something was let go so far.
    pub fn is_truncated(&self) -> bool {
        self.omitted() > 0
    }

    fn omitted(&self) -> u64 {
        self.total - (self.head.len() + self.tail.len()) as u64
    }

    /// What was kept.
    pub fn finish(self) -> KeptText {
        let truncated = self.is_truncated();
        let Self { mut head, mut tail, total, .. } = self;
        let tail = tail.make_contiguous();
        if !truncated {
            // The two sides touch: a character may lie on both.
            head.extend_from_slice(tail);
            return KeptText { head: text(&head), tail: String::new(), omitted: 0, total };
        }
        head.truncate(whole_end(&head));
        let tail = tail.get(whole_start(tail)..).unwrap_or_default();
        let omitted = total - (head.len() + tail.len()) as u64;
        KeptText { head: text(&head), tail: text(tail), omitted, total }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn kept(text: &[u8], head: usize, tail: usize) -> (String, String, u64) {
        let mut retainer = TextRetainer::new(Budget { head, tail });
        retainer.push(text);
        let kept = retainer.finish();
        assert_eq!(kept.total, text.len() as u64);
        (kept.head, kept.tail, kept.omitted)
    }

    fn row(head: &str, tail: &str, omitted: u64) -> (String, String, u64) {
        (head.to_owned(), tail.to_owned(), omitted)
    }

    #[test]
    fn heads_tails_and_both() {
        for (bytes, head, tail, expected) in [
            ("abcdef", 6, 0, row("abcdef", "", 0)),
            ("abcdef", 4, 0, row("abcd", "", 2)),
            ("abcdef", 0, 2, row("", "ef", 4)),
            ("abcdef", 0, 9, row("abcdef", "", 0)),
            ("abcdef", 2, 2, row("ab", "ef", 2)),
            ("abcdef", 3, 3, row("abcdef", "", 0)),
            ("abcdef", 5, 5, row("abcdef", "", 0)),
            ("abcdef", 0, 0, row("", "", 6)),
            ("", 0, 0, row("", "", 0)),
            // A character on both sides, where they touch.
            ("éab", 1, 3, row("éab", "", 0)),
            // And where they don't.
            ("a€€b", 2, 2, row("a", "b", 6)),
            ("€€€", 2, 2, row("", "", 9)),
            ("aé", 2, 0, row("a", "", 2)),
            ("aé", 3, 0, row("aé", "", 0)),
            ("a€b", 3, 0, row("a", "", 4)),
            ("a€b", 4, 0, row("a€", "", 1)),
            ("a😀b", 4, 0, row("a", "", 5)),
            ("a😀b", 5, 0, row("a😀", "", 1)),
            ("a😀b", 0, 4, row("", "b", 5)),
        ] {
            assert_eq!(kept(bytes.as_bytes(), head, tail), expected, "{bytes} {head} {tail}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_left_alone() {
        assert_eq!(kept(b"a\x80\x80\x80\x80bc", 5, 1), row("a\u{fffd}\u{fffd}\u{fffd}\u{fffd}", "c", 1));
        assert_eq!(kept(b"ab\xffcd", 3, 1), row("ab\u{fffd}", "d", 1));
        assert_eq!(kept(b"\xc3", 1, 0), row("\u{fffd}", "", 0));
    }

    #[test]
    fn a_chunk_is_kept_when_the_budget_has_room_for_all_of_it() {
        let mut retainer = TextRetainer::new(Budget { head: 4, tail: 0 });
        assert!(retainer.push(b"ab"));
        assert!(!retainer.push(b"cde"));
        assert!(retainer.is_truncated() && !retainer.push(b"f"));
        assert_eq!(
            retainer.finish(),
            KeptText { head: "abcd".into(), tail: String::new(), omitted: 2, total: 6 }
        );
    }

    proptest! {
        #[test]
        fn chunks_make_no_difference_and_counts_are_exact(
            text in "[a-zé€😀\n]{0,60}", head in 0_usize..40, tail in 0_usize..40, cut in 1_usize..9,
        ) {
            let mut retainer = TextRetainer::new(Budget { head, tail });
            for chunk in text.as_bytes().chunks(cut) {
                retainer.push(chunk);
            }
            let inner = retainer.finish();
            prop_assert_eq!((inner.head.clone(), inner.tail.clone(), inner.omitted), kept(text.as_bytes(), head, tail));
            prop_assert!(text.starts_with(&inner.head) && text.ends_with(&inner.tail));
            prop_assert_eq!(inner.omitted, (text.len() - inner.head.len() - inner.tail.len()) as u64);
            prop_assert!(inner.omitted == 0 || inner.head.len() <= head && inner.tail.len() <= tail);
        }
    }
}
