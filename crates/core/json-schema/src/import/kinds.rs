//! The keywords that belong to kinds of values: types, literals, properties and items.

use std::sync::Arc;

use dsh_json::{Json, Kind, Object};

use super::phrase;
use super::report::{Fate, Finding};
use super::shape::{Field, Fields, Form, Rule, Shape, Takes};
use super::walk::Walk;
use crate::assert::scalar_named;
use crate::path::Step;
use crate::program::Scalar;
use crate::words;

const OBJECT_KEYWORDS: [&str; 4] = ["properties", "required", "additionalProperties", "patternProperties"];
const ARRAY_KEYWORDS: [&str; 3] = ["items", "prefixItems", "contains"];
/// In the order in which what is only implied is taken.
const TYPES: [&str; 6] = ["object", "array", "string", "number", "boolean", "null"];

impl<'s> Walk<'s> {
    /// What a node takes by its own keywords, without references and combinations.
    pub(super) fn own(&mut self, node: &'s Object, level: usize) -> Takes {
        let declared = self.declared(node);
        let literals = self.literals(node, declared.as_deref());
        let has = |keywords: &[&str]| keywords.iter().any(|key| node.contains_key(key));
        let (object, array) = (has(&OBJECT_KEYWORDS), has(&ARRAY_KEYWORDS));
        let mut forms = match (literals, declared) {
            (Some(forms), _) => forms,
            (None, Some(types)) => types.into_iter().map(|name| Form::new(empty(name))).collect(),
            (None, None) if object || array => TYPES
                .into_iter()
                .map(|name| {
                    let implied = !(name == "object" && object || name == "array" && array);
                    Form { implied, ..Form::new(empty(name)) }
                })
                .collect(),
            (None, None) => return Takes::Anything,
        };
        let listed = node.contains_key("enum") || node.contains_key("const");
        for (keywords, name) in [(&OBJECT_KEYWORDS[..], "object"), (&ARRAY_KEYWORDS[..], "array")] {
            let form = forms.iter_mut().find(|form| form.rule.name() == name).filter(|_| !listed);
            match form {
                Some(form) if name == "object" => self.object(form, node, level),
                Some(form) => self.array(form, node, level),
                None => {
                    for key in keywords.iter().filter(|key| node.contains_key(key)) {
                        self.found(key, Finding::new(Fate::Dropped, format!("no {name} is taken here")));
                    }
                }
            }
        }
        Takes::Forms(forms)
    }

