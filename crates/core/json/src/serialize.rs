//! `Serialize` for our values, into any format.

use serde::ser::{Error, Serialize, SerializeMap, SerializeSeq, Serializer};

use crate::number::Repr;
use crate::stack::guarded;
use crate::{Json, Limits, Number, Object, share};

impl Serialize for Json {
    /// Into [`Json::from_serialize`] the value is shared. A value deeper than 10,000 levels is refused.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct(share::NAME, &Whole(self))
    }
}

/// The value inside its announcement.
struct Whole<'a>(&'a Json);
/// The value taken apart.
struct Parts<'a>(&'a Json);

impl Serialize for Whole<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if share::give(self.0) {
            return serializer.serialize_unit();
        }
        check_depth(self.0.depth())?;
        Parts(self.0).serialize(serializer)
    }
}

impl Serialize for Parts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Json::Null => serializer.serialize_unit(),
            Json::Bool(value) => serializer.serialize_bool(*value),
            Json::Number(number) => number.serialize(serializer),
            Json::String(text) => serializer.serialize_str(text),
            Json::Array(array) => guarded(0, || {
                let mut sequence = serializer.serialize_seq(Some(array.len()))?;
                for item in array.iter() {
                    sequence.serialize_element(&Parts(item))?;
                }
                sequence.end()
            }),
            Json::Object(object) => guarded(0, || {
                let mut map = serializer.serialize_map(Some(object.len()))?;
                for (key, value) in object.iter() {
                    map.serialize_entry(&**key, &Parts(value))?;
                }
                map.end()
            }),
        }
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        check_depth(self.height() as usize)?;
        serializer.collect_map(self)
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.repr() {
            Repr::Int(value) => serializer.serialize_i64(value),
            Repr::Unsigned(value) => serializer.serialize_u64(value),
            Repr::Float(value) => serializer.serialize_f64(value),
        }
    }
}

fn check_depth<E: Error>(depth: usize) -> Result<(), E> {
    let limit = Limits::default().max_depth;
    if depth > limit {
        return Err(E::custom(format_args!("JSON nested deeper than {limit} levels")));
    }
    Ok(())
}
