//! One node of an asserted schema, as the renderers see it (spec 04 §2).

use std::collections::HashSet;
use std::slice;
use std::sync::Arc;

use dsh_json::{Json, Object, ObjectIter};

pub(crate) struct Node<'s> {
    pub(crate) description: &'s str,
    pub(crate) shape: Shape<'s>,
}

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
    required: &'s [Json],
    /// Whether it takes other properties, too.
    pub(crate) open: bool,
}

/// One property of an object.
pub(crate) struct Member<'s> {
    pub(crate) name: &'s Arc<str>,
    pub(crate) required: bool,
    pub(crate) node: Node<'s>,
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

impl<'s> Node<'s> {
    /// Looks at each keyword once.
    pub(crate) fn of(schema: &'s Json) -> Self {
        let (mut kind, mut description, mut branches, mut items) = (None, None, None, None);
        let (mut constant, mut choices) = (None, None);
        let mut members = Members { properties: None, required: &[], open: true };
        for (keyword, value) in schema.as_object().into_iter().flatten() {
            match &**keyword {
                "type" => kind = value.as_str(),
                "description" => description = value.as_str(),
                "oneOf" => branches = value.as_array(),
                "items" => items = Some(value),
                "const" => constant = Some(slice::from_ref(value)),
                "enum" => choices = value.as_array(),
                "properties" => members.properties = value.as_object(),
                "required" => members.required = value.as_array().unwrap_or_default(),
                "additionalProperties" => members.open = value.as_bool() != Some(false),
                _ => {}
            }
        }
        // `const` wins over `enum`.
        let scalar = |scalar| Shape::Scalar(scalar, constant.or(choices));
        let shape = match (branches, kind) {
            (Some(branches), _) => Shape::Union(branches),
            (None, Some("object")) => Shape::Object(members),
            (None, Some("array")) => Shape::Array(items),
            (None, Some("string")) => scalar(Scalar::String),
            (None, Some("number")) => scalar(Scalar::Number),
            (None, Some("integer")) => scalar(Scalar::Integer),
            (None, Some("boolean")) => scalar(Scalar::Boolean),
            (None, Some("null")) => scalar(Scalar::Null),
            _ => Shape::Any,
        };
        Self { description: description.unwrap_or_default(), shape }
    }

    /// Whether an object can stand in what this describes.
    pub(crate) fn can_have_objects(&self) -> bool {
        matches!(self.shape, Shape::Array(Some(_)) | Shape::Object(_) | Shape::Union(_))
    }
}

impl<'s> Members<'s> {
    pub(crate) fn is_empty(&self) -> bool {
        self.properties.is_none_or(Object::is_empty)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &'s str> {
        self.properties.into_iter().flat_map(Object::keys).map(|name| &**name)
    }

    pub(crate) fn rest(self) -> Rest<'s> {
        Rest { properties: self.properties.map(Object::iter), required: Required::of(self.required) }
    }
}

impl<'s> Iterator for Rest<'s> {
    type Item = Member<'s>;

    fn next(&mut self) -> Option<Member<'s>> {
        let (name, schema) = self.properties.as_mut()?.next()?;
        Some(Member { name, required: self.required.has(name), node: Node::of(schema) })
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
