//! The walk over a foreign schema: node by node, keyword by keyword.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use dsh_json::{Json, Object};

use super::ImportLimits;
use super::kinds::closes_what_is_left;
use super::merge::Merge;
use super::phrase;
use super::refs::{Document, Target};
use super::report::{Fate, Finding, ImportReport};
use super::shape::{Form, Rule, Shape, Takes};
use crate::assert::ANNOTATIONS;
use crate::path::{Path, Step};
use crate::program::Scalar;
use crate::words;

/// Keywords that ask for nothing, and are not reported.
const SILENT: [&str; 12] = [
    "$schema",
    "$id",
    "id",
    "$comment",
    "$anchor",
    "$dynamicAnchor",
    "$recursiveAnchor",
    "$vocabulary",
    "$defs",
    "definitions",
    "components",
    "type",
];

/// How many properties are copied at most, to have those beside alternatives in each of them.
const MAX_COPIED: usize = 20_000;

pub(super) struct Walk<'s> {
    pub(super) document: Document<'s>,
    pub(super) limits: &'s ImportLimits,
    pub(super) path: Path<'s>,
    pub(super) report: ImportReport,
    pub(super) merge: Merge,
    /// What definitions take, by the address of their node.
    defined: HashMap<*const Json, Arc<Shape>>,
    /// The definitions that are being lowered.
    open: HashSet<*const Json>,
    visits: usize,
}

impl<'s> Walk<'s> {
    pub(super) fn new(root: &'s Json, limits: &'s ImportLimits) -> Self {
        Self {
            document: Document::new(root),
            limits,
            path: Path::new("schema"),
            report: ImportReport::default(),
            merge: Merge::new(limits.steps, limits.alternatives),
            defined: HashMap::new(),
            open: HashSet::new(),
            visits: 0,
        }
    }

    /// A node that stands where values stand: what is only implied is not taken.
    pub(super) fn value(&mut self, schema: &'s Json, level: usize) -> Arc<Shape> {
        let mut shape = self.node(schema, level);
        if shape.forms().is_some_and(|forms| forms.iter().any(|form| form.implied)) {
            let mut stripped = Arc::unwrap_or_clone(shape);
            stripped.strip_implied();
            let meant: Vec<&str> =
                stripped.forms().unwrap_or_default().iter().map(|form| form.rule.name()).collect();
            let note = format!("taken to be {}", meant.join(" or "));
            self.found("type", Finding::narrowing(Fate::Enforced, note));
            shape = stripped.shared();
        }
        if shape.is_nothing() {
            self.found("(schema)", Finding::new(Fate::Dropped, "no value fits, so any is taken"));
        }
        shape
    }

    /// A node, which may be a part of another one.
    pub(super) fn node(&mut self, schema: &'s Json, level: usize) -> Arc<Shape> {
        self.visits = self.visits.saturating_add(1);
        if level > self.limits.depth || self.visits > self.limits.nodes {
            let (limit, what) = if level > self.limits.depth {
                ("(depth)", format!("deeper than {} levels", self.limits.depth))
            } else {
                ("(size)", format!("more than {} nodes", self.limits.nodes))
            };
            self.found(limit, Finding::new(Fate::Dropped, format!("{what}, so anything is taken")));
            return Arc::default();
        }
        match schema {
            Json::Bool(true) => Arc::default(),
            Json::Bool(false) => Shape::nothing().shared(),
            Json::Object(node) => self.keywords(node, level),
            Json::Null | Json::Number(_) | Json::String(_) | Json::Array(_) => {
                let note = format!("is no schema but {}", words::found(schema));
                self.found("(schema)", Finding::new(Fate::Dropped, note));
                Arc::default()
            }
        }
    }

    fn keywords(&mut self, node: &'s Object, level: usize) -> Arc<Shape> {
        let below = level.saturating_add(1);
        let mut shape = Shape::default();
        if let Some((key, reference)) =
            ["$ref", "$dynamicRef", "$recursiveRef"].into_iter().find_map(|key| Some((key, node.get(key)?)))
        {
            let target = self.reference(key, reference, below);
            if self.document.lonely_refs || node.len() == 1 {
                let ignored: Vec<&Arc<str>> = node
                    .keys()
                    .filter(|name| ***name != *key && (***name == *"type" || !is_silent(name)))
                    .filter(|name| !ANNOTATIONS.contains(&&***name))
                    .collect();
                for name in ignored {
                    self.found(name, Finding::new(Fate::Dropped, "is ignored beside `$ref` in this draft"));
                }
                if !node.keys().any(|name| ANNOTATIONS.contains(&&**name)) {
                    return target;
                }
                self.annotations(node, &mut shape);
                return self.merge.meet(shape, &target).shared();
            }
            shape.takes = self.own(node, below);
            self.annotations(node, &mut shape);
            shape = self.merge.meet(shape, &target);
        } else {
            shape.takes = self.own(node, below);
            self.annotations(node, &mut shape);
        }
        self.remarks(node, &mut shape, below);
        if let Some(parts) = node.get("allOf") {
            shape = self.all_of(shape, parts, below);
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(branches) = node.get(key) {
                shape = self.alternatives(shape, key, branches, below);
            }
        }
        if node.get("nullable").and_then(Json::as_bool) == Some(true) {
            self.found("nullable", Finding::new(Fate::Enforced, "null is taken too"));
            if let Takes::Forms(forms) = &mut shape.takes
                && !forms.is_empty()
                && forms.iter().all(|form| form.rule.name() != "null")
            {
                forms.push(Form::new(Rule::Scalar(Scalar::Null, None)));
            }
        }
        shape.shared()
    }

