//! The compiled validator: an arena of nodes that point to each other by number.

use std::collections::HashMap;
use std::collections::HashSet;
use std::sync::Arc;

use dsh_json::{Json, Kind, Number};

/// Above this many properties (or literals) a hash index replaces the scan.
const SCAN_LIMIT: usize = 12;

/// The number of a node in its program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NodeId(u32);

impl NodeId {
    pub(crate) const ROOT: Self = Self(0);

    /// The node `offset` places after this one.
    pub(crate) fn plus(self, offset: u32) -> Self {
        Self(self.0.saturating_add(offset))
    }
}

/// A schema, ready to judge values. Children always come after their parent.
#[derive(Debug)]
pub(crate) struct Program {
    nodes: Vec<Node>,
}

#[derive(Debug)]
struct Node {
    rule: Rule,
    accepts: Kinds,
    settles: Kinds,
}

impl Node {
    const ANY: Self = Self { rule: Rule::Any, accepts: Kinds::ALL, settles: Kinds::ALL };
}

/// What one node asks for.
#[derive(Debug)]
pub(crate) enum Rule {
    Any,
    Scalar(ScalarRule),
    Array { items: Option<NodeId> },
    Object(ObjectRule),
    Union(UnionRule),
}

/// A scalar type and its literals.
#[derive(Debug)]
pub(crate) struct ScalarRule {
    pub(crate) scalar: Scalar,
    pub(crate) allowed: Option<Allowed>,
    pub(crate) constant: Option<Json>,
}

/// The five scalar types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scalar {
    String,
    Number,
    Integer,
    Boolean,
    Null,
}

/// The members of an `enum`, with an index when there are many.
#[derive(Debug)]
pub(crate) struct Allowed {
    list: Json,
    index: Index,
}

#[derive(Debug)]
enum Index {
    Scan,
    Strings(HashSet<Arc<str>>),
    /// In the order of their nearest doubles.
    Numbers(Box<[Number]>),
}

/// Declared properties, in the schema's order.
#[derive(Debug)]
pub(crate) struct ObjectRule {
    pub(crate) properties: Box<[Property]>,
    /// Positions in `properties`, in the order of `required`, repetitions included.
    pub(crate) required: Box<[usize]>,
    pub(crate) closed: bool,
    distinct_required: usize,
    index: Option<HashMap<Arc<str>, usize>>,
}

/// A declared property.
#[derive(Debug)]
pub(crate) struct Property {
    pub(crate) name: Arc<str>,
    pub(crate) node: NodeId,
    pub(crate) required: bool,
}

/// Consecutive branches, exactly one of which must match.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnionRule {
    pub(crate) first: NodeId,
    pub(crate) count: u32,
}

/// A set of JSON kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kinds(u8);

impl Program {
    pub(crate) fn new() -> Self {
        Self { nodes: vec![Node::ANY] }
    }

    /// Adds `count` nodes that accept anything until [`Program::set`]; returns the first.
    pub(crate) fn reserve(&mut self, count: usize) -> NodeId {
        let first = NodeId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.extend((0..count).map(|_| Node::ANY));
        first
    }

    pub(crate) fn set(&mut self, id: NodeId, rule: Rule) {
        if let Some(node) = self.nodes.get_mut(id.0 as usize) {
            node.rule = rule;
        }
    }

    /// Computes what each node may accept, once all rules are set.
    pub(crate) fn seal(&mut self) {
        for place in (0..self.nodes.len()).rev() {
            let Some(Node { rule, .. }) = self.nodes.get(place) else { continue };
            let (accepts, settles) = (self.kinds_of(rule), self.settled_by(rule));
            if let Some(node) = self.nodes.get_mut(place) {
                (node.accepts, node.settles) = (accepts, settles);
            }
        }
        self.nodes.shrink_to_fit();
    }

    #[expect(clippy::indexing_slicing, reason = "ids are made by `reserve` and point into their own arena")]
    pub(crate) fn rule(&self, id: NodeId) -> &Rule {
        &self.nodes[id.0 as usize].rule
    }

    /// The kinds that the node can accept: no value of another kind matches it.
    #[expect(clippy::indexing_slicing, reason = "ids are made by `reserve` and point into their own arena")]
    pub(crate) fn accepts(&self, id: NodeId) -> Kinds {
        self.nodes[id.0 as usize].accepts
    }

    /// The kinds that are enough to match the node: every value of them does.
    #[expect(clippy::indexing_slicing, reason = "ids are made by `reserve` and point into their own arena")]
    pub(crate) fn settles(&self, id: NodeId) -> Kinds {
        self.nodes[id.0 as usize].settles
    }

