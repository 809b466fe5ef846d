//! Halves of characters in escapes.

/// The JSON text with each `\u` escape of a lone surrogate replaced by U+FFFD; pairs and everything else stay.
pub(crate) fn without_lone_surrogates(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let (taken, replaced) = match (unit(escape), unit(escape.get(6..).unwrap_or_default())) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => (12, false),
            (Some(0xD800..=0xDFFF), _) => (6, true),
            // The character after the backslash may be another backslash.
            _ => (1 + escape.chars().nth(1).map_or(0, char::len_utf8), false),
        };
        let (escape, after) = escape.split_at(taken);
        out.push_str(if replaced { "\u{fffd}" } else { escape });
        rest = after;
    }
    out.push_str(rest);
    out
}

/// The code unit of the `\u` escape at the start of `text`.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then_some(())?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::without_lone_surrogates;

    #[test]
    fn only_lone_halves_are_replaced() {
        for (text, expected) in [
            (r#""plain \n \u00e9""#, r#""plain \n \u00e9""#),
            (r"\ud83d\ude00", r"\ud83d\ude00"),
            (r"a\ud83db", "a\u{fffd}b"),
            (r"\ude00\ud83d", "\u{fffd}\u{fffd}"),
            (r"\ud83d\ud83d\ude00", "\u{fffd}\\ud83d\\ude00"),
            (r"\\ud83d", r"\\ud83d"),
            (r"\\\ud83d", "\\\\\u{fffd}"),
            (r"\ud83", r"\ud83"),
            ("\\é\\", "\\é\\"),
        ] {
            assert_eq!(without_lone_surrogates(text), expected, "{text}");
        }
    }
}