    fn reference(&mut self, key: &str, reference: &'s Json, level: usize) -> Arc<Shape> {
        let target = reference.as_str().and_then(|text| self.document.resolve(text));
        let Some(Target { schema, steps }) = target else {
            let note = format!("{} is not in this document", words::excerpt(reference));
            self.found(key, Finding::new(Fate::Dropped, note));
            return Arc::default();
        };
        let address = std::ptr::from_ref(schema);
        if self.open.contains(&address) {
            let note = format!("{} contains itself, so anything is taken", words::excerpt(reference));
            self.found(key, Finding::new(Fate::Dropped, note));
            return Arc::default();
        }
        if let Some(shape) = self.defined.get(&address) {
            if level.saturating_add(shape.height) <= self.limits.depth {
                let shape = Arc::clone(shape);
                self.found(key, Finding::new(Fate::Enforced, "written out"));
                return shape;
            }
            let note = format!("deeper than {} levels, so anything is taken", self.limits.depth);
            self.found(key, Finding::new(Fate::Dropped, note));
            return Arc::default();
        }
        self.found(key, Finding::new(Fate::Enforced, "written out"));
        self.open.insert(address);
        let mut path = Path::new("schema");
        for step in steps {
            path.push(step);
        }
        let here = std::mem::replace(&mut self.path, path);
        let shape = self.node(schema, level);
        self.path = here;
        self.open.remove(&address);
        self.defined.insert(address, Arc::clone(&shape));
        shape
    }

    fn all_of(&mut self, mut shape: Shape, parts: &'s Json, level: usize) -> Shape {
        let Some(parts) = parts.as_array() else {
            self.found("allOf", Finding::new(Fate::Dropped, "is no list"));
            return shape;
        };
        self.merge.clear();
        for (at, part) in parts.iter().enumerate() {
            let part = self.part("allOf", at, part, level);
            shape = self.merge.meet(shape, &part);
        }
        let finding = if self.merge.loosened {
            Finding::new(Fate::Dropped, "merged in part: there is too much of it")
        } else {
            Finding::new(Fate::Enforced, "merged")
        };
        self.found("allOf", finding);
        shape
    }

    fn part(&mut self, key: &'static str, at: usize, schema: &'s Json, level: usize) -> Arc<Shape> {
        let depth = self.path.depth();
        self.path.push(Step::Key(key));
        self.path.push(Step::Index(at));
        let shape = self.node(schema, level);
        self.path.truncate(depth);
        shape
    }

    fn alternatives(&mut self, shape: Shape, key: &'static str, branches: &'s Json, level: usize) -> Shape {
        let Some(list) = branches.as_array().filter(|list| !list.is_empty()) else {
            self.found(key, Finding::new(Fate::Dropped, "is no list of alternatives"));
            return shape;
        };
        let lowered: Vec<Arc<Shape>> =
            list.iter().enumerate().map(|(at, branch)| self.part(key, at, branch, level)).collect();
        self.merge.clear();
        let base = Shape { takes: shape.takes.clone(), ..Shape::default() };
        let each = base.breadth().saturating_mul(list.len()) <= MAX_COPIED;
        let met: Vec<Shape> = lowered
            .iter()
            .map(|branch| self.merge.meet(if each { base.clone() } else { Shape::default() }, branch))
            .collect();
        let types = phrase::any_of(met.iter().flat_map(|branch| branch.forms().unwrap_or_default()));
        let joined = met.into_iter().reduce(|left, right| self.merge.join(left, right)).unwrap_or_default();
        let joined = if each { joined } else { self.merge.meet(base, &joined) };
        let loosened = self.merge.loosened || (key == "oneOf" && self.merge.overlapped);
        let mut result = Shape { takes: joined.takes, ..shape };
        result.notes.absorb(&joined.notes);
        if !loosened {
            self.found(key, Finding::new(Fate::Enforced, "forms that exclude each other"));
            return result;
        }
        let narrows = self.merge.narrowed;
        let said = phrase::required_names(list, key == "oneOf").or_else(|| {
            let short = types.chars().nth(200).is_none() && types.contains(" | ");
            (short && self.merge.loosened).then(|| format!("one of {types}"))
        });
        let fate = if said.is_some() { Fate::Described } else { Fate::Dropped };
        if let Some(words) = said {
            result.notes.remark(words);
        }
        let note = if self.merge.loosened {
            "alternatives that overlap are joined"
        } else {
            "more than one alternative may fit"
        };
        let finding = if narrows { Finding::narrowing(fate, note) } else { Finding::new(fate, note) };
        self.found(key, finding);
        result
    }

