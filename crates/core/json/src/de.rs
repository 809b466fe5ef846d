//! `Json` to Rust value: a deserialiser over a borrowed value, which knows the path of what does not fit.

use std::slice;
use std::sync::Arc;

use serde::de::value::StrDeserializer;
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer,
    MapAccess, SeqAccess, Unexpected, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use crate::error::Problem;
use crate::number::Repr;
use crate::stack::guarded;
use crate::{Array, Json, JsonError, Limits, Object, share};

pub(crate) fn read<T: DeserializeOwned>(value: &Json) -> Result<T, JsonError> {
    let limit = Limits::default().max_depth;
    if value.depth() > limit {
        return Err(JsonError::new(Problem::TooDeep { limit }));
    }
    guarded(value.depth(), || T::deserialize(Reader(value)))
}

#[derive(Clone, Copy)]
struct Reader<'de>(&'de Json);

impl<'de> Reader<'de> {
    fn mismatch(self, expected: &dyn de::Expected) -> JsonError {
        let unexpected = match self.0 {
            Json::Null => Unexpected::Unit,
            Json::Bool(value) => Unexpected::Bool(*value),
            Json::Number(number) => match number.repr() {
                Repr::Int(value) => Unexpected::Signed(value),
                Repr::Unsigned(value) => Unexpected::Unsigned(value),
                Repr::Float(value) => Unexpected::Float(value),
            },
            Json::String(text) => Unexpected::Str(text),
            Json::Array(_) => Unexpected::Seq,
            Json::Object(_) => Unexpected::Map,
        };
        JsonError::invalid_type(unexpected, expected)
    }

    /// A float with an integral value counts as an integer.
    fn integer<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, JsonError> {
        match (self.0.as_u64(), self.0.as_i64()) {
            (Some(value), _) => visitor.visit_u64(value),
            (None, Some(value)) => visitor.visit_i64(value),
            (None, None) => self.deserialize_any(visitor),
        }
    }
}

macro_rules! integers {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, JsonError> {
            self.integer(visitor)
        }
    )*};
}

impl<'de> Deserializer<'de> for Reader<'de> {
    type Error = JsonError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, JsonError> {
        match self.0 {
            Json::Null => visitor.visit_unit(),
            Json::Bool(value) => visitor.visit_bool(*value),
            Json::Number(number) => match number.repr() {
                Repr::Int(_) | Repr::Unsigned(_) => self.integer(visitor),
                Repr::Float(value) => visitor.visit_f64(value),
            },
            Json::String(text) => visitor.visit_borrowed_str(text),
            Json::Array(array) => Items::visit(array, visitor),
            Json::Object(object) => Properties::visit(object, visitor),
        }
    }

    integers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, JsonError> {
        match self.0 {
            Json::Null => visitor.visit_none(),
            Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_) | Json::Object(_) => {
                guarded(self.0.depth(), || visitor.visit_some(self))
            }
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, JsonError> {
        if name == share::NAME {
            return share::offer(self.0, || visitor.visit_unit());
        }
        guarded(self.0.depth(), || visitor.visit_newtype_struct(self))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, JsonError> {
        let variant = match self.0 {
            Json::String(name) => Variant { name, content: None },
            Json::Object(object) => match object.entries() {
                [(name, content)] => Variant { name, content: Some(Reader(content)) },
                _ => return Err(JsonError::custom("expected an object with one key, the name of a variant")),
            },
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_) => {
                return Err(self.mismatch(&"a string or an object with one key"));
            }
        };
        visitor.visit_enum(variant)
    }

    /// Does not walk what nobody wants.
    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, JsonError> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool f32 f64 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier
    }
}

/// The elements of an array that are still to be read.
struct Items<'de> {
    rest: slice::Iter<'de, Json>,
    index: usize,
}

