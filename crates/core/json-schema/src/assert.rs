//! The schema assert (spec 04 §2.2): one walk that reports every violation and builds the program.

use std::sync::Arc;

use dsh_json::{Json, Object};

use crate::path::{Path, Step};
use crate::program::{Allowed, NodeId, ObjectRule, Program, Rule, Scalar, ScalarRule, UnionRule};
use crate::violation::{JsonSchemaError, Violation, ViolationKind, Violations};
use crate::words;

/// The most entries (keywords, properties, branches, literals) that a schema may have.
///
/// Shared nodes count each time they are met, so that a small schema of shared nodes can't take forever.
pub const MAX_SCHEMA_ENTRIES: usize = 200_000;

/// The most violations of a schema that are listed; the rest is counted.
const MAX_LISTED: usize = 256;

pub(crate) const ANNOTATIONS: [&str; 4] = ["description", "title", "default", "examples"];
const CONSTRAINTS: [&str; 6] = ["properties", "required", "additionalProperties", "items", "enum", "const"];

/// Compiles a schema, or says everything that is wrong with it.
pub(crate) fn assert(schema: &Json) -> Result<Program, JsonSchemaError> {
    let mut walk = Walk {
        program: Program::new(),
        path: Path::new("schema"),
        todo: vec![Task::Node { id: NodeId::ROOT, schema, parent: 0, place: Place::Root }],
        found: Violations::default(),
        entries: 0,
    };
    walk.run();
    if walk.found.is_empty() {
        walk.program.seal();
        Ok(walk.program)
    } else {
        Err(JsonSchemaError::new(walk.found))
    }
}

/// The object-root variant (spec 04 §2.3).
pub(crate) fn assert_object_root(schema: &Json) -> Result<Program, JsonSchemaError> {
    let program = assert(schema)?;
    if matches!(program.rule(NodeId::ROOT), Rule::Object(_)) {
        return Ok(program);
    }
    let mut found = Violations::default();
    let words = "the root has to be an object; write \"type\": \"object\" and put the rest into a property";
    found.add(MAX_LISTED, || {
        Violation::new(ViolationKind::RootNotObject, "schema.type".to_owned(), None, words.to_owned())
    });
    Err(JsonSchemaError::new(found))
}

struct Walk<'s> {
    program: Program,
    path: Path<'s>,
    todo: Vec<Task<'s>>,
    found: Violations,
    entries: usize,
}

enum Task<'s> {
    Node {
        id: NodeId,
        schema: &'s Json,
        parent: usize,
        place: Place<'s>,
    },
    /// After the properties: what `required` and `additionalProperties` say.
    CloseObject {
        id: NodeId,
        node: &'s Object,
        first: NodeId,
        depth: usize,
    },
    /// After the branches: what must not stand beside them.
    CloseUnion {
        node: &'s Object,
        depth: usize,
    },
}

/// Where a node stands in its parent.
#[derive(Clone, Copy)]
pub(crate) enum Place<'s> {
    Root,
    /// A member of the parameter root of the author DSL.
    Parameter(&'s str),
    Property(&'s str),
    Items,
    Branch(usize),
}

impl<'s> Place<'s> {
    /// Makes `path` that of the node, from that of its parent.
    pub(crate) fn enter(self, path: &mut Path<'s>, parent: usize) {
        path.truncate(parent);
        match self {
            Self::Root => {}
            Self::Parameter(name) => path.push(Step::Key(name)),
            Self::Property(name) => {
                path.push(Step::Key("properties"));
                path.push(Step::Key(name));
            }
            Self::Items => path.push(Step::Key("items")),
            Self::Branch(index) => {
                path.push(Step::Key("oneOf"));
                path.push(Step::Index(index));
            }
        }
    }
}

enum Type {
    Object,
    Array,
    Scalar(Scalar),
}

impl Type {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "object" => Self::Object,
            "array" => Self::Array,
            scalar => Self::Scalar(scalar_named(scalar)?),
        })
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Object => "object",
            Self::Array => "array",
            Self::Scalar(scalar) => scalar.name(),
        }
    }

    fn allows(&self, keyword: &str) -> bool {
        match self {
            Self::Object => matches!(keyword, "properties" | "required" | "additionalProperties"),
            Self::Array => keyword == "items",
            Self::Scalar(_) => matches!(keyword, "enum" | "const"),
        }
    }
}

/// The scalar type of that name.
pub(crate) fn scalar_named(name: &str) -> Option<Scalar> {
    [Scalar::String, Scalar::Number, Scalar::Integer, Scalar::Boolean, Scalar::Null]
        .into_iter()
        .find(|scalar| scalar.name() == name)
}

impl<'s> Walk<'s> {
    fn run(&mut self) {
        while let Some(task) = self.todo.pop() {
            match task {
                Task::Node { id, schema, parent, place } => {
                    place.enter(&mut self.path, parent);
                    self.node(id, schema);
                }
                Task::CloseObject { id, node, first, depth } => {
                    self.path.truncate(depth);
                    self.close_object(id, node, first);
                }
                Task::CloseUnion { node, depth } => {
                    self.path.truncate(depth);
                    self.close_union(node);
                }
            }
            if self.entries > MAX_SCHEMA_ENTRIES {
                self.refuse_size();
                return;
            }
        }
    }

