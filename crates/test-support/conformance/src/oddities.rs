//! What a JSON text has that our reader refuses and JavaScript's takes, found without our reader.

/// The findings in one text.
#[expect(clippy::struct_excessive_bools, reason = "a text may have any of them, whatever else it has")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Oddities {
    /// An escaped half of a surrogate pair without the other half.
    pub(crate) lone_surrogate: bool,
    /// A finite integer that 64 bits don't hold.
    pub(crate) beyond_64_bits: bool,
    /// An integer that 64 bits hold and a double does not.
    pub(crate) beyond_double: bool,
    /// A number that a double holds as `-0` or not at all.
    pub(crate) lossy_float: bool,
    /// The levels of arrays and objects.
    pub(crate) depth: usize,
}

/// Looks at a text that is JSON; of any other, the findings mean nothing.
pub(crate) fn oddities(text: &str) -> Oddities {
    let (mut found, mut depth) = (Oddities::default(), 0_usize);
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => {
                let length = string_length(rest);
                found.lone_surrogate |= rest.get(..length).is_some_and(has_lone_surrogate);
                length
            }
            '-' | '0'..='9' => {
                let number = number_at(rest);
                note_number(number, &mut found);
                number.len()
            }
            '[' | '{' => {
                depth += 1;
                found.depth = found.depth.max(depth);
                1
            }
            ']' | '}' => {
                depth = depth.saturating_sub(1);
                1
            }
            other => other.len_utf8(),
        };
        rest = rest.get(length..).unwrap_or_default();
    }
    found
}

/// The number that a text begins with.
pub(crate) fn number_at(text: &str) -> &str {
    let end =
        text.find(|c: char| !matches!(c, '-' | '+' | '.' | 'e' | 'E' | '0'..='9')).unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

/// Whether a number is written as an integer, and a double can hold about as much.
pub(crate) fn is_finite_integer(number: &str) -> bool {
    !number.contains(['.', 'e', 'E']) && number != "-0" && number.parse::<f64>().is_ok_and(f64::is_finite)
}

pub(crate) fn note_number(number: &str, found: &mut Oddities) {
    if !is_finite_integer(number) {
        found.lossy_float |= number
            .parse::<f64>()
            .is_ok_and(|double| !double.is_finite() || double == 0.0 && double.is_sign_negative());
        return;
    }
    let Ok(value) = number.parse::<i128>() else {
        found.beyond_64_bits = true;
        return;
    };
    let fits = i64::try_from(value).is_ok() || u64::try_from(value).is_ok();
    found.beyond_64_bits |= !fits;
    found.beyond_double |= fits && number.parse::<f64>().is_ok_and(|double| format!("{double:.0}") != number);
}

/// The length of the string literal that a text begins with, quotes included.
pub(crate) fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

fn has_lone_surrogate(literal: &str) -> bool {
    let mut high = false;
    let mut rest = literal;
    while !rest.is_empty() {
        let unit = rest
            .strip_prefix("\\u")
            .and_then(|digits| u16::from_str_radix(digits.get(..4)?, 16).ok())
            .filter(|unit| (0xD800..0xE000).contains(unit));
        let (is_high, is_low) =
            (unit.is_some_and(|unit| unit < 0xDC00), unit.is_some_and(|unit| unit >= 0xDC00));
        if high != is_low {
            return true;
        }
        high = is_high;
        let length = match rest.as_bytes() {
            [b'\\', b'u', ..] => 6,
            [b'\\', ..] => 2,
            _ => rest.chars().next().map_or(1, char::len_utf8),
        };
        rest = rest.get(length..).unwrap_or_default();
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_our_reader_refuses_is_found() {
        let none = Oddities::default();
        let rows = [
            (r#""a\ud83d\ude00\\ud83d""#, none),
            (r#"{"\ud83d": 1}"#, Oddities { lone_surrogate: true, depth: 1, ..none }),
            (r#""\ude00\ud83d""#, Oddities { lone_surrogate: true, ..none }),
            (r#""\ud83d\ud83d\ude00""#, Oddities { lone_surrogate: true, ..none }),
            ("18446744073709551615", Oddities { beyond_double: true, ..none }),
            ("18446744073709551616", Oddities { beyond_64_bits: true, ..none }),
            ("-9223372036854775808", none),
            ("[-9223372036854775809]", Oddities { beyond_64_bits: true, depth: 1, ..none }),
            ("9007199254740993", Oddities { beyond_double: true, ..none }),
            (
                r#"["12345678901234567890123", 1e400, -0, 0.5]"#,
                Oddities { depth: 1, lossy_float: true, ..none },
            ),
            ("[-0.5, -0.0]", Oddities { depth: 1, lossy_float: true, ..none }),
            ("[-1e-400]", Oddities { depth: 1, lossy_float: true, ..none }),
            ("[[],{\"a\":[[]]},\"[[[[[[\"]", Oddities { depth: 4, ..none }),
        ];
        for (text, expected) in rows {
            assert_eq!(oddities(text), expected, "{text}");
        }
        let whole_digits = format!("[{}]", "9".repeat(400));
        assert_eq!(
            oddities(&whole_digits),
            Oddities { depth: 1, lossy_float: true, ..none },
            "JavaScript reads it as infinite"
        );
    }
}
