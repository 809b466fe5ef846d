//! The value itself: an enum whose containers are shared.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{JsonError, Limits, Number, Object, Parsed, canonical, de, parse, ser, write};

/// An immutable JSON value.
///
/// Cloning is O(1) at every level. Dropping, comparing, printing and converting are safe at any depth that
/// an ingress admits (10,000 levels), on a small stack. `==` compares numbers by value (`1 == 1.0`) and
/// objects without regard to order.
#[derive(Clone, Default)]
pub enum Json {
    /// `null`
    #[default]
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number that is finite and not negative zero.
    Number(Number),
    /// Unicode text.
    String(Arc<str>),
    /// A list of values.
    Array(Arc<Array>),
    /// Properties in insertion order.
    Object(Arc<Object>),
}

/// The elements of a JSON array: an immutable list, read through `Deref<Target = [Json]>`.
#[derive(Clone, Default)]
pub struct Array {
    items: Vec<Json>,
    height: u32,
}

/// What sort of value a [`Json`] is; `Display` gives JSON's word for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// `null`
    Null,
    /// `boolean`
    Boolean,
    /// `number`
    Number,
    /// `string`
    String,
    /// `array`
    Array,
    /// `object`
    Object,
}

impl Json {
    /// Reads one JSON text within [`Limits::default`].
    ///
    /// A duplicate key keeps its last value at its first position; [`Json::parse_with`] reports it.
    ///
    /// # Errors
    /// Each carries position and path. `JSON_SYNTAX` for malformed or truncated text, `JSON_NUMBER` for
    /// `-0`, overflow and integers beyond 64 bits, `JSON_STRING` for a lone surrogate, `JSON_TOO_DEEP` and
    /// `JSON_TOO_LONG` beyond the limits. Refusing takes time linear in the length of the text.
    pub fn parse(text: &str) -> Result<Self, JsonError> {
        parse::parse(text, &Limits::default()).map(|parsed| parsed.value)
    }

    /// Reads one JSON text within the given limits, and reports duplicate keys.
    ///
    /// # Errors
    /// As [`Json::parse`].
    pub fn parse_with(text: &str, limits: &Limits) -> Result<Parsed, JsonError> {
        parse::parse(text, limits)
    }

    /// Converts a Rust value, in serde's externally tagged form for enums.
    ///
    /// `Json` values inside it are shared, not copied. Bytes become an array of numbers. Map keys may be
    /// strings, characters, integers, booleans and unit variants.
    ///
    /// # Errors
    /// `JSON_NUMBER` for NaN, infinities, `-0.0` and integers beyond 64 bits, `JSON_TOO_DEEP` beyond 10,000
    /// levels, `JSON_TYPE` for other map keys and for errors of the value's own `Serialize`; each with the path.
    pub fn from_serialize<T: Serialize + ?Sized>(value: &T) -> Result<Self, JsonError> {
        ser::to_json(value)
    }

    /// Converts a foreign JSON value that our own code made, such as a generated schema. Text from outside goes
    /// through [`Json::parse`], which sees what this one no longer can (integers beyond 64 bits).
    ///
    /// # Errors
    /// `JSON_NUMBER` for `-0.0`, `JSON_TOO_DEEP` beyond 10,000 levels; each with the path.
    pub fn from_serde_json(value: &serde_json::Value) -> Result<Self, JsonError> {
        ser::to_json(value)
    }

