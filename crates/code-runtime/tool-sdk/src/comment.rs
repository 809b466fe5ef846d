//! Descriptions on one line, so that they can stand in a comment of any language.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::text::every;

/// A description on one line (spec 05 §§2.6, 3.4, 4.7): each run of whitespace is a space, none at the ends, and what can't be
/// seen but steers a terminal or the order of what is seen is written out.
///
/// At most `limit` characters are shown, and then that there were more.
pub(crate) fn one_line(description: &str, limit: usize) -> Cow<'_, str> {
    if description.len() <= limit && is_one_line(description) {
        return description.into();
    }
    let mut line = String::with_capacity(description.len().min(limit.saturating_mul(4)));
    let (mut shown, mut gap) = (0_usize, false);
    for c in description.chars() {
        if is_whitespace(c) {
            gap = shown > 0;
            continue;
        }
        if shown + usize::from(gap) >= limit {
            // Writing into a `String` can't fail.
            let _ = write!(line, "… [description cut at {limit} characters]");
            return line.into();
        }
        if gap {
            line.push(' ');
        }
        shown += 1 + usize::from(gap);
        gap = false;
        push_visible(&mut line, c);
    }
    line.into()
}

/// Whether a text is the line that it would become; most are.
fn is_one_line(text: &str) -> bool {
    every(text.as_bytes(), |byte| matches!(byte, b' '..=b'~'))
        && !text.starts_with(' ')
        && !text.ends_with(' ')
        && !text.contains("  ")
}

/// ECMAScript's whitespace: unlike `char::is_whitespace`, without U+0085 and with U+FEFF.
fn is_whitespace(c: char) -> bool {
    matches!(
        c,
        '\t'..='\r' | ' ' | '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{2028}' | '\u{2029}' | '\u{202f}'
            | '\u{205f}' | '\u{3000}' | '\u{feff}'
    )
}

fn push_visible(line: &mut String, c: char) {
    // Writing into a `String` can't fail.
    let _ = match c {
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' => write!(line, "\\x{:02x}", u32::from(c)),
        // Embeddings, overrides and isolates of text direction.
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => write!(line, "\\u{:04x}", u32::from(c)),
        c => {
            line.push(c);
            Ok(())
        }
    };
}

#[cfg(test)]
mod tests {
    use super::one_line;

    #[test]
    fn a_description_is_one_line() {
        let rows = [
            ("", ""),
            (" \t\r\n ", ""),
            ("a\rb\r\nc\u{2028}d\u{2029}e", "a b c d e"),
            ("\u{feff}a\u{a0}\u{3000}b\u{200b}", "a b\u{200b}"),
            ("a\u{85}b\u{180e}", "a\\x85b\u{180e}"),
            ("\0\u{1b}[2J\u{7f}\u{9b}", "\\x00\\x1b[2J\\x7f\\x9b"),
            ("a\u{202e}b\u{2066}c\u{200f}\u{5d0}", "a\\u202eb\\u2066c\u{200f}\u{5d0}"),
            ("😀 é */ \"\"\" \\", "😀 é */ \"\"\" \\"),
        ];
        for (description, expected) in rows {
            assert_eq!(one_line(description, 100), expected, "{description:?}");
        }
    }

    #[test]
    fn what_is_cut_off_is_said() {
        assert_eq!(one_line("ab cd  ", 5), "ab cd");
        assert_eq!(one_line("ab cde", 5), "ab cd… [description cut at 5 characters]");
        assert_eq!(one_line("ab c", 3), "ab… [description cut at 3 characters]");
        assert_eq!(one_line("éé", 0), "… [description cut at 0 characters]");
        let long = "x ".repeat(1 << 19);
        assert_eq!(one_line(&long, 16_384).len(), 16_383 + "… [description cut at 16384 characters]".len());
    }
}