    fn settled_by(&self, rule: &Rule) -> Kinds {
        match rule {
            Rule::Any => Kinds::ALL,
            Rule::Scalar(ScalarRule { scalar: Scalar::Integer, .. }) => Kinds::NONE,
            Rule::Scalar(ScalarRule { scalar, allowed: None, constant: None }) => Kinds::only(scalar.kind()),
            Rule::Array { items: None } => Kinds::only(Kind::Array),
            Rule::Object(rule) if !rule.closed && rule.properties.is_empty() => Kinds::only(Kind::Object),
            Rule::Scalar(_) | Rule::Array { .. } | Rule::Object(_) => Kinds::NONE,
            Rule::Union(union) => {
                let (mut once, mut twice, mut settled) = (Kinds::NONE, Kinds::NONE, Kinds::NONE);
                for branch in union.branches() {
                    twice = twice.or(once.and(self.accepts(branch)));
                    once = once.or(self.accepts(branch));
                    settled = settled.or(self.settles(branch));
                }
                settled.without(twice)
            }
        }
    }

    fn kinds_of(&self, rule: &Rule) -> Kinds {
        match rule {
            Rule::Any => Kinds::ALL,
            Rule::Scalar(scalar) => Kinds::only(scalar.scalar.kind()),
            Rule::Array { .. } => Kinds::only(Kind::Array),
            Rule::Object(_) => Kinds::only(Kind::Object),
            Rule::Union(union) => self.kinds(*union),
        }
    }

    /// The kinds that some branch can accept.
    pub(crate) fn kinds(&self, union: UnionRule) -> Kinds {
        union.branches().map(|branch| self.accepts(branch)).fold(Kinds::NONE, Kinds::or)
    }
}

impl UnionRule {
    pub(crate) fn branches(self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.count).map(move |offset| self.first.plus(offset))
    }
}

impl Scalar {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Number => "number",
            Self::Integer => "integer",
            Self::Boolean => "boolean",
            Self::Null => "null",
        }
    }

    /// Whether a value or a literal has this type; `1.0` is an integer.
    pub(crate) fn fits(self, value: &Json) -> bool {
        match self {
            Self::String => value.as_str().is_some(),
            Self::Number => value.as_number().is_some(),
            Self::Integer => value.as_number().is_some_and(Number::is_integral),
            Self::Boolean => value.as_bool().is_some(),
            Self::Null => value.is_null(),
        }
    }

    pub(crate) fn kind(self) -> Kind {
        match self {
            Self::String => Kind::String,
            Self::Number | Self::Integer => Kind::Number,
            Self::Boolean => Kind::Boolean,
            Self::Null => Kind::Null,
        }
    }
}

impl ScalarRule {
    pub(crate) fn accepts(&self, value: &Json) -> bool {
        self.scalar.fits(value)
            && self.allowed.as_ref().is_none_or(|allowed| allowed.contains(value))
            && self.constant.as_ref().is_none_or(|constant| constant == value)
    }
}

impl Allowed {
    /// `list` is an array of literals of one scalar type.
    pub(crate) fn new(list: &Json) -> Self {
        let members = list.as_array().unwrap_or_default();
        let index = if members.len() <= SCAN_LIMIT {
            Index::Scan
        } else if let Some(strings) = members.iter().map(shared_text).collect() {
            Index::Strings(strings)
        } else if let Some(mut numbers) =
            members.iter().map(|member| member.as_number().copied()).collect::<Option<Vec<_>>>()
        {
            numbers.sort_by(|left, right| left.as_f64().total_cmp(&right.as_f64()));
            Index::Numbers(numbers.into())
        } else {
            Index::Scan
        };
        Self { list: list.clone(), index }
    }

    pub(crate) fn list(&self) -> &[Json] {
        self.list.as_array().unwrap_or_default()
    }

    pub(crate) fn contains(&self, value: &Json) -> bool {
        match &self.index {
            Index::Scan => self.list().contains(value),
            Index::Strings(strings) => value.as_str().is_some_and(|text| strings.contains(text)),
            Index::Numbers(numbers) => value.as_number().is_some_and(|number| {
                let near = number.as_f64();
                let start = numbers.partition_point(|member| member.as_f64() < near);
                numbers
                    .iter()
                    .skip(start)
                    .take_while(|member| member.as_f64() <= near)
                    .any(|member| member == number)
            }),
        }
    }
}

fn shared_text(value: &Json) -> Option<Arc<str>> {
    value.as_str().map(Arc::from)
}

