//! Text to value: an iterative reader over a pull parser.
//!
//! The pull parser knows the grammar; the reader owns the containers that are still open, so that neither
//! deep text nor a late error recurses.

use std::sync::Arc;

use jiter::{Jiter, JiterError, JiterErrorType, JsonErrorType, NumberAny, NumberInt, Peek};

use crate::error::{Position, Problem};
use crate::path::{SegmentRef, render};
use crate::syntax::{self, Stop};
use crate::{Array, Json, JsonError, Number, Object};

/// Bounds on a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Levels of arrays and objects; beyond is `JSON_TOO_DEEP`.
    pub max_depth: usize,
    /// Length of the text; beyond is `JSON_TOO_LONG`.
    pub max_bytes: usize,
}

/// A value, and what its text said that the value does not show.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The value.
    pub value: Json,
    /// Paths of keys that stood more than once in their object, in text order; at most 64 of them.
    pub duplicate_keys: Vec<String>,
}

/// Duplicate keys that are reported.
const REPORTED: usize = 64;
/// Characters of a refused number that are quoted.
const QUOTED: usize = 40;

impl Default for Limits {
    /// 10,000 levels and 256 MiB.
    fn default() -> Self {
        Self { max_depth: 10_000, max_bytes: 256 << 20 }
    }
}

pub(crate) fn parse(text: &str, limits: &Limits) -> Result<Parsed, JsonError> {
    if text.len() > limits.max_bytes {
        return Err(JsonError::new(Problem::TooLong { bytes: text.len(), limit: limits.max_bytes }));
    }
    let mut reader = Reader {
        text,
        tokens: Jiter::new(text.as_bytes()),
        open: Vec::new(),
        max_depth: limits.max_depth,
        value_end: 0,
        duplicates: Vec::new(),
    };
    match reader.read() {
        Ok(value) => Ok(Parsed { value, duplicate_keys: reader.duplicates }),
        Err(fault) => Err(reader.describe(fault)),
    }
}

struct Reader<'t> {
    text: &'t str,
    tokens: Jiter<'t>,
    open: Vec<Open>,
    max_depth: usize,
    /// Where the last finished value ended.
    value_end: usize,
    duplicates: Vec<String>,
}

/// A container whose end has not been read.
enum Open {
    Array(Vec<Json>),
    /// The properties before the one that is being read, and that one's key.
    Object(Object, Arc<str>),
}

/// A refusal before it is described: describing costs a walk over the text, once.
enum Fault {
    /// The value being read is bad.
    Value(Problem, usize),
    /// The token that is bad.
    Token(JiterError),
    /// The token between two children is bad, so the innermost container is to blame, not its child.
    Between(JiterError),
}

impl From<JiterError> for Fault {
    fn from(error: JiterError) -> Self {
        Self::Token(error)
    }
}