    /// The types that `type` names; nothing when there is none that means something.
    fn declared(&mut self, node: &'s Object) -> Option<Vec<&'s str>> {
        let said = node.get("type")?;
        let names = match said {
            Json::String(_) => std::slice::from_ref(said),
            Json::Array(_) | Json::Null | Json::Bool(_) | Json::Number(_) | Json::Object(_) => {
                said.as_array().unwrap_or_default()
            }
        };
        let mut types: Vec<&str> = Vec::new();
        let mut unknown = names.is_empty();
        for name in names {
            match name.as_str() {
                Some(name) if TYPES.contains(&name) || name == "integer" => {
                    if !types.contains(&name) {
                        types.push(name);
                    }
                }
                Some(_) | None => unknown = true,
            }
        }
        if unknown {
            let note = format!("{} is no type", words::excerpt(said));
            self.found("type", Finding::new(Fate::Dropped, note));
            return None;
        }
        if types.contains(&"number") {
            types.retain(|name| *name != "integer");
        }
        if said.as_str().is_none() && types.len() > 1 {
            self.found("type", Finding::new(Fate::Enforced, "one form for each type"));
        }
        Some(types)
    }

    /// A form for each kind among the literals; nothing when there are none, or too many.
    fn literals(&mut self, node: &'s Object, types: Option<&[&str]>) -> Option<Vec<Form>> {
        let constant = node.get("const");
        let list = match (node.get("enum"), constant) {
            (Some(Json::Array(_)), _) => node.get("enum").and_then(Json::as_array).unwrap_or_default(),
            (Some(_), None) => {
                self.found("enum", Finding::new(Fate::Dropped, "is no list"));
                return None;
            }
            (_, Some(constant)) => std::slice::from_ref(constant),
            (None, None) => return None,
        };
        if list.len() > self.limits.literals {
            let note = format!("has {} members, more than {}", list.len(), self.limits.literals);
            self.found("enum", Finding::new(Fate::Dropped, note));
            return None;
        }
        let mut forms: Vec<Form> = Vec::new();
        let mut containers = Vec::new();
        for literal in list.iter().filter(|literal| constant.is_none_or(|constant| constant == *literal)) {
            let Some((name, scalar)) = type_among(literal, types) else { continue };
            let rule = match scalar {
                Some(Scalar::Null) => Rule::Scalar(Scalar::Null, None),
                Some(scalar) => Rule::Scalar(scalar, Some(vec![literal.clone()])),
                None => {
                    containers.push(literal);
                    empty(name)
                }
            };
            match (
                forms.iter_mut().find(|form| form.rule.kind() == rule.kind()).map(|form| &mut form.rule),
                rule,
            ) {
                (Some(Rule::Scalar(known, Some(all))), Rule::Scalar(scalar, Some(one))) => {
                    all.extend(one);
                    if *known != scalar {
                        *known = Scalar::Number;
                    }
                }
                (Some(_), _) => {}
                (None, rule) => forms.push(Form::new(rule)),
            }
        }
        let key = if constant.is_some() { "const" } else { "enum" };
        if !containers.is_empty() {
            let said = if containers.len() == 1 && list.len() == 1 {
                containers.first().and_then(|only| phrase::quoted("exactly", only))
            } else {
                phrase::quoted("one of", &containers.iter().copied().collect::<Json>())
            };
            let fate = if said.is_some() { Fate::Described } else { Fate::Dropped };
            self.found(key, Finding::new(fate, "arrays and objects are no literals"));
            let container = forms.iter_mut().find(|form| !matches!(form.rule, Rule::Scalar(..)));
            if let (Some(form), Some(said)) = (container, said) {
                form.notes.remark(said);
            }
        } else if types.is_none() || forms.len() > 1 {
            self.found(key, Finding::new(Fate::Enforced, "with the types of its members"));
        }
        Some(forms)
    }

    fn object(&mut self, form: &mut Form, node: &'s Object, level: usize) {
        let mut fields = Fields::default();
        let open_names = node.contains_key("patternProperties");
        let others = node.get("additionalProperties");
        let declared = node.get("properties").and_then(Json::as_object);
        if let (Some(said), None) = (node.get("properties"), declared) {
            let note = format!("is {}", words::found(said));
            self.found("properties", Finding::new(Fate::Dropped, note));
        }
        let refused = others.and_then(Json::as_bool) == Some(false) || closes_what_is_left(node);
        fields.closed = refused && !open_names;
        for (name, schema) in declared.into_iter().flatten() {
            let depth = self.path.depth();
            self.path.push(Step::Key("properties"));
            self.path.push(Step::Key(name));
            if schema.as_bool() == Some(false) {
                let fate = if fields.closed { Fate::Enforced } else { Fate::Described };
                self.found("(schema)", Finding::new(fate, "must be absent"));
                if !fields.closed {
                    form.notes.remark(format!("without `{}`", words::shorten(name, 60)));
                }
            } else {
                let shape = self.value(schema, level);
                fields.put(Field { name: Arc::clone(name), shape, required: false });
            }
            self.path.truncate(depth);
        }
        let other = self.others(form, others, &fields, level);
        self.patterns(form, node, level);
        self.required(&mut fields, node, other.as_ref().filter(|_| !open_names));
        form.rule = Rule::Object(fields);
    }

    /// `additionalProperties` beyond true and false; returns what other properties take, if that is said.
    fn others(
        &mut self,
        form: &mut Form,
        said: Option<&'s Json>,
        fields: &Fields,
        level: usize,
    ) -> Option<Arc<Shape>> {
        let said = said?;
        if said.as_bool().is_some() {
            return None;
        }
        let depth = self.path.depth();
        self.path.push(Step::Key("additionalProperties"));
        let shape = self.value(said, level);
        self.path.truncate(depth);
        if shape.is_anything() && shape.notes.remarks.is_empty() {
            self.found("additionalProperties", Finding::new(Fate::Enforced, "any JSON"));
            return None;
        }
        let which = if fields.len() == 0 { "each value" } else { "each other value" };
        let mut words = format!("{which}: {}", phrase::of(&shape));
        if let Some(description) = &shape.notes.description {
            words = format!("{words}, {}", words::shorten(&lower_first(description), 120));
        }
        self.found("additionalProperties", Finding::new(Fate::Described, words.clone()));
        form.notes.remark(words.trim_end_matches('.').to_owned());
        Some(shape)
    }

    fn patterns(&mut self, form: &mut Form, node: &'s Object, level: usize) {
        if let Some(patterns) = node.get("patternProperties").and_then(Json::as_object) {
            let mut rules = Vec::new();
            for (pattern, schema) in patterns.iter().take(8) {
                let depth = self.path.depth();
                self.path.push(Step::Key("patternProperties"));
                self.path.push(Step::Key(pattern));
                let shape = self.value(schema, level);
                self.path.truncate(depth);
                rules.push(format!("names like `{}`: {}", words::shorten(pattern, 60), phrase::of(&shape)));
            }
            if node.get("additionalProperties").and_then(Json::as_bool) == Some(false) {
                rules.push("no other names".to_owned());
            }
            let words = rules.join(", ");
            self.found("patternProperties", Finding::new(Fate::Described, words.clone()));
            form.notes.remark(words);
        }
    }

    /// What property names have to be, in words; nothing when any will do.
    pub(super) fn names(&mut self, schema: &'s Json, level: usize) -> Option<String> {
        let depth = self.path.depth();
        self.path.push(Step::Key("propertyNames"));
        let shape = self.node(schema, level);
        self.path.truncate(depth);
        let words = if shape.is_anything() { shape.notes.remarks.join(", ") } else { phrase::of(&shape) };
        (!takes_every_string(&shape)).then(|| format!("names: {}", words::shorten(&words, 240)))
    }

    /// Marks what has to be there; a name without a schema takes what other properties take.
    fn required(&mut self, fields: &mut Fields, node: &'s Object, other: Option<&Arc<Shape>>) {
        let Some(said) = node.get("required") else { return };
        let Some(names) = said.as_array() else {
            return self.found("required", Finding::new(Fate::Dropped, "is no list of names"));
        };
        for name in names {
            let Some(text) = name.as_str() else {
                let note = format!("{} is no name", words::excerpt(name));
                self.found("required", Finding::new(Fate::Dropped, note));
                continue;
            };
            if fields.require(text) {
                continue;
            }
            let absent = node.get("properties").and_then(|map| map.get(text)).is_some();
            if fields.closed || absent {
                let note = format!("{} can not be there", words::quoted(text));
                self.found("required", Finding::new(Fate::Dropped, note));
                continue;
            }
            let note = format!("{} is declared", words::quoted(text));
            self.found("required", Finding::new(Fate::Enforced, note));
            let shape = other.cloned().unwrap_or_default();
            fields.put(Field { name: text.into(), shape, required: true });
        }
    }

    fn array(&mut self, form: &mut Form, node: &'s Object, level: usize) {
        let (tuple, rest, key) = match (node.get("prefixItems").and_then(Json::as_array), node.get("items")) {
            (Some(tuple), rest) => (Some(tuple), rest, "prefixItems"),
            (None, Some(Json::Array(_))) => {
                let tuple = node.get("items").and_then(Json::as_array);
                (tuple, node.get("additionalItems"), "items")
            }
            (None, rest) => (None, rest, "items"),
        };
        let items = match (tuple, rest) {
            (Some(tuple), rest) => self.tuple(form, tuple, rest, key, level),
            (None, Some(Json::Bool(false))) => {
                self.found("items", Finding::new(Fate::Described, "an empty array"));
                form.notes.remark("an empty array".to_owned());
                None
            }
            (None, Some(items)) => Some(self.item("items", None, items, level)),
            (None, None) => None,
        };
        if let Some(contained) = node.get("contains") {
            let shape = self.item("contains", None, contained, level);
            let words = format!("at least one item is {}", phrase::of(&shape));
            self.found("contains", Finding::new(Fate::Described, words.clone()));
            form.notes.remark(words);
        }
        form.rule = Rule::Array(items.filter(|items| !items.is_anything() || !items.notes.is_empty()));
    }

    /// One schema for all items of a tuple, and the order in words.
    fn tuple(
        &mut self,
        form: &mut Form,
        tuple: &'s [Json],
        rest: Option<&'s Json>,
        key: &'static str,
        level: usize,
    ) -> Option<Arc<Shape>> {
        let mut shapes: Vec<Arc<Shape>> =
            tuple.iter().enumerate().map(|(at, item)| self.item(key, Some(at), item, level)).collect();
        let mut words: Vec<String> = shapes.iter().take(8).map(|shape| phrase::of(shape)).collect();
        if shapes.len() > words.len() {
            words.push("…".to_owned());
        }
        let rest_key = if key == "items" { "additionalItems" } else { "items" };
        let open = match rest {
            Some(Json::Bool(false)) => false,
            Some(schema) => {
                let shape = self.item(rest_key, None, schema, level);
                words.push(format!("then any number of {}", phrase::of(&shape)));
                shapes.push(shape);
                false
            }
            None => true,
        };
        let words = format!("items in order: {}", words.join(", "));
        self.found(key, Finding::new(Fate::Described, words.clone()));
        form.notes.remark(words);
        if open {
            return None;
        }
        let mut shapes = shapes.into_iter().map(Arc::unwrap_or_clone);
        let first = shapes.next()?;
        Some(shapes.fold(first, |all, shape| self.merge.join(all, shape)).shared())
    }

    fn item(&mut self, key: &'static str, at: Option<usize>, schema: &'s Json, level: usize) -> Arc<Shape> {
        let depth = self.path.depth();
        self.path.push(Step::Key(key));
        if let Some(at) = at {
            self.path.push(Step::Index(at));
        }
        let shape = self.value(schema, level);
        self.path.truncate(depth);
        shape
    }
}

/// The rule of a type that asks for nothing else.
pub(super) fn empty(name: &str) -> Rule {
    match name {
        "object" => Rule::Object(Fields::default()),
        "array" => Rule::Array(None),
        scalar => Rule::Scalar(scalar_named(scalar).unwrap_or(Scalar::Null), None),
    }
}

/// Whether `unevaluatedProperties` is `additionalProperties` by another name, because nothing else says which there are.
pub(super) fn closes_what_is_left(node: &Object) -> bool {
    const OTHERS: [&str; 13] = [
        "enum",
        "const",
        "additionalProperties",
        "patternProperties",
        "$ref",
        "$dynamicRef",
        "$recursiveRef",
        "allOf",
        "anyOf",
        "oneOf",
        "if",
        "dependentSchemas",
        "dependencies",
    ];
    node.get("unevaluatedProperties").and_then(Json::as_bool) == Some(false)
        && node.contains_key("properties")
        && !OTHERS.iter().any(|key| node.contains_key(key))
}

fn takes_every_string(shape: &Shape) -> bool {
    let Some(forms) = shape.forms() else { return shape.notes.remarks.is_empty() };
    shape.notes.remarks.is_empty()
        && forms.iter().any(|form| {
            matches!(form.rule, Rule::Scalar(Scalar::String, None)) && form.notes.remarks.is_empty()
        })
}

/// The type of a literal among those that are declared, or its own.
fn type_among(literal: &Json, types: Option<&[&str]>) -> Option<(&'static str, Option<Scalar>)> {
    let scalar = match literal.kind() {
        Kind::Array => return declared_container("array", types),
        Kind::Object => return declared_container("object", types),
        Kind::Null => Scalar::Null,
        Kind::Boolean => Scalar::Boolean,
        Kind::String => Scalar::String,
        Kind::Number => {
            let integers = types.map_or(Scalar::Integer.fits(literal), |types| types.contains(&"integer"));
            if integers { Scalar::Integer } else { Scalar::Number }
        }
    };
    let declared = types.is_none_or(|types| types.contains(&scalar.name()));
    (declared && scalar.fits(literal)).then_some((scalar.name(), Some(scalar)))
}

fn declared_container(name: &'static str, types: Option<&[&str]>) -> Option<(&'static str, Option<Scalar>)> {
    types.is_none_or(|types| types.contains(&name)).then_some((name, None))
}

fn lower_first(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next();
    let is_word = letters.clone().next().is_some_and(char::is_lowercase);
    match first {
        Some(first) if is_word => first.to_lowercase().chain(letters).collect(),
        Some(_) | None => text.to_owned(),
    }
}

/// The root of a tool's arguments: one object, whatever else is taken.
///
/// # Errors
/// The kinds that are taken instead, when no object is.
pub(super) fn one_object(walk: &mut Walk<'_>, shape: Shape) -> Result<Shape, String> {
    let mut shape = shape;
    let forms = match shape.takes {
        Takes::Anything => vec![Form::new(empty("object"))],
        Takes::Forms(forms) => forms,
    };
    let (mut objects, others): (Vec<Form>, Vec<Form>) =
        forms.into_iter().partition(|form| form.rule.kind() == Kind::Object);
    if objects.is_empty() && !others.is_empty() {
        return Err(others.iter().map(|form| form.rule.name()).collect::<Vec<_>>().join(" or "));
    }
    if !others.is_empty() {
        walk.found("type", Finding::narrowing(Fate::Enforced, "arguments are an object"));
    }
    if objects.len() > 1 {
        let types = phrase::any_of(objects.iter());
        walk.merge.clear();
        walk.merge.join_objects(&mut objects);
        let narrows = walk.merge.narrowed;
        let note = "alternatives at the root are joined into one object";
        let finding = if narrows {
            Finding::narrowing(Fate::Described, note)
        } else {
            Finding::new(Fate::Described, note)
        };
        walk.found("(schema)", finding);
        shape.notes.remark(format!("one of {types}"));
    }
    if objects.is_empty() {
        walk.found("(schema)", Finding::new(Fate::Dropped, "no value fits, so any object is taken"));
        objects.push(Form::new(empty("object")));
    }
    shape.takes = Takes::Forms(objects);
    Ok(shape)
}