    /// The annotations of a node.
    fn annotations(&mut self, node: &'s Object, shape: &mut Shape) {
        for key in ANNOTATIONS {
            let Some(value) = node.get(key) else { continue };
            match (key, value) {
                ("description", Json::String(text)) => {
                    if text.chars().nth(self.limits.text).is_some() {
                        let note = format!("cut after {} characters", self.limits.text);
                        self.found(key, Finding::new(Fate::Described, note));
                    }
                    // With the mark of the cut it is as long as it may be, and a second import takes it as it is.
                    let text = words::cut(text, self.limits.text);
                    shape.notes.description = (!text.is_empty()).then(|| text.into());
                }
                ("description", _) => self.found(key, Finding::new(Fate::Dropped, "is no string")),
                ("title", value) if value.as_str().is_none() => {
                    self.found(key, Finding::new(Fate::Dropped, "is no string"));
                }
                (_, value) if phrase::is_small(value, self.limits.text) => shape.notes.annotate(key, value),
                _ => {
                    let note = format!("longer than {} characters", self.limits.text);
                    self.found(key, Finding::new(Fate::Dropped, note));
                }
            }
        }
        if let Some(example) = node.get("example")
            && phrase::is_small(example, self.limits.text)
        {
            self.found("example", Finding::new(Fate::Enforced, "as `examples`"));
            shape.notes.annotate("examples", &std::iter::once(example).collect());
        }
    }

    /// Keywords that are only told, or not even that.
    fn remarks(&mut self, node: &'s Object, shape: &mut Shape, level: usize) {
        for (name, value) in node {
            if is_silent(name) || ANNOTATIONS.contains(&&**name) || is_lowered(name) {
                continue;
            }
            if **name == *"unevaluatedProperties" && closes_what_is_left(node) {
                self.found(name, Finding::new(Fate::Enforced, "as `additionalProperties`"));
                continue;
            }
            let words = match &**name {
                "dependentRequired" | "dependencies" => {
                    value.as_object().and_then(phrase::dependencies).or_else(|| phrase::quoted(name, value))
                }
                "propertyNames" => {
                    let Some(words) = self.names(value, level) else { continue };
                    Some(words)
                }
                "if"
                | "then"
                | "else"
                | "not"
                | "dependentSchemas"
                | "unevaluatedItems"
                | "unevaluatedProperties" => phrase::quoted(name, value),
                _ => phrase::keyword(name, value, node),
            };
            match words {
                Some(words) => {
                    self.found(name, Finding::new(Fate::Described, words.clone()));
                    shape.notes.remark(words);
                }
                None if asks_for_nothing(name, value) => {}
                None => self.found(name, Finding::new(Fate::Dropped, phrase::excerpt(value))),
            }
        }
    }

    /// Adds an entry for a keyword of the node that the walk is at.
    pub(super) fn found(&mut self, keyword: &str, finding: Finding) {
        self.report.add(self.limits.entries, &self.path, keyword, finding);
    }
}

fn is_silent(name: &str) -> bool {
    SILENT.contains(&name)
}

/// Keywords that the walk reports where it lowers them.
fn is_lowered(name: &str) -> bool {
    matches!(
        name,
        "$ref"
            | "$dynamicRef"
            | "$recursiveRef"
            | "allOf"
            | "anyOf"
            | "oneOf"
            | "enum"
            | "const"
            | "properties"
            | "required"
            | "additionalProperties"
            | "patternProperties"
            | "items"
            | "prefixItems"
            | "additionalItems"
            | "contains"
            | "nullable"
            | "example"
    )
}

/// Constraints that every value meets.
fn asks_for_nothing(name: &str, value: &Json) -> bool {
    match name {
        "minLength" | "minItems" | "minProperties" => value.as_u64() == Some(0),
        "uniqueItems" | "deprecated" | "readOnly" | "writeOnly" => value.as_bool() == Some(false),
        "exclusiveMinimum" | "exclusiveMaximum" => value.as_bool().is_some(),
        "unevaluatedProperties" | "unevaluatedItems" | "additionalItems" => value.as_bool() == Some(true),
        _ => false,
    }
}
