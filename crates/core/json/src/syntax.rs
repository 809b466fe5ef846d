//! What a malformed text should have had, in words.

use jiter::JsonErrorType;

use crate::error::{Found, Problem};

/// Where the parser stopped.
#[derive(Clone, Copy)]
pub(crate) struct Stop<'t> {
    /// The text up to there, from the end of the last finished value when the parser was between two
    /// children of a container.
    pub(crate) before: &'t str,
    /// The text from there.
    pub(crate) after: &'t str,
    /// Whether the parser was between two children of a container.
    pub(crate) between: bool,
}

pub(crate) fn problem(kind: &JsonErrorType, stop: Stop<'_>) -> Problem {
    use JsonErrorType as Kind;
    let last = stop.before.trim_end().chars().next_back();
    let expected = match kind {
        Kind::LoneLeadingSurrogateInHexEscape | Kind::UnexpectedEndOfHexEscape => {
            return Problem::LoneSurrogate;
        }
        Kind::ExpectedSomeValue if stop.after.starts_with("NaN") => return Problem::NotFinite("NaN"),
        Kind::ExpectedSomeValue if stop.after.starts_with("Infinity") => {
            return Problem::NotFinite("Infinity");
        }
        Kind::InvalidNumber if stop.after.starts_with("Infinity") => return Problem::NotFinite("-Infinity"),
        Kind::EofWhileParsingList if last == Some('[') => "a value or `]`",
        Kind::EofWhileParsingList | Kind::ExpectedListCommaOrEnd => "`,` or `]`",
        Kind::EofWhileParsingObject if last == Some('{') => "a key in double quotes or `}`",
        Kind::EofWhileParsingObject if stop.between && last.is_none() => "`,` or `}`",
        Kind::EofWhileParsingObject | Kind::ExpectedColon => "`:`",
        Kind::ExpectedObjectCommaOrEnd => "`,` or `}`",
        Kind::EofWhileParsingString => "a closing `\"`",
        Kind::EofWhileParsingValue if stop.between && last == Some(',') => "the next value or key",
        Kind::EofWhileParsingValue => match last {
            Some('0'..='9' | '.' | '-' | '+' | 'e' | 'E') => "a digit",
            Some('a'..='z') => "`true`, `false` or `null`",
            Some(_) | None => "a value",
        },
        Kind::ExpectedSomeIdent => "`true`, `false` or `null`",
        Kind::InvalidNumber if stop.after.starts_with(|c: char| c.is_ascii_digit()) => {
            "no digit after a leading `0`"
        }
        Kind::InvalidNumber => "a digit",
        Kind::InvalidEscape => r#"a valid escape such as `\n`, `\"` or `\u00e9`"#,
        Kind::ControlCharacterWhileParsingString => r"an escape such as `\n` for a control character",
        Kind::KeyMustBeAString => "a key in double quotes",
        Kind::TrailingComma => "another value after the comma",
        Kind::TrailingCharacters => "the end of the text",
        Kind::ExpectedSomeValue
        | Kind::NumberOutOfRange
        | Kind::InvalidUnicodeCodePoint
        | Kind::FloatExpectingInt
        | Kind::DuplicateKey(_)
        | Kind::InternalError(_)
        | Kind::RecursionLimitExceeded => "a value",
    };
    Problem::Syntax { expected, found: stop.after.chars().next().map_or(Found::End, Found::Char) }
}
