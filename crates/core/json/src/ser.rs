//! Rust value to `Json`: a serialiser that builds it directly.

use std::fmt::Display;
use std::sync::Arc;

use serde::ser::{self, Serialize, Serializer};

use crate::error::Problem;
use crate::stack::guarded;
use crate::{Array, Json, JsonError, Limits, Number, Object, share};

pub(crate) fn to_json<T: Serialize + ?Sized>(value: &T) -> Result<Json, JsonError> {
    value.serialize(Builder { depth: 0 })
}

/// Builds a value inside `depth` containers.
#[derive(Clone, Copy)]
struct Builder {
    depth: usize,
}

/// An array under construction; a tuple variant wraps it in an object of one key.
struct ArrayBuilder {
    items: Vec<Json>,
    inner: Builder,
    variant: Option<&'static str>,
}

/// An object under construction; a struct variant wraps it in an object of one key.
struct ObjectBuilder {
    object: Object,
    key: Option<Arc<str>>,
    inner: Builder,
    variant: Option<&'static str>,
}

impl Builder {
    fn inner(self) -> Result<Self, JsonError> {
        let limit = Limits::default().max_depth;
        if self.depth == limit {
            return Err(JsonError::new(Problem::TooDeep { limit }));
        }
        Ok(Self { depth: self.depth + 1 })
    }

    fn build<T: Serialize + ?Sized>(self, value: &T) -> Result<Json, JsonError> {
        guarded(0, || value.serialize(self))
    }

    fn array(self, capacity: Option<usize>) -> Result<ArrayBuilder, JsonError> {
        let items = Vec::with_capacity(capacity.unwrap_or(0).min(TRUSTED_CAPACITY));
        Ok(ArrayBuilder { items, inner: self.inner()?, variant: None })
    }

    fn object(self, capacity: Option<usize>) -> Result<ObjectBuilder, JsonError> {
        let object = Object::with_capacity(capacity.unwrap_or(0).min(TRUSTED_CAPACITY));
        Ok(ObjectBuilder { object, key: None, inner: self.inner()?, variant: None })
    }
}

/// Elements that are reserved on a value's word for its length.
const TRUSTED_CAPACITY: usize = 1024;

impl Serializer for Builder {
    type Ok = Json;
    type Error = JsonError;
    type SerializeSeq = ArrayBuilder;
    type SerializeTuple = ArrayBuilder;
    type SerializeTupleStruct = ArrayBuilder;
    type SerializeTupleVariant = ArrayBuilder;
    type SerializeMap = ObjectBuilder;
    type SerializeStruct = ObjectBuilder;
    type SerializeStructVariant = ObjectBuilder;

    fn serialize_bool(self, value: bool) -> Result<Json, JsonError> {
        Ok(value.into())
    }

    fn serialize_i8(self, value: i8) -> Result<Json, JsonError> {
        Ok(value.into())
    }

    fn serialize_i16(self, value: i16) -> Result<Json, JsonError> {
        Ok(value.into())
    }

    fn serialize_i32(self, value: i32) -> Result<Json, JsonError> {
        Ok(value.into())
    }

    fn serialize_i64(self, value: i64) -> Result<Json, JsonError> {
        Ok(value.into())
    }

    fn serialize_i128(self, value: i128) -> Result<Json, JsonError> {
        match (i64::try_from(value), u64::try_from(value)) {
            (Ok(value), _) => Ok(value.into()),
            (_, Ok(value)) => Ok(value.into()),
            (Err(_), Err(_)) => Err(JsonError::new(Problem::BigInteger(value.to_string()))),
        }
    }

    fn serialize_u8(self, value: u8) -> Result<Json, JsonError> {
        Ok(value.into())
    }

    fn serialize_u16(self, value: u16) -> Result<Json, JsonError> {
        Ok(value.into())
    }

    fn serialize_u32(self, value: u32) -> Result<Json, JsonError> {
        Ok(value.into())
    }

    fn serialize_u64(self, value: u64) -> Result<Json, JsonError> {
        Ok(value.into())
    }

    fn serialize_u128(self, value: u128) -> Result<Json, JsonError> {
        u64::try_from(value)
            .map(Json::from)
            .map_err(|_beyond| JsonError::new(Problem::BigInteger(value.to_string())))
    }

    fn serialize_f32(self, value: f32) -> Result<Json, JsonError> {
        self.serialize_f64(value.into())
    }

    fn serialize_f64(self, value: f64) -> Result<Json, JsonError> {
        Number::from_f64(value).map(Json::from)
    }

    fn serialize_char(self, value: char) -> Result<Json, JsonError> {
        Ok(Json::from(&*value.encode_utf8(&mut [0; 4])))
    }

