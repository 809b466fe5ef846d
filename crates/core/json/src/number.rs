//! Numbers: 64-bit integers kept exactly, and finite doubles.

use std::fmt;
use std::hash::{Hash, Hasher};

use crate::JsonError;
use crate::error::Problem;

/// A JSON number: an `i64`, a `u64`, or a finite `f64` that is not negative zero.
///
/// Equality is mathematical and exact: `1 == 1.0`, and 2⁵³ + 1 differs from the double 2⁵³.
#[derive(Clone, Copy)]
pub struct Number(Repr);

#[derive(Clone, Copy)]
pub(crate) enum Repr {
    Int(i64),
    /// Above `i64::MAX`.
    Unsigned(u64),
    Float(f64),
}

impl Number {
    /// Takes a double, and keeps it a float (`1.0` prints as `1.0`).
    ///
    /// # Errors
    /// `JSON_NUMBER` for NaN, the infinities and negative zero.
    pub fn from_f64(value: f64) -> Result<Self, JsonError> {
        let problem = if value.is_nan() {
            Problem::NotFinite("NaN")
        } else if value.is_infinite() {
            Problem::NotFinite(if value > 0.0 { "Infinity" } else { "-Infinity" })
        } else if value == 0.0 && value.is_sign_negative() {
            Problem::NegativeZero("-0.0".to_owned())
        } else {
            return Ok(Self(Repr::Float(value)));
        };
        Err(JsonError::new(problem))
    }

    /// The value as `i64`, if it is integral (`1.0` is) and in range.
    pub fn as_i64(&self) -> Option<i64> {
        self.integer().and_then(|value| i64::try_from(value).ok())
    }

    /// The value as `u64`, if it is integral (`1.0` is) and in range.
    pub fn as_u64(&self) -> Option<u64> {
        self.integer().and_then(|value| u64::try_from(value).ok())
    }

    /// The nearest double. [`Number::is_exact_f64`] says whether it is the value itself.
    #[expect(clippy::cast_precision_loss, reason = "documented to be the nearest double")]
    pub fn as_f64(&self) -> f64 {
        match self.0 {
            Repr::Int(value) => value as f64,
            Repr::Unsigned(value) => value as f64,
            Repr::Float(value) => value,
        }
    }

    /// Whether a double holds the value exactly.
    pub fn is_exact_f64(&self) -> bool {
        match self.0 {
            Repr::Float(_) => true,
            Repr::Int(_) | Repr::Unsigned(_) => Number(Repr::Float(self.as_f64())) == *self,
        }
    }

    /// Whether the value has no fraction: `1`, `1.0` and `1e300` have none.
    pub fn is_integral(&self) -> bool {
        match self.0 {
            Repr::Int(_) | Repr::Unsigned(_) => true,
            Repr::Float(value) => value.fract() == 0.0,
        }
    }

    /// Text by ECMAScript's rules: `1.0` is `1`, `1e21` is `1e+21`. Integers have all their digits.
    pub fn ecma(&self) -> String {
        let mut out = String::new();
        match self.0 {
            Repr::Int(_) | Repr::Unsigned(_) => self.write(&mut out),
            Repr::Float(value) => out.push_str(ryu_js::Buffer::new().format_finite(value)),
        }
        out
    }

    pub(crate) fn is_float(self) -> bool {
        matches!(self.0, Repr::Float(_))
    }

    pub(crate) fn repr(self) -> Repr {
        self.0
    }

    /// Appends the exact text; a float keeps a sign of being one.
    pub(crate) fn write(self, out: &mut String) {
        match self.0 {
            Repr::Int(value) => write_integer(value < 0, value.unsigned_abs(), out),
            Repr::Unsigned(value) => write_integer(false, value, out),
            Repr::Float(value) => {
                // Whole numbers are common, and cheaper as integers.
                if let Some(value) = self.as_i64().filter(|value| value.unsigned_abs() < 1 << 53) {
                    write_integer(value < 0, value.unsigned_abs(), out);
                    out.push_str(".0");
                    return;
                }
                let mut buffer = ryu_js::Buffer::new();
                let text = buffer.format_finite(value);
                out.push_str(text);
                if !text.bytes().any(|byte| matches!(byte, b'.' | b'e')) {
                    out.push_str(".0");
                }
            }
        }
    }

    /// The value, if it is integral and has at most 64 bits and a sign.
    #[expect(clippy::cast_possible_truncation, reason = "the range is checked, the fraction is zero")]
    fn integer(self) -> Option<i128> {
        match self.0 {
            Repr::Int(value) => Some(value.into()),
            Repr::Unsigned(value) => Some(value.into()),
            Repr::Float(value) => (value.fract() == 0.0 && value.abs() <= TWO_TO_64).then_some(value as i128),
        }
    }
}

