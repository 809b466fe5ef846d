//! One node of an asserted schema, as the renderers see it (spec 04 §2).

use std::collections::HashSet;

use dsh_json::{Json, Object, ObjectIter};

pub(crate) enum Shape<'s> {
    Any,
    Scalar(Scalar, Option<&'s [Json]>),
    /// With the schema of its items, if it has one.
    Array(Option<&'s Json>),
    Object(Members<'s>),
    Union(&'s [Json]),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scalar {
    String,
    Number,
    Integer,
    Boolean,
    Null,
}

/// What an object declares.
pub(crate) struct Members<'s> {
    properties: Option<&'s Object>,
    required: Required<'s>,
    /// Whether it takes other properties, too.
    pub(crate) open: bool,
}

/// One property of an object.
pub(crate) struct Member<'s> {
    pub(crate) name: &'s std::sync::Arc<str>,
    pub(crate) required: bool,
    pub(crate) description: &'s str,
    pub(crate) schema: &'s Json,
}

/// The properties of an object that are still to come.
pub(crate) struct Rest<'s> {
    properties: Option<ObjectIter<'s>>,
    required: Required<'s>,
}

enum Required<'s> {
    Few(&'s [Json]),
    Many(HashSet<&'s str>),
}

/// Up to here a list is searched from its beginning.
const FEW: usize = 8;

impl<'s> Shape<'s> {
    pub(crate) fn of(schema: &'s Json) -> Self {
        if let Some(branches) = schema.get("oneOf").and_then(Json::as_array) {
            return Self::Union(branches);
        }
        match schema.get("type").and_then(Json::as_str) {
            Some("object") => Self::Object(Members::of(schema)),
            Some("array") => Self::Array(schema.get("items")),
            Some("string") => Self::Scalar(Scalar::String, literals(schema)),
            Some("number") => Self::Scalar(Scalar::Number, literals(schema)),
            Some("integer") => Self::Scalar(Scalar::Integer, literals(schema)),
            Some("boolean") => Self::Scalar(Scalar::Boolean, literals(schema)),
            Some("null") => Self::Scalar(Scalar::Null, literals(schema)),
            _ => Self::Any,
        }
    }
}

/// Whether an object can stand in what a node describes.
pub(crate) fn can_have_objects(schema: &Json) -> bool {
    matches!(Shape::of(schema), Shape::Array(Some(_)) | Shape::Object(_) | Shape::Union(_))
}

/// The values that a scalar is confined to; `const` wins over `enum`.
fn literals(schema: &Json) -> Option<&[Json]> {
    let constant = schema.get("const").map(std::slice::from_ref);
    constant.or_else(|| schema.get("enum").and_then(Json::as_array))
}

impl<'s> Members<'s> {
    fn of(schema: &'s Json) -> Self {
        Self {
            properties: schema.get("properties").and_then(Json::as_object),
            required: Required::of(schema.get("required").and_then(Json::as_array).unwrap_or_default()),
            open: schema.get("additionalProperties").and_then(Json::as_bool) != Some(false),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.properties.is_none_or(Object::is_empty)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &'s str> {
        self.properties.into_iter().flat_map(Object::keys).map(|name| &**name)
    }

    pub(crate) fn rest(self) -> Rest<'s> {
        Rest { properties: self.properties.map(Object::iter), required: self.required }
    }
}

impl<'s> Iterator for Rest<'s> {
    type Item = Member<'s>;

    fn next(&mut self) -> Option<Member<'s>> {
        let (name, schema) = self.properties.as_mut()?.next()?;
        let description = schema.get("description").and_then(Json::as_str).unwrap_or_default();
        Some(Member { name, required: self.required.has(name), description, schema })
    }
}

impl<'s> Required<'s> {
    fn of(list: &'s [Json]) -> Self {
        if list.len() <= FEW {
            Self::Few(list)
        } else {
            Self::Many(list.iter().filter_map(Json::as_str).collect())
        }
    }

    fn has(&self, name: &str) -> bool {
        match self {
            Self::Few(list) => list.iter().any(|listed| listed.as_str() == Some(name)),
            Self::Many(names) => names.contains(name),
        }
    }
}