    fn node(&mut self, id: NodeId, schema: &'s Json) {
        self.entries = self.entries.saturating_add(1);
        let Some(node) = schema.as_object() else {
            let words = format!("a schema has to be an object; found {}", words::found(schema));
            return self.report(ViolationKind::NotSchemaObject, words);
        };
        self.entries = self.entries.saturating_add(node.len());
        self.keywords(node);
        match (node.get("type"), node.get("oneOf")) {
            (Some(_), Some(_)) => {
                let words = "has both \"type\" and \"oneOf\"; keep one of them".to_owned();
                self.report(ViolationKind::TypeAndOneof, words);
            }
            (None, None) => {
                for key in present(node, |_| true) {
                    let words = "needs a \"type\" beside it".to_owned();
                    self.report_at(ViolationKind::ConstraintWithoutType, key, None, words);
                }
            }
            (None, Some(branches)) => self.union(id, node, branches),
            (Some(name), None) => self.typed(id, node, name),
        }
    }

    fn keywords(&mut self, node: &'s Object) {
        for key in node.keys() {
            let known = matches!(&**key, "type" | "oneOf")
                || CONSTRAINTS.contains(&&**key)
                || ANNOTATIONS.contains(&&**key);
            if !known {
                let words = "is not a supported keyword; remove it, or say it in \"description\"".to_owned();
                self.report_at(ViolationKind::UnknownKeyword, key, None, words);
            }
        }
        for key in ["description", "title"] {
            if let Some(value) = node.get(key).filter(|value| value.as_str().is_none()) {
                let words = format!("has to be a string; found {}", words::found(value));
                self.report_at(ViolationKind::AnnotationNotString, key, None, words);
            }
        }
    }

    fn union(&mut self, id: NodeId, node: &'s Object, branches: &'s Json) {
        let depth = self.path.depth();
        let Some(list) = branches.as_array().filter(|list| list.len() >= 2) else {
            let words = "has to be an array of at least two schemas".to_owned();
            self.report_at(ViolationKind::OneofArity, "oneOf", None, words);
            return self.close_union(node);
        };
        let first = self.program.reserve(list.len());
        let count = u32::try_from(list.len()).unwrap_or(u32::MAX);
        self.program.set(id, Rule::Union(UnionRule { first, count }));
        self.todo.push(Task::CloseUnion { node, depth });
        let branches = list.iter().enumerate().zip(0..).map(|((index, schema), offset)| Task::Node {
            id: first.plus(offset),
            schema,
            parent: depth,
            place: Place::Branch(index),
        });
        push_in_order(&mut self.todo, branches);
    }

    fn close_union(&mut self, node: &Object) {
        for key in present(node, |_| true) {
            let words = "must not stand beside \"oneOf\"; move it into the branches".to_owned();
            self.report_at(ViolationKind::BesideOneof, key, None, words);
        }
    }

    fn typed(&mut self, id: NodeId, node: &'s Object, name: &'s Json) {
        let Some(of) = name.as_str().and_then(Type::named) else {
            let (kind, words) = if name.as_array().is_some() {
                (
                    ViolationKind::TypeIsArray,
                    "must be one type name; write \"oneOf\" for alternatives".to_owned(),
                )
            } else {
                let words = "has to be one of object, array, string, number, integer, boolean, null";
                (ViolationKind::TypeUnknown, format!("{words}; found {}", words::found(name)))
            };
            return self.report_at(kind, "type", None, words);
        };
        for key in present(node, |key| !of.allows(key)) {
            let words = format!("does not belong to type \"{}\"; remove it", of.name());
            self.report_at(ViolationKind::MisplacedKeyword, key, Some(of.name().into()), words);
        }
        match of {
            Type::Object => self.object(id, node),
            Type::Array => self.array(id, node),
            Type::Scalar(scalar) => self.scalar(id, node, scalar),
        }
    }

    fn object(&mut self, id: NodeId, node: &'s Object) {
        let depth = self.path.depth();
        let properties = node.get("properties");
        let declared = properties.and_then(Json::as_object);
        if let (Some(properties), None) = (properties, declared) {
            let words = format!("has to be an object of schemas; found {}", words::found(properties));
            self.report_at(ViolationKind::PropertiesNotRecord, "properties", None, words);
        }
        let first = self.program.reserve(declared.map_or(0, Object::len));
        self.todo.push(Task::CloseObject { id, node, first, depth });
        let properties = declared.into_iter().flatten().zip(0..).map(|((name, schema), offset)| Task::Node {
            id: first.plus(offset),
            schema,
            parent: depth,
            place: Place::Property(name),
        });
        push_in_order(&mut self.todo, properties);
    }

