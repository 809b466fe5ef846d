//! Rust values that are JSON values without further ado.

use std::borrow::Cow;
use std::sync::Arc;

use crate::{Array, Json, JsonError, Number, Object};

impl From<bool> for Json {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Self::String(text.into())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Self {
        Self::String(text.into())
    }
}

impl From<&String> for Json {
    fn from(text: &String) -> Self {
        Self::String(text.as_str().into())
    }
}

impl From<Cow<'_, str>> for Json {
    fn from(text: Cow<'_, str>) -> Self {
        Self::String(text.into())
    }
}

impl From<Arc<str>> for Json {
    fn from(text: Arc<str>) -> Self {
        Self::String(text)
    }
}

impl From<&Arc<str>> for Json {
    fn from(text: &Arc<str>) -> Self {
        Self::String(Arc::clone(text))
    }
}

impl From<Number> for Json {
    fn from(number: Number) -> Self {
        Self::Number(number)
    }
}

macro_rules! from_integer {
    ($($integer:ty)*) => {$(
        impl From<$integer> for Json {
            fn from(value: $integer) -> Self {
                Self::Number(value.into())
            }
        }
    )*};
}
from_integer!(i64 i32 i16 i8 u64 u32 u16 u8 usize);

impl TryFrom<f64> for Json {
    type Error = JsonError;

    /// As [`Number::from_f64`].
    fn try_from(value: f64) -> Result<Self, JsonError> {
        Number::from_f64(value).map(Self::Number)
    }
}

impl From<&Json> for Json {
    /// A clone, which shares.
    fn from(value: &Json) -> Self {
        value.clone()
    }
}

impl From<Array> for Json {
    fn from(array: Array) -> Self {
        Self::Array(Arc::new(array))
    }
}

impl From<Arc<Array>> for Json {
    fn from(array: Arc<Array>) -> Self {
        Self::Array(array)
    }
}

impl From<Object> for Json {
    fn from(object: Object) -> Self {
        Self::Object(Arc::new(object))
    }
}

impl From<Arc<Object>> for Json {
    fn from(object: Arc<Object>) -> Self {
        Self::Object(object)
    }
}

impl<T: Into<Json>> From<Vec<T>> for Json {
    fn from(items: Vec<T>) -> Self {
        items.into_iter().collect()
    }
}

impl<T: Into<Json>> From<Option<T>> for Json {
    /// `None` is `null`.
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl<T: Into<Json>> FromIterator<T> for Array {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        items.into_iter().map(Into::into).collect::<Vec<Json>>().into()
    }
}

impl<T: Into<Json>> FromIterator<T> for Json {
    /// An array.
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        items.into_iter().collect::<Array>().into()
    }
}
