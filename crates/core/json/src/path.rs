//! Paths such as `$.a[3]`, rendered with a bounded length.

use std::fmt::Write as _;
use std::sync::Arc;

use crate::write::write_string;

/// One step from a container to its child.
#[derive(Clone, Debug)]
pub(crate) enum Segment {
    Key(Arc<str>),
    Index(usize),
}

/// A borrowed [`Segment`].
#[derive(Clone, Copy)]
pub(crate) enum SegmentRef<'a> {
    Key(&'a str),
    Index(usize),
}

/// Segments shown at each end of a long path.
const SHOWN: usize = 16;
/// Characters shown of a long key.
const KEY_CHARS: usize = 64;

/// Renders `count` segments, counted from the root.
pub(crate) fn render<'a>(count: usize, segment: impl Fn(usize) -> SegmentRef<'a>) -> String {
    let mut out = String::from("$");
    for at in 0..count.min(SHOWN) {
        push(&mut out, segment(at));
    }
    if count > 2 * SHOWN {
        out.push('…');
    }
    for at in SHOWN.max(count.saturating_sub(SHOWN))..count {
        push(&mut out, segment(at));
    }
    out
}

impl Segment {
    pub(crate) fn borrow(&self) -> SegmentRef<'_> {
        match self {
            Self::Key(key) => SegmentRef::Key(key),
            Self::Index(index) => SegmentRef::Index(*index),
        }
    }
}

fn push(out: &mut String, segment: SegmentRef<'_>) {
    match segment {
        SegmentRef::Index(index) => {
            // Writing into a `String` can't fail.
            let _ = write!(out, "[{index}]");
        }
        SegmentRef::Key(key) if is_word(key) => {
            out.push('.');
            out.push_str(key);
        }
        SegmentRef::Key(key) => {
            out.push('[');
            match key.char_indices().nth(KEY_CHARS) {
                None => write_string(key, out),
                Some((end, _)) => write_string(&format!("{}…", &key[..end]), out),
            }
            out.push(']');
        }
    }
}

fn is_word(key: &str) -> bool {
    let mut bytes = key.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || matches!(first, b'_' | b'$'))
        && key.len() <= KEY_CHARS
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'-'))
}

#[cfg(test)]
#[expect(clippy::items_after_statements, reason = "rows first, then the check that they share")]
mod tests {
    use super::{SegmentRef, render};

    #[test]
    fn keys_that_are_not_words_are_quoted() {
        check("a-b_1", "$.a-b_1");
        check("", r#"$[""]"#);
        check("two words", r#"$["two words"]"#);
        check("1", r#"$["1"]"#);
        check("é\"\n", r#"$["é\"\n"]"#);
        check(&"é".repeat(65), &format!("$[\"{}…\"]", "é".repeat(64)));

        fn check(key: &str, expected: &str) {
            assert_eq!(render(1, |_| SegmentRef::Key(key)), expected);
        }
    }

    #[test]
    fn the_middle_of_a_long_path_is_elided() {
        let path = |count| render(count, SegmentRef::Index);
        let all =
            |range: std::ops::Range<usize>| range.map(|n| format!("[{n}]")).collect::<Vec<_>>().concat();
        assert_eq!(path(0), "$");
        assert_eq!(path(17), format!("${}", all(0..17)));
        assert_eq!(path(32), format!("${}", all(0..32)));
        assert_eq!(path(33), format!("${}…{}", all(0..16), all(17..33)));
    }
}