    fn serialize_str(self, text: &str) -> Result<Json, JsonError> {
        Ok(text.into())
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<Json, JsonError> {
        self.inner()?;
        Ok(bytes.iter().copied().collect())
    }

    fn serialize_none(self) -> Result<Json, JsonError> {
        Ok(Json::Null)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Json, JsonError> {
        self.build(value)
    }

    fn serialize_unit(self) -> Result<Json, JsonError> {
        Ok(Json::Null)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<Json, JsonError> {
        Ok(Json::Null)
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<Json, JsonError> {
        Ok(variant.into())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<Json, JsonError> {
        if name != share::NAME {
            return self.build(value);
        }
        let (built, given) = share::receive(|| value.serialize(self));
        let Some(given) = given else { return built };
        let limit = Limits::default().max_depth;
        if self.depth + given.depth() > limit {
            return Err(JsonError::new(Problem::TooDeep { limit }));
        }
        Ok(given)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Json, JsonError> {
        let key = Arc::from(variant);
        let value = self.inner()?.build(value).map_err(|error| error.inside_key(&key))?;
        Ok(Object::from_iter([(key, value)]).into())
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<ArrayBuilder, JsonError> {
        self.array(length)
    }

    fn serialize_tuple(self, length: usize) -> Result<ArrayBuilder, JsonError> {
        self.array(Some(length))
    }

    fn serialize_tuple_struct(self, _: &'static str, length: usize) -> Result<ArrayBuilder, JsonError> {
        self.array(Some(length))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<ArrayBuilder, JsonError> {
        Ok(ArrayBuilder { variant: Some(variant), ..self.inner()?.array(Some(length))? })
    }

    fn serialize_map(self, length: Option<usize>) -> Result<ObjectBuilder, JsonError> {
        self.object(length)
    }

    fn serialize_struct(self, _: &'static str, length: usize) -> Result<ObjectBuilder, JsonError> {
        self.object(Some(length))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<ObjectBuilder, JsonError> {
        Ok(ObjectBuilder { variant: Some(variant), ..self.inner()?.object(Some(length))? })
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<Json, JsonError> {
        Ok(value.to_string().into())
    }
}

impl ArrayBuilder {
    fn push<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), JsonError> {
        let item = self.inner.build(value).map_err(|error| {
            let error = error.inside_index(self.items.len());
            in_variant(error, self.variant)
        })?;
        self.items.push(item);
        Ok(())
    }

    fn finish(self) -> Json {
        wrap(self.variant, Array::from(self.items).into())
    }
}

impl ObjectBuilder {
    fn put<T: Serialize + ?Sized>(&mut self, key: Arc<str>, value: &T) -> Result<(), JsonError> {
        let value = self.inner.build(value).map_err(|error| {
            let error = error.inside_key(&key);
            in_variant(error, self.variant)
        })?;
        self.object.insert(key, value);
        Ok(())
    }

    fn finish(self) -> Json {
        wrap(self.variant, self.object.into())
    }
}

fn wrap(variant: Option<&'static str>, value: Json) -> Json {
    match variant {
        None => value,
        Some(variant) => Object::from_iter([(variant, value)]).into(),
    }
}

fn in_variant(error: JsonError, variant: Option<&'static str>) -> JsonError {
    match variant {
        None => error,
        Some(variant) => error.inside_key(&variant.into()),
    }
}

impl ser::SerializeSeq for ArrayBuilder {
    type Ok = Json;
    type Error = JsonError;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), JsonError> {
        self.push(value)
    }

    fn end(self) -> Result<Json, JsonError> {
        Ok(self.finish())
    }
}

impl ser::SerializeTuple for ArrayBuilder {
    type Ok = Json;
    type Error = JsonError;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), JsonError> {
        self.push(value)
    }

    fn end(self) -> Result<Json, JsonError> {
        Ok(self.finish())
    }
}

impl ser::SerializeTupleStruct for ArrayBuilder {
    type Ok = Json;
    type Error = JsonError;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), JsonError> {
        self.push(value)
    }

    fn end(self) -> Result<Json, JsonError> {
        Ok(self.finish())
    }
}

impl ser::SerializeTupleVariant for ArrayBuilder {
    type Ok = Json;
    type Error = JsonError;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), JsonError> {
        self.push(value)
    }

    fn end(self) -> Result<Json, JsonError> {
        Ok(self.finish())
    }
}

impl ser::SerializeMap for ObjectBuilder {
    type Ok = Json;
    type Error = JsonError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), JsonError> {
        self.key = Some(key_of(key)?);
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), JsonError> {
        let key = self.key.take().unwrap_or_default();
        self.put(key, value)
    }

    fn end(self) -> Result<Json, JsonError> {
        Ok(self.finish())
    }
}

impl ser::SerializeStruct for ObjectBuilder {
    type Ok = Json;
    type Error = JsonError;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), JsonError> {
        self.put(key.into(), value)
    }

    fn end(self) -> Result<Json, JsonError> {
        Ok(self.finish())
    }
}

impl ser::SerializeStructVariant for ObjectBuilder {
    type Ok = Json;
    type Error = JsonError;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), JsonError> {
        self.put(key.into(), value)
    }

    fn end(self) -> Result<Json, JsonError> {
        Ok(self.finish())
    }
}

/// The text of a map key: what serialises to a string, a boolean or an integer has one.
fn key_of<T: Serialize + ?Sized>(key: &T) -> Result<Arc<str>, JsonError> {
    let key = to_json(key)?;
    match &key {
        Json::String(text) => return Ok(Arc::clone(text)),
        Json::Bool(value) => return Ok(if *value { "true" } else { "false" }.into()),
        Json::Number(number) if !number.is_float() => return Ok(number.to_string().into()),
        Json::Number(_) | Json::Null | Json::Array(_) | Json::Object(_) => {}
    }
    Err(JsonError::new(Problem::Type(format!("invalid map key: {}, expected a string", key.kind()))))
}
