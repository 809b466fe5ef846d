//! Why a text or a value was refused, and where.

use std::fmt;
use std::sync::{Arc, OnceLock};

use serde::de::{Expected, Unexpected};
use thiserror::Error;

use crate::path::{Segment, render};

/// A text or a value that is not lossless JSON, or does not have the expected shape.
///
/// `Display` says what is wrong, what was expected, and where.
#[derive(Clone)]
pub struct JsonError(Box<Inner>);

/// A place in a JSON text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Bytes before the place.
    pub offset: usize,
    /// Line, counted from 1.
    pub line: usize,
    /// Column in characters, counted from 1.
    pub column: usize,
}

#[derive(Clone)]
struct Inner {
    problem: Problem,
    position: Option<Position>,
    /// From the innermost container outwards, as errors travel.
    trail: Vec<Segment>,
    path: OnceLock<String>,
}

/// What is wrong, without the place.
#[derive(Clone, Debug, Error)]
pub(crate) enum Problem {
    #[error("expected {expected} but {found}")]
    Syntax { expected: &'static str, found: Found },
    #[error("nested deeper than {limit} levels: flatten the value, or raise `max_depth`")]
    TooDeep { limit: usize },
    #[error("the text has {bytes} bytes, over the limit of {limit}: shorten it, or raise `max_bytes`")]
    TooLong { bytes: usize, limit: usize },
    #[error("negative zero (`{0}`) is not accepted: write `0`")]
    NegativeZero(String),
    #[error("`{0}` is beyond the range of a 64-bit floating point number")]
    OutOfRange(String),
    #[error("integer `{0}` does not fit 64 bits: write it as a string, or as a float such as `1e30`")]
    BigInteger(String),
    #[error("`{0}` is not a JSON number: write `null` or a string")]
    NotFinite(&'static str),
    #[error("a `\\u` escape names only half of a surrogate pair: write both halves, or the character itself")]
    LoneSurrogate,
    #[error("{0}")]
    Type(String),
}

/// What stood where something else was expected.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Found {
    End,
    Char(char),
}

impl JsonError {
    /// A stable code: `JSON_SYNTAX`, `JSON_TOO_DEEP`, `JSON_TOO_LONG`, `JSON_NUMBER`, `JSON_STRING`, or
    /// `JSON_TYPE` (the value is JSON, but not of the Rust type asked for).
    pub fn code(&self) -> &'static str {
        match self.0.problem {
            Problem::Syntax { .. } => "JSON_SYNTAX",
            Problem::TooDeep { .. } => "JSON_TOO_DEEP",
            Problem::TooLong { .. } => "JSON_TOO_LONG",
            Problem::NegativeZero(_)
            | Problem::OutOfRange(_)
            | Problem::BigInteger(_)
            | Problem::NotFinite(_) => "JSON_NUMBER",
            Problem::LoneSurrogate => "JSON_STRING",
            Problem::Type(_) => "JSON_TYPE",
        }
    }

    /// Where in the text, when the error comes from one.
    pub fn position(&self) -> Option<Position> {
        self.0.position
    }

    /// Where in the value: `$` is the root, `$.a[3]` the fourth element of its property `a`.
    ///
    /// Keys that are not plain words are quoted (`$["two words"]`); long keys and the middle of very
    /// deep paths are elided with `…`, so the path has a bounded length.
    pub fn path(&self) -> &str {
        let trail = &self.0.trail;
        self.0.path.get_or_init(|| render(trail.len(), |at| trail[trail.len() - 1 - at].borrow()))
    }

    pub(crate) fn new(problem: Problem) -> Self {
        Self(Box::new(Inner { problem, position: None, trail: Vec::new(), path: OnceLock::new() }))
    }

    pub(crate) fn at(mut self, position: Position) -> Self {
        self.0.position = Some(position);
        self
    }

    /// The same error, seen from the array that holds the failed element.
    pub(crate) fn inside_index(mut self, index: usize) -> Self {
        self.0.trail.push(Segment::Index(index));
        self
    }

    /// The same error, seen from the object that holds the failed property.
    pub(crate) fn inside_key(mut self, key: &Arc<str>) -> Self {
        self.0.trail.push(Segment::Key(Arc::clone(key)));
        self
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.problem)?;
        match (self.0.position, self.0.trail.is_empty()) {
            (Some(position), true) => write!(f, " at {position}"),
            (Some(position), false) => write!(f, " at {position}, in {}", self.path()),
            (None, true) => Ok(()),
            (None, false) => write!(f, " at {}", self.path()),
        }
    }
}

impl fmt::Debug for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JsonError")
            .field("code", &self.code())
            .field("problem", &self.0.problem)
            .field("position", &self.0.position)
            .field("path", &self.path())
            .finish()
    }
}

impl std::error::Error for JsonError {}

impl serde::de::Error for JsonError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(Problem::Type(shortened(message.to_string())))
    }

    /// In JSON's words instead of Rust's.
    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let found = if found == Unexpected::Unit {
            Unexpected::Other("null")
        } else if found == Unexpected::Seq {
            Unexpected::Other("array")
        } else if found == Unexpected::Map {
            Unexpected::Other("object")
        } else {
            found
        };
        Self::custom(format_args!("invalid type: {found}, expected {expected}"))
    }
}

impl serde::ser::Error for JsonError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(Problem::Type(shortened(message.to_string())))
    }
}

/// Bytes kept of each end of a foreign message, which may quote a value of any length.
const KEPT: usize = 300;

fn shortened(message: String) -> String {
    if message.len() <= 2 * KEPT {
        return message;
    }
    let (start, end) = (message.floor_char_boundary(KEPT), message.ceil_char_boundary(message.len() - KEPT));
    format!("{}…{}", &message[..start], &message[end..])
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} column {} (byte {})", self.line, self.column, self.offset)
    }
}

impl Position {
    /// The position of a byte offset; an offset inside a character means the character.
    pub(crate) fn of(text: &str, offset: usize) -> Self {
        let before = &text[..text.floor_char_boundary(offset)];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self {
            offset: before.len(),
            line: before.bytes().filter(|byte| *byte == b'\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::End => f.write_str("the text ended"),
            Self::Char(c) if c.is_control() || c.is_whitespace() => {
                write!(f, "found U+{:04X}", u32::from(*c))
            }
            Self::Char(c) => write!(f, "found `{c}`"),
        }
    }
}