    /// Converts to a Rust type, as strictly as serde does, except that a float with an integral value is
    /// accepted where an integer is asked for: JSON has one number type.
    ///
    /// (Inside internally tagged, untagged and flattened types serde buffers values itself, and `1.0` stays a
    /// float there.)
    ///
    /// # Errors
    /// `JSON_TYPE` with the path of the part that does not fit; `JSON_TOO_DEEP` for a value deeper than
    /// 10,000 levels.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, JsonError> {
        de::read(self)
    }

    /// The sort of value.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Null => Kind::Null,
            Self::Bool(_) => Kind::Boolean,
            Self::Number(_) => Kind::Number,
            Self::String(_) => Kind::String,
            Self::Array(_) => Kind::Array,
            Self::Object(_) => Kind::Object,
        }
    }

    /// Levels of containers: 0 for a scalar, 1 for `[]` and `{"a": 1}`. Takes O(1).
    pub fn depth(&self) -> usize {
        self.height() as usize
    }

    /// Whether its text has more than so many bytes, escapes left out. Looks no further than it has to, so that it costs
    /// no more than `bytes` do.
    pub fn exceeds(&self, bytes: usize) -> bool {
        let (mut left, mut open) = (bytes, vec![self]);
        while let Some(json) = open.pop() {
            let (own, parts) = match json {
                Self::Null | Self::Bool(true) => (4, 0),
                Self::Bool(false) => (5, 0),
                Self::Number(number) => (number.to_string().len(), 0),
                Self::String(text) => (text.len() + 2, 0),
                // Brackets and commas; each part has a byte at least.
                Self::Array(array) => (array.len().max(1) + 1, array.len()),
                Self::Object(object) => (object.len().max(1) + 1, object.len()),
            };
            let Some(rest) = left.checked_sub(own).filter(|rest| *rest >= parts) else { return true };
            left = rest;
            match json {
                Self::Array(array) => open.extend(array.iter()),
                Self::Object(object) => {
                    let keys = object.iter().map(|(key, _)| key.len() + 3).sum();
                    let Some(rest) = left.checked_sub(keys) else { return true };
                    left = rest;
                    open.extend(object.iter().map(|(_, value)| value));
                }
                Self::Null | Self::Bool(_) | Self::Number(_) | Self::String(_) => {}
            }
        }
        false
    }

    /// Whether this is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The boolean, if it is one.
    pub fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(value) = self { Some(*value) } else { None }
    }

    /// The number, if it is one.
    pub fn as_number(&self) -> Option<&Number> {
        if let Self::Number(number) = self { Some(number) } else { None }
    }

    /// The number as `i64`, if it is integral (`1.0` is) and in range.
    pub fn as_i64(&self) -> Option<i64> {
        self.as_number()?.as_i64()
    }

    /// The number as `u64`, if it is integral (`1.0` is) and in range.
    pub fn as_u64(&self) -> Option<u64> {
        self.as_number()?.as_u64()
    }

    /// The number as the nearest `f64`, if this is a number.
    pub fn as_f64(&self) -> Option<f64> {
        Some(self.as_number()?.as_f64())
    }

    /// The text, if this is a string.
    pub fn as_str(&self) -> Option<&str> {
        if let Self::String(text) = self { Some(text) } else { None }
    }

    /// The elements, if this is an array.
    pub fn as_array(&self) -> Option<&[Self]> {
        if let Self::Array(array) = self { Some(array) } else { None }
    }

    /// The properties, if this is an object.
    pub fn as_object(&self) -> Option<&Object> {
        if let Self::Object(object) = self { Some(object) } else { None }
    }

    /// The property of that name, if this is an object that has it.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.as_object()?.get(key)
    }

    /// The element at that index, if this is an array that has it.
    pub fn at(&self, index: usize) -> Option<&Self> {
        self.as_array()?.get(index)
    }

    /// Compact text that parses back to the same value, numbers exact (`1.0` stays `1.0`).
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        self.write_text(&mut out);
        out
    }

    /// Appends [`Json::to_text`] to `out`.
    pub fn write_text(&self, out: &mut String) {
        write::compact(self, out);
    }

    /// Text for people, indented by two spaces. Beyond 32 levels the indentation stops growing, so that the
    /// text stays linear in the size of the value.
    pub fn to_pretty(&self) -> String {
        write::pretty(self)
    }

    /// Canonical text by RFC 8785: keys sorted by UTF-16 code units, ECMAScript numbers, minimal escapes.
    ///
    /// Equal values have equal canonical text. Integers that a double can't hold exactly lie outside the RFC;
    /// they are written with all their digits. The text is for comparing and digesting: a large float is
    /// written as ECMAScript does (`1e20` as an integer of 21 digits), which [`Json::parse`] would refuse.
    pub fn canonical(&self) -> String {
        canonical::canonical(self)
    }

    pub(crate) fn height(&self) -> u32 {
        match self {
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::String(_) => 0,
            Self::Array(array) => array.height,
            Self::Object(object) => object.height(),
        }
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        equal(self, other)
    }
}

impl Eq for Json {}

impl fmt::Display for Json {
    /// Writes [`Json::to_text`].
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_text())
    }
}