impl ObjectRule {
    /// `required` holds positions in `names`; the property nodes are consecutive from `first`.
    pub(crate) fn new(names: Vec<Arc<str>>, first: NodeId, required: Vec<usize>, closed: bool) -> Self {
        let index = (names.len() > SCAN_LIMIT)
            .then(|| names.iter().enumerate().map(|(place, name)| (Arc::clone(name), place)).collect());
        let mut properties: Box<[Property]> = names
            .into_iter()
            .zip(0..)
            .map(|(name, offset)| Property { name, node: first.plus(offset), required: false })
            .collect();
        for place in &required {
            if let Some(property) = properties.get_mut(*place) {
                property.required = true;
            }
        }
        let distinct_required = properties.iter().filter(|property| property.required).count();
        Self { properties, required: required.into(), closed, distinct_required, index }
    }

    /// How many different properties are required.
    pub(crate) fn distinct_required(&self) -> usize {
        self.distinct_required
    }

    /// A declared property and its place; `cursor` is where it is most likely.
    #[inline]
    pub(crate) fn property(&self, key: &str, cursor: usize) -> Option<(usize, &Property)> {
        match self.properties.get(cursor) {
            Some(property) if is_same(&property.name, key) => Some((cursor, property)),
            Some(_) | None => self.elsewhere(key),
        }
    }

    fn elsewhere(&self, key: &str) -> Option<(usize, &Property)> {
        match &self.index {
            Some(index) => index.get(key).and_then(|place| Some((*place, self.properties.get(*place)?))),
            None => self.properties.iter().enumerate().find(|(_, property)| is_same(&property.name, key)),
        }
    }

    /// The property names in the schema's order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.properties.iter().map(|property| &*property.name)
    }
}

/// Equality of short names in a few instructions: their beginnings and their ends, which overlap.
#[inline]
fn is_same(name: &str, other: &str) -> bool {
    let (name, other) = (name.as_bytes(), other.as_bytes());
    name.len() == other.len()
        && match name.len() {
            4..=8 => {
                name.first_chunk::<4>() == other.first_chunk() && name.last_chunk::<4>() == other.last_chunk()
            }
            9..=16 => {
                name.first_chunk::<8>() == other.first_chunk() && name.last_chunk::<8>() == other.last_chunk()
            }
            _ => name == other,
        }
}

impl Kinds {
    const NONE: Self = Self(0);
    const ALL: Self = Self(0b11_1111);

    fn only(kind: Kind) -> Self {
        Self(match kind {
            Kind::Null => 1,
            Kind::Boolean => 1 << 1,
            Kind::Number => 1 << 2,
            Kind::String => 1 << 3,
            Kind::Array => 1 << 4,
            Kind::Object => 1 << 5,
        })
    }

    pub(crate) fn contains(self, kind: Kind) -> bool {
        self.0 & Self::only(kind).0 != 0
    }

    fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The kinds of the set, scalars first.
    pub(crate) fn iter(self) -> impl Iterator<Item = Kind> {
        [Kind::String, Kind::Number, Kind::Boolean, Kind::Array, Kind::Object, Kind::Null]
            .into_iter()
            .filter(move |kind| self.contains(*kind))
    }
}

#[cfg(test)]
mod tests {
    use super::{is_same, *};
    use crate::assert::assert;
    use dsh_json::object;

    #[test]
    fn names_are_compared_whole() {
        for length in 0..40 {
            let name = "n".repeat(length);
            assert!(is_same(&name, &name.clone()) && !is_same(&name, &format!("{name}n")));
            for place in 0..length {
                let other = format!("{}x{}", &name[..place], &name[place + 1..]);
                assert!(!is_same(&name, &other), "{length} {place}");
            }
        }
    }

    #[test]
    fn a_kind_settles_where_nothing_more_is_asked() {
        let check = |schema: &Json, expected: &[Kind]| {
            let program = assert(schema).unwrap();
            assert_eq!(program.settles(NodeId::ROOT).iter().collect::<Vec<_>>(), expected, "{schema}");
        };
        let of = |name: &str| object! { "type": name };
        check(&of("string"), &[Kind::String]);
        check(&of("integer"), &[]);
        check(&object! { "type": "string", "enum": Json::from(vec![Json::from("a")]) }, &[]);
        check(&of("object"), &[Kind::Object]);
        check(&object! { "type": "object", "additionalProperties": false }, &[]);
        let union = |branches: [Json; 3]| object! { "oneOf": Json::from(branches.to_vec()) };
        check(&union([of("string"), of("null"), of("integer")]), &[Kind::String, Kind::Null]);
        // Two branches take a number then.
        check(&union([of("number"), of("integer"), of("null")]), &[Kind::Null]);
    }
}