const TWO_TO_64: f64 = 18_446_744_073_709_551_616.0;

fn write_integer(negative: bool, mut value: u64, out: &mut String) {
    let mut text = [b'-'; 21];
    let mut start = text.len();
    loop {
        start -= 1;
        text[start] = DIGITS[usize::try_from(value % 10).unwrap_or(0)];
        value /= 10;
        if value == 0 {
            break;
        }
    }
    start -= usize::from(negative);
    out.push_str(str::from_utf8(&text[start..]).unwrap_or_default());
}

const DIGITS: [u8; 10] = *b"0123456789";

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        match (self.0, other.0) {
            (Repr::Int(a), Repr::Int(b)) => a == b,
            (Repr::Float(a), Repr::Float(b)) => a.to_bits() == b.to_bits(),
            (Repr::Int(_) | Repr::Unsigned(_) | Repr::Float(_), _) => {
                self.integer().is_some_and(|value| other.integer() == Some(value))
            }
        }
    }
}

impl Eq for Number {}

impl Hash for Number {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match (self.integer(), self.0) {
            (Some(value), _) => value.hash(state),
            (None, _) => self.as_f64().to_bits().hash(state),
        }
    }
}

impl fmt::Display for Number {
    /// Exact text that reads back as the same number; `1.0` stays `1.0`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = String::new();
        self.write(&mut out);
        f.write_str(&out)
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<u64> for Number {
    fn from(value: u64) -> Self {
        Self(i64::try_from(value).map_or(Repr::Unsigned(value), Repr::Int))
    }
}

impl From<usize> for Number {
    fn from(value: usize) -> Self {
        // No platform has a wider `usize`.
        Self::from(u64::try_from(value).unwrap_or(u64::MAX))
    }
}

impl TryFrom<f64> for Number {
    type Error = JsonError;

    fn try_from(value: f64) -> Result<Self, JsonError> {
        Self::from_f64(value)
    }
}

macro_rules! from_small {
    ($($integer:ty)*) => {$(
        impl From<$integer> for Number {
            fn from(value: $integer) -> Self {
                Self(Repr::Int(value.into()))
            }
        }
    )*};
}
from_small!(i64 i32 i16 i8 u32 u16 u8);

#[cfg(test)]
#[expect(clippy::items_after_statements, reason = "rows first, then the check that they share")]
mod tests {
    use std::hash::{BuildHasher, RandomState};

    use super::Number;

    fn float(value: f64) -> Number {
        Number::from_f64(value).unwrap()
    }

    #[test]
    fn equality_is_mathematical_and_exact() {
        let beyond = 9_007_199_254_740_993_u64;
        check(1.into(), float(1.0), true);
        check((-1).into(), float(-1.0), true);
        check(0.into(), float(0.0), true);
        check(1.into(), float(1.5), false);
        check(beyond.into(), float(9_007_199_254_740_992.0), false);
        check((beyond - 1).into(), float(9_007_199_254_740_992.0), true);
        check(u64::MAX.into(), float(18_446_744_073_709_551_616.0), false);
        check(u64::MAX.into(), (-1).into(), false);
        check(i64::MIN.into(), float(-9_223_372_036_854_775_808.0), true);
        check(float(1e300), float(1e300), true);
        check(float(1e300), 1.into(), false);

        fn check(a: Number, b: Number, same: bool) {
            let hasher = RandomState::new();
            assert_eq!((a == b, b == a), (same, same), "{a} {b}");
            assert!(!same || hasher.hash_one(a) == hasher.hash_one(b), "{a} {b}");
        }
    }

    #[test]
    fn conversions_are_exact_or_absent() {
        check(float(1.0), Some(1), Some(1), true, true);
        check(float(1.5), None, None, false, true);
        check((-1).into(), Some(-1), None, true, true);
        check(u64::MAX.into(), None, Some(u64::MAX), true, false);
        check(i64::MAX.into(), Some(i64::MAX), Some(9_223_372_036_854_775_807), true, false);
        check(float(18_446_744_073_709_551_616.0), None, None, true, true);
        check(float(1e300), None, None, true, true);

        fn check(number: Number, signed: Option<i64>, unsigned: Option<u64>, integral: bool, exact: bool) {
            assert_eq!((number.as_i64(), number.as_u64()), (signed, unsigned), "{number}");
            assert_eq!((number.is_integral(), number.is_exact_f64()), (integral, exact), "{number}");
        }
    }

    #[test]
    fn what_is_no_json_number_is_refused() {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0] {
            assert_eq!(Number::from_f64(value).unwrap_err().code(), "JSON_NUMBER");
        }
    }
}