    fn close_object(&mut self, id: NodeId, node: &'s Object, first: NodeId) {
        let declared = node.get("properties").and_then(Json::as_object);
        let names: Vec<Arc<str>> = declared.map(|map| map.keys().cloned().collect()).unwrap_or_default();
        let additional = node.get("additionalProperties");
        let closed = additional.and_then(Json::as_bool) == Some(false);
        // The rule finds names by its index, so that long lists stay linear.
        let draft = ObjectRule::new(names.clone(), first, Vec::new(), closed);
        let mut required = Vec::new();
        if let Some(list) = node.get("required") {
            let listed: Option<Vec<&str>> =
                list.as_array().and_then(|list| list.iter().map(Json::as_str).collect());
            if listed.is_none() {
                let words = "has to be an array of property names".to_owned();
                self.report_at(ViolationKind::RequiredNotStringArray, "required", None, words);
            }
            for name in listed.unwrap_or_default() {
                self.entries = self.entries.saturating_add(1);
                if let Some((place, _)) = draft.property(name, required.len()) {
                    required.push(place);
                } else {
                    let words =
                        format!("lists {}, which \"properties\" does not declare", words::quoted(name));
                    self.report_at(ViolationKind::RequiredUndeclared, "required", Some(name.into()), words);
                }
            }
        }
        if let Some(value) = additional.filter(|value| value.as_bool().is_none()) {
            let words = format!("has to be true or false; found {}", words::found(value));
            self.report_at(ViolationKind::AdditionalNotBool, "additionalProperties", None, words);
        }
        self.program.set(id, Rule::Object(ObjectRule::new(names, first, required, closed)));
    }

    fn array(&mut self, id: NodeId, node: &'s Object) {
        let items = node.get("items").map(|schema| {
            let items = self.program.reserve(1);
            let parent = self.path.depth();
            self.todo.push(Task::Node { id: items, schema, parent, place: Place::Items });
            items
        });
        self.program.set(id, Rule::Array { items });
    }

    fn scalar(&mut self, id: NodeId, node: &'s Object, scalar: Scalar) {
        let arg = || Some(Arc::from(scalar.name()));
        let allowed = node.get("enum").and_then(|list| {
            let members = list.as_array().unwrap_or_default();
            self.entries = self.entries.saturating_add(members.len());
            if members.is_empty() || !members.iter().all(|member| scalar.fits(member)) {
                let words = format!("has to be a non-empty array of {} literals", scalar.name());
                self.report_at(ViolationKind::EnumInvalid, "enum", arg(), words);
                return None;
            }
            Some(Allowed::new(list))
        });
        let constant = node.get("const");
        if let Some(literal) = constant {
            if !scalar.fits(literal) {
                let words = format!(
                    "is not a literal of type \"{}\"; found {}",
                    scalar.name(),
                    words::found(literal)
                );
                self.report_at(ViolationKind::ConstInvalid, "const", arg(), words);
            } else if allowed.as_ref().is_some_and(|allowed| !allowed.contains(literal)) {
                let words = "is not a member of \"enum\" beside it".to_owned();
                self.report_at(ViolationKind::ConstNotInEnum, "const", None, words);
            }
        }
        self.program.set(id, Rule::Scalar(ScalarRule { scalar, allowed, constant: constant.cloned() }));
    }

    fn report(&mut self, kind: ViolationKind, words: String) {
        let path = &self.path;
        self.found.add(MAX_LISTED, || Violation::new(kind, path.render(), None, words));
    }

    fn report_at(&mut self, kind: ViolationKind, key: &str, arg: Option<Arc<str>>, words: String) {
        let path = &self.path;
        self.found.add(MAX_LISTED, || Violation::new(kind, path.render_member(key), arg, words));
    }

    /// Replaces what was found: the walk ends here, so the list would be neither complete nor in order.
    fn refuse_size(&mut self) {
        self.found = too_large("schema");
    }
}

/// The refusal of a schema, or an author's form of it, with more than [`MAX_SCHEMA_ENTRIES`].
pub(crate) fn too_large(root: &str) -> Violations {
    let words =
        format!("has more than {MAX_SCHEMA_ENTRIES} entries (shared parts count each time); make it smaller");
    let limit = MAX_SCHEMA_ENTRIES.to_string();
    let mut found = Violations::default();
    found
        .add(1, || Violation::new(ViolationKind::SchemaTooLarge, root.to_owned(), Some(limit.into()), words));
    found
}

/// Pushes tasks onto a stack so that they are popped in the order given.
pub(crate) fn push_in_order<T>(stack: &mut Vec<T>, tasks: impl Iterator<Item = T>) {
    let start = stack.len();
    stack.extend(tasks);
    if let Some(added) = stack.get_mut(start..) {
        added.reverse();
    }
}

/// The constraint keywords that a node has, in the order in which they are judged.
fn present(node: &Object, keep: impl Fn(&str) -> bool) -> impl Iterator<Item = &'static str> {
    CONSTRAINTS
        .into_iter()
        .filter(move |key| keep(key) && node.contains_key(key))
        .collect::<Vec<_>>()
        .into_iter()
}
