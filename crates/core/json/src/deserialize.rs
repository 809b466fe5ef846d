//! `Deserialize` for our values, from any format.

use std::fmt;
use std::sync::Arc;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::stack::guarded;
use crate::{Array, Json, Limits, Number, Object, share};

impl<'de> Deserialize<'de> for Json {
    /// From [`Json::read`] the value is shared. From other formats, `-0`, numbers that are not finite, integers
    /// beyond 64 bits and more than 10,000 levels are refused; of a duplicate key the last value wins.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(share::NAME, Level(0))
    }
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Json::deserialize(deserializer)?;
        let Json::Object(object) = value else { return Err(wrong_kind(&value, "an object")) };
        Ok(Arc::unwrap_or_clone(object))
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Json::deserialize(deserializer)?;
        value.as_number().copied().ok_or_else(|| wrong_kind(&value, "a number"))
    }
}

fn wrong_kind<E: Error>(found: &Json, expected: &str) -> E {
    E::custom(format_args!("invalid type: {}, expected {expected}", found.kind()))
}

/// Builds a value inside that many containers.
#[derive(Clone, Copy)]
struct Level(usize);

impl Level {
    fn deeper<T, E: Error>(self, body: impl FnOnce(Self) -> Result<T, E>) -> Result<T, E> {
        let limit = Limits::default().max_depth;
        if self.0 == limit {
            return Err(E::custom(format_args!("JSON nested deeper than {limit} levels")));
        }
        guarded(0, || body(Self(self.0 + 1)))
    }
}

impl<'de> DeserializeSeed<'de> for Level {
    type Value = Json;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Level {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_unit<E: Error>(self) -> Result<Json, E> {
        Ok(share::take().unwrap_or_default())
    }

    fn visit_none<E: Error>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_i128<E: Error>(self, value: i128) -> Result<Json, E> {
        i64::try_from(value).map(Json::from).map_err(|_beyond| too_big(value))
    }

    fn visit_u128<E: Error>(self, value: u128) -> Result<Json, E> {
        u64::try_from(value).map(Json::from).map_err(|_beyond| too_big(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Json, E> {
        Json::try_from(value).map_err(E::custom)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Json, E> {
        Ok(text.into())
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Json, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Json, A::Error> {
        self.deeper(|level| {
            let mut items = Vec::new();
            while let Some(item) = access.next_element_seed(level)? {
                items.push(item);
            }
            Ok(Array::from(items).into())
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Json, A::Error> {
        self.deeper(|level| {
            let mut object = Object::new();
            while let Some(key) = access.next_key::<Arc<str>>()? {
                object.insert(key, access.next_value_seed(level)?);
            }
            Ok(object.into())
        })
    }
}

fn too_big<E: Error>(value: impl fmt::Display) -> E {
    E::custom(format_args!("integer {value} does not fit 64 bits"))
}