impl<'de> Items<'de> {
    fn visit<V: Visitor<'de>>(array: &'de Array, visitor: V) -> Result<V::Value, JsonError> {
        let mut items = Self { rest: array.iter(), index: 0 };
        let value = visitor.visit_seq(&mut items)?;
        if items.rest.len() > 0 {
            return Err(JsonError::invalid_length(
                array.len(),
                &format!("{} elements", items.index).as_str(),
            ));
        }
        Ok(value)
    }
}

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = JsonError;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, JsonError> {
        let Some(item) = self.rest.next() else { return Ok(None) };
        let index = self.index;
        self.index += 1;
        guarded(item.depth(), || seed.deserialize(Reader(item)))
            .map(Some)
            .map_err(|error| error.inside_index(index))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}

/// The properties of an object that are still to be read.
struct Properties<'de> {
    rest: slice::Iter<'de, (Arc<str>, Json)>,
    current: Option<&'de (Arc<str>, Json)>,
}

impl<'de> Properties<'de> {
    fn visit<V: Visitor<'de>>(object: &'de Object, visitor: V) -> Result<V::Value, JsonError> {
        visitor.visit_map(Self { rest: object.entries().iter(), current: None })
    }
}

impl<'de> MapAccess<'de> for Properties<'de> {
    type Error = JsonError;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, JsonError> {
        self.current = self.rest.next();
        let Some((key, _)) = self.current else { return Ok(None) };
        seed.deserialize(Key(key)).map(Some).map_err(|error| error.inside_key(key))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, JsonError> {
        let Some((key, value)) = self.current else {
            return Err(JsonError::custom("a value was asked for before its key"));
        };
        guarded(value.depth(), || seed.deserialize(Reader(value))).map_err(|error| error.inside_key(key))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}

/// A key, which may stand for an integer or a boolean.
struct Key<'de>(&'de str);

macro_rules! parsed_keys {
    ($($method:ident $visit:ident $type:ty)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, JsonError> {
            match self.0.parse::<$type>() {
                Ok(value) => visitor.$visit(value),
                Err(_) => visitor.visit_borrowed_str(self.0),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for Key<'de> {
    type Error = JsonError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, JsonError> {
        visitor.visit_borrowed_str(self.0)
    }

    parsed_keys! {
        deserialize_i8 visit_i64 i64
        deserialize_i16 visit_i64 i64
        deserialize_i32 visit_i64 i64
        deserialize_i64 visit_i64 i64
        deserialize_u8 visit_u64 u64
        deserialize_u16 visit_u64 u64
        deserialize_u32 visit_u64 u64
        deserialize_u64 visit_u64 u64
        deserialize_bool visit_bool bool
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, JsonError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, JsonError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, JsonError> {
        visitor.visit_enum(StrDeserializer::new(self.0))
    }

    forward_to_deserialize_any! {
        i128 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct
        identifier ignored_any
    }
}

/// A variant by name, with its content if it has one.
struct Variant<'de> {
    name: &'de Arc<str>,
    content: Option<Reader<'de>>,
}

impl<'de> EnumAccess<'de> for Variant<'de> {
    type Error = JsonError;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), JsonError> {
        let name: StrDeserializer<'_, JsonError> = (**self.name).into_deserializer();
        Ok((seed.deserialize(name)?, self))
    }
}

impl<'de> Variant<'de> {
    fn content<T>(
        self,
        expected: &'static str,
        read: impl FnOnce(Reader<'de>) -> Result<T, JsonError>,
    ) -> Result<T, JsonError> {
        let Some(content) = self.content else {
            return Err(JsonError::invalid_type(Unexpected::UnitVariant, &expected));
        };
        guarded(content.0.depth(), || read(content)).map_err(|error| error.inside_key(self.name))
    }
}

impl<'de> VariantAccess<'de> for Variant<'de> {
    type Error = JsonError;

    fn unit_variant(self) -> Result<(), JsonError> {
        match self.content {
            None => Ok(()),
            Some(content) => {
                <() as de::Deserialize>::deserialize(content).map_err(|error| error.inside_key(self.name))
            }
        }
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, JsonError> {
        self.content("newtype variant", |content| seed.deserialize(content))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, JsonError> {
        self.content("tuple variant", |content| match content.0 {
            Json::Array(array) => Items::visit(array, visitor),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Object(_) => {
                Err(content.mismatch(&"an array"))
            }
        })
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, JsonError> {
        self.content("struct variant", |content| content.deserialize_any(visitor))
    }
}