impl fmt::Debug for Json {
    /// Writes [`Json::to_text`], or [`Json::to_pretty`] for `{:#?}`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&if f.alternate() { self.to_pretty() } else { self.to_text() })
    }
}

impl Array {
    /// The elements as a list of their own; takes O(length), since the elements are shared.
    pub fn to_vec(&self) -> Vec<Json> {
        self.items.clone()
    }
}

impl From<Vec<Json>> for Array {
    fn from(items: Vec<Json>) -> Self {
        let tallest = items.iter().map(Json::height).max().unwrap_or(0);
        Self { items, height: tallest.saturating_add(1) }
    }
}

impl Deref for Array {
    type Target = [Json];

    fn deref(&self) -> &[Json] {
        &self.items
    }
}

impl PartialEq for Array {
    fn eq(&self, other: &Self) -> bool {
        let mut rest = Vec::new();
        array_step(self, other, &mut rest) && drain(rest)
    }
}

impl Eq for Array {}

impl fmt::Debug for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", Json::from(self.clone()))
    }
}

impl Drop for Array {
    fn drop(&mut self) {
        if self.height > SHALLOW {
            dismantle(std::mem::take(&mut self.items));
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::Number => "number",
            Self::String => "string",
            Self::Array => "array",
            Self::Object => "object",
        })
    }
}

/// Values up to this height are dropped by plain recursion.
pub(crate) const SHALLOW: u32 = 32;

/// Drops values of any depth without recursion.
pub(crate) fn dismantle(mut rest: Vec<Json>) {
    while let Some(value) = rest.pop() {
        match value {
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
            Json::Array(array) => {
                if let Some(mut array) = Arc::into_inner(array) {
                    rest.extend(array.items.drain(..).filter(|item| item.height() >= SHALLOW));
                }
            }
            Json::Object(object) => {
                if let Some(mut object) = Arc::into_inner(object) {
                    rest.extend(object.take_values().filter(|item| item.height() >= SHALLOW));
                }
            }
        }
    }
}

type Pairs<'a> = Vec<(&'a Json, &'a Json)>;

fn equal(a: &Json, b: &Json) -> bool {
    let mut rest = Vec::new();
    step(a, b, &mut rest) && drain(rest)
}

fn drain(mut rest: Pairs<'_>) -> bool {
    while let Some((a, b)) = rest.pop() {
        let same = match (a, b) {
            (Json::Array(a), Json::Array(b)) => array_step(a, b, &mut rest),
            (Json::Object(a), Json::Object(b)) => object_step(a, b, &mut rest),
            (a, b) => step(a, b, &mut rest),
        };
        if !same {
            return false;
        }
    }
    true
}

/// Compares scalars at once, and puts off pairs of containers.
fn step<'a>(a: &'a Json, b: &'a Json, rest: &mut Pairs<'a>) -> bool {
    match (a, b) {
        (Json::Null, Json::Null) => true,
        (Json::Bool(a), Json::Bool(b)) => a == b,
        (Json::Number(a), Json::Number(b)) => a == b,
        (Json::String(a), Json::String(b)) => a == b,
        (Json::Array(x), Json::Array(y)) => {
            if !Arc::ptr_eq(x, y) {
                rest.push((a, b));
            }
            true
        }
        (Json::Object(x), Json::Object(y)) => {
            if !Arc::ptr_eq(x, y) {
                rest.push((a, b));
            }
            true
        }
        (
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_) | Json::Object(_),
            _,
        ) => false,
    }
}

fn array_step<'a>(a: &'a Array, b: &'a Array, rest: &mut Pairs<'a>) -> bool {
    a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| step(a, b, rest))
}

fn object_step<'a>(a: &'a Object, b: &'a Object, rest: &mut Pairs<'a>) -> bool {
    a.len() == b.len()
        && a.iter().zip(b.iter()).all(|((key, value), (likely, candidate))| {
            // Equal objects mostly have equal order.
            if key == likely {
                return step(value, candidate, rest);
            }
            b.get(key).is_some_and(|other| step(value, other, rest))
        })
}

/// Compares two objects, for `Object`'s own `==`.
pub(crate) fn equal_objects(a: &Object, b: &Object) -> bool {
    let mut rest = Vec::new();
    object_step(a, b, &mut rest) && drain(rest)
}