impl Reader<'_> {
    fn read(&mut self) -> Result<Json, Fault> {
        let mut next = self.tokens.peek()?;
        loop {
            let Some(value) = self.scalar_or_open(&mut next)? else { continue };
            if let Some(root) = self.close(value, &mut next)? {
                self.tokens.finish()?;
                return Ok(root);
            }
        }
    }

    /// A scalar or an empty container; `None` when a container was opened and `next` is its first child.
    fn scalar_or_open(&mut self, next: &mut Peek) -> Result<Option<Json>, Fault> {
        let value = match *next {
            Peek::String => Json::String(self.tokens.known_str()?.into()),
            Peek::Null => {
                self.tokens.known_null()?;
                Json::Null
            }
            Peek::True | Peek::False => Json::Bool(self.tokens.known_bool(*next)?),
            Peek::Array => {
                self.check_depth()?;
                if let Some(first) = self.tokens.known_array()? {
                    self.open.push(Open::Array(Vec::new()));
                    *next = first;
                    return Ok(None);
                }
                Json::from(Array::from(Vec::new()))
            }
            Peek::Object => {
                self.check_depth()?;
                if let Some(key) = self.tokens.known_object()? {
                    let key = key.into();
                    self.open.push(Open::Object(Object::new(), key));
                    *next = self.tokens.peek()?;
                    return Ok(None);
                }
                Json::from(Object::new())
            }
            first => Json::Number(self.number(first)?),
        };
        Ok(Some(value))
    }

    /// Puts a finished value into its container, and finishes containers that end after it.
    ///
    /// Returns the root, or `None` when `next` is the next value to read.
    fn close(&mut self, mut value: Json, next: &mut Peek) -> Result<Option<Json>, Fault> {
        loop {
            self.value_end = self.tokens.current_index();
            match self.open.last_mut() {
                None => return Ok(Some(value)),
                Some(Open::Array(items)) => {
                    items.push(value);
                    if let Some(peek) = self.tokens.array_step().map_err(Fault::Between)? {
                        *next = peek;
                        return Ok(None);
                    }
                }
                Some(Open::Object(object, key)) => {
                    if object.insert(Arc::clone(key), value).is_some() {
                        self.report_duplicate();
                    }
                    let following = self.tokens.next_key().map_err(Fault::Between)?.map(Arc::from);
                    if let (Some(following), Some(Open::Object(_, key))) = (following, self.open.last_mut()) {
                        *key = following;
                        *next = self.tokens.peek()?;
                        return Ok(None);
                    }
                }
            }
            value = match self.open.pop() {
                Some(Open::Array(items)) => Array::from(items).into(),
                Some(Open::Object(object, _)) => object.into(),
                None => Json::Null,
            };
        }
    }

    fn check_depth(&self) -> Result<(), Fault> {
        if self.open.len() < self.max_depth {
            return Ok(());
        }
        Err(Fault::Value(Problem::TooDeep { limit: self.max_depth }, self.tokens.current_index()))
    }

    fn number(&mut self, first: Peek) -> Result<Number, Fault> {
        let start = self.tokens.current_index();
        let number = self.tokens.known_number(first).map_err(|error| {
            // The parser gives up on thousands of digits.
            if error.error_type == JiterErrorType::JsonError(JsonErrorType::NumberOutOfRange) {
                return Fault::Value(Problem::BigInteger(quote(&self.text[start..])), start);
            }
            Fault::Token(error)
        })?;
        let text = &self.text[start..self.tokens.current_index()];
        let refused = |problem: fn(String) -> Problem| Fault::Value(problem(quote(text)), start);
        match number {
            // The parser drops the sign of an integer zero.
            NumberAny::Int(NumberInt::Int(0)) if first == Peek::Minus => Err(refused(Problem::NegativeZero)),
            NumberAny::Int(NumberInt::Int(value)) => Ok(value.into()),
            NumberAny::Int(NumberInt::BigInt(_)) => {
                text.parse::<u64>().map(Number::from).map_err(|_beyond| refused(Problem::BigInteger))
            }
            NumberAny::Float(value) if value.is_infinite() => Err(refused(Problem::OutOfRange)),
            NumberAny::Float(value) => {
                Number::from_f64(value).map_err(|_zero| refused(Problem::NegativeZero))
            }
        }
    }

    fn report_duplicate(&mut self) {
        if self.duplicates.len() < REPORTED {
            self.duplicates.push(render(self.open.len(), |at| self.open[at].segment()));
        }
    }

    fn describe(&self, fault: Fault) -> JsonError {
        let blamed = match fault {
            Fault::Between(_) => self.open.len().saturating_sub(1),
            Fault::Value(..) | Fault::Token(_) => self.open.len(),
        };
        let between = matches!(fault, Fault::Between(_));
        let (problem, offset) = match fault {
            Fault::Value(problem, offset) => (problem, offset),
            Fault::Token(error) | Fault::Between(error) => {
                let offset = self.text.floor_char_boundary(error.index);
                let from = if between { self.value_end } else { 0 };
                let (before, after) = (&self.text[from.min(offset)..offset], &self.text[offset..]);
                (translate(&error, Stop { before, after, between }), offset)
            }
        };
        let error = JsonError::new(problem).at(Position::of(self.text, offset));
        self.open[..blamed].iter().rev().fold(error, |error, open| match open {
            Open::Array(items) => error.inside_index(items.len()),
            Open::Object(_, key) => error.inside_key(key),
        })
    }
}

fn translate(error: &JiterError, stop: Stop<'_>) -> Problem {
    match &error.error_type {
        JiterErrorType::JsonError(kind) => syntax::problem(kind, stop),
        // Only typed reads have this one, and the reader peeks first.
        JiterErrorType::WrongType { .. } => syntax::problem(&JsonErrorType::ExpectedSomeValue, stop),
    }
}

impl Open {
    fn segment(&self) -> SegmentRef<'_> {
        match self {
            Self::Array(items) => SegmentRef::Index(items.len()),
            Self::Object(_, key) => SegmentRef::Key(key),
        }
    }
}

fn quote(number: &str) -> String {
    match number.get(..QUOTED) {
        Some(start) if number.len() > QUOTED => format!("{start}…"),
        Some(_) | None => number.to_owned(),
    }
}
