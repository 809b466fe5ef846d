//! A schema of the subset as the renderers see it (spec 04 §2): its nodes in one list, each keyword looked at once.
//!
//! It is read level by level, not branch by branch. The nodes of a schema lie anywhere in memory, and down a branch each
//! has to arrive before the next is known; those of a level are known together, and the waits for them overlap.

use std::collections::HashSet;
use std::ops::Range;
use std::slice;

use dsh_json::{Json, Object, ObjectIter};

/// The nodes of one schema. Children stand side by side, behind their parent.
#[derive(Default)]
pub(crate) struct Outline<'s> {
    nodes: Vec<Node<'s>>,
    met: Vec<Unread<'s>>,
}

#[derive(Clone)]
pub(crate) struct Node<'s> {
    /// The property that it describes; empty where it describes none.
    pub(crate) name: &'s str,
    /// Whether that property has to be there.
    pub(crate) required: bool,
    pub(crate) description: &'s str,
    pub(crate) shape: Shape<'s>,
}

/// What a node describes. Children are numbers of nodes.
#[derive(Clone)]
pub(crate) enum Shape<'s> {
    Any,
    Scalar(Scalar, Option<&'s [Json]>),
    /// With the schema of its items, if it has one.
    Array(Option<usize>),
    /// Its properties, and whether it takes others, too.
    Object {
        members: Range<usize>,
        open: bool,
    },
    Union(Range<usize>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scalar {
    String,
    Number,
    Integer,
    Boolean,
    Null,
}

/// A node of which no keyword has been looked at.
#[derive(Clone)]
struct Unread<'s> {
    name: &'s str,
    required: bool,
    keywords: Option<ObjectIter<'s>>,
}

impl<'s> Outline<'s> {
    /// Reads a schema in place of the last one. Its root has the number 0.
    pub(crate) fn read(&mut self, schema: &'s Json) {
        self.nodes.clear();
        self.met.clear();
        self.met.push(Unread::unnamed(schema));
        while let Some(next) = self.met.get(self.nodes.len()).cloned() {
            self.nodes.push(Node::read(next, &mut self.met));
        }
    }

    #[expect(
        clippy::indexing_slicing,
        reason = "numbers of nodes come from the outline that they point into"
    )]
    pub(crate) fn node(&self, number: usize) -> Node<'s> {
        self.nodes[number].clone()
    }

    #[expect(clippy::indexing_slicing, reason = "as above")]
    pub(crate) fn nodes(&self, numbers: &Range<usize>) -> &[Node<'s>] {
        &self.nodes[numbers.clone()]
    }
}

impl<'s> Node<'s> {
    /// Reads a node, and meets its children.
    fn read(Unread { name, required, keywords }: Unread<'s>, met: &mut Vec<Unread<'s>>) -> Self {
        let (mut kind, mut description, mut branches, mut item) = (None, None, None, None);
        let (mut constant, mut choices) = (None, None);
        let (mut properties, mut needed, mut open) = (None, None, true);
        for (keyword, value) in keywords.into_iter().flatten() {
            match &**keyword {
                "type" => kind = value.as_str(),
                "description" => description = value.as_str(),
                "oneOf" => branches = value.as_array(),
                "items" => item = Some(value),
                "const" => constant = Some(slice::from_ref(value)),
                "enum" => choices = value.as_array(),
                "properties" => properties = value.as_object(),
                "required" => needed = value.as_array(),
                "additionalProperties" => open = value.as_bool() != Some(false),
                _ => {}
            }
        }
        let first = met.len();
        // `const` wins over `enum`.
        let scalar = |scalar| Shape::Scalar(scalar, constant.or(choices));
        let shape = match (branches, kind) {
            (Some(branches), _) => {
                met.extend(branches.iter().map(Unread::unnamed));
                Shape::Union(first..met.len())
            }
            (None, Some("object")) => {
                for (name, schema) in properties.into_iter().flatten() {
                    met.push(Unread { name, ..Unread::unnamed(schema) });
                }
                require(met.get_mut(first..).unwrap_or_default(), needed.unwrap_or_default());
                Shape::Object { members: first..met.len(), open }
            }
            (None, Some("array")) => {
                met.extend(item.map(Unread::unnamed));
                Shape::Array(item.map(|_| first))
            }
            (None, Some("string")) => scalar(Scalar::String),
            (None, Some("number")) => scalar(Scalar::Number),
            (None, Some("integer")) => scalar(Scalar::Integer),
            (None, Some("boolean")) => scalar(Scalar::Boolean),
            (None, Some("null")) => scalar(Scalar::Null),
            _ => Shape::Any,
        };
        Self { name, required, description: description.unwrap_or_default(), shape }
    }

    /// Whether an object can stand in what this describes.
    pub(crate) fn can_have_objects(&self) -> bool {
        matches!(self.shape, Shape::Array(Some(_)) | Shape::Object { .. } | Shape::Union(_))
    }
}

impl<'s> Unread<'s> {
    fn unnamed(schema: &'s Json) -> Self {
        Self { name: "", required: false, keywords: schema.as_object().map(Object::iter) }
    }
}

/// Marks the members that an object requires. One sweep does where they are listed in the order of the members.
fn require(members: &mut [Unread<'_>], listed: &[Json]) {
    let mut rest = members.iter_mut();
    let mut mark = |name: &str| rest.find(|member| member.name == name).map(|member| member.required = true);
    if listed.iter().all(|name| name.as_str().and_then(&mut mark).is_some()) {
        return;
    }
    let listed: HashSet<&str> = listed.iter().filter_map(Json::as_str).collect();
    for member in members {
        member.required = listed.contains(member.name);
    }
}
