//! The JSON form of the author DSL (spec 04 §3): openness is mandatory, `required` is a mark on a property.

use dsh_json::{Json, Object};

use crate::assert::{ANNOTATIONS, MAX_SCHEMA_ENTRIES, Place, push_in_order, scalar_named, too_large};
use crate::path::Path;
use crate::schema::Schema;
use crate::violation::{JsonSchemaError, Violation, ViolationKind, Violations};
use crate::words;

/// Compiles an author's value schema, which may have any root.
///
/// # Errors
/// The first violation of the author's form (label `schema`), or all those of the assert on its product.
pub fn compile_value(spec: &Json) -> Result<Schema, JsonSchemaError> {
    let mut walk = Walk::new("schema");
    walk.todo.push(Task::Node { spec, parent: 0, place: Place::Root });
    Schema::new(&walk.run()?)
}

/// Compiles an author's property map into an open object, the parameters of a tool.
///
/// # Errors
/// The first violation of the author's form (label `parameters`), or all those of the assert on its product
/// (label `schema`).
pub fn compile_params(spec: &Json) -> Result<Schema, JsonSchemaError> {
    let mut walk = Walk::new("parameters");
    let Some(map) = spec.as_object() else {
        let words = format!("has to be an object of properties; found {}", words::found(spec));
        return Err(walk.violation(None, ViolationKind::DslNotPropertyMap, words));
    };
    walk.todo.push(Task::CloseParams { map });
    walk.members(map, Place::Parameter);
    Schema::new(&walk.run()?)
}

/// Puts the annotations that `node` has into `product`, in their order.
fn annotate(product: &mut Object, node: &Object) {
    for key in ANNOTATIONS {
        if let Some(value) = node.get(key) {
            product.insert(key, value.clone());
        }
    }
}

/// The beginning of a product that has a type.
fn typed(node: &Object) -> Object {
    let mut product = Object::new();
    if let Some(name) = node.get("type") {
        product.insert("type", name.clone());
    }
    annotate(&mut product, node);
    product
}

struct Walk<'s> {
    path: Path<'s>,
    todo: Vec<Task<'s>>,
    /// Finished products, children before their parent.
    done: Vec<Json>,
    entries: usize,
}

enum Task<'s> {
    Node { spec: &'s Json, parent: usize, place: Place<'s> },
    CloseArray { node: &'s Object },
    CloseObject { node: &'s Object, map: Option<&'s Object> },
    CloseUnion { node: &'s Object, branches: usize },
    CloseParams { map: &'s Object },
}

impl<'s> Walk<'s> {
    fn new(root: &'s str) -> Self {
        Self { path: Path::new(root), todo: Vec::new(), done: Vec::new(), entries: 0 }
    }

    fn run(&mut self) -> Result<Json, JsonSchemaError> {
        while let Some(task) = self.todo.pop() {
            match task {
                Task::Node { spec, parent, place } => {
                    place.enter(&mut self.path, parent);
                    self.node(spec, matches!(place, Place::Parameter(_) | Place::Property(_)))?;
                }
                Task::CloseArray { node } => self.close_array(node),
                Task::CloseObject { node, map } => self.close_object(node, map),
                Task::CloseUnion { node, branches } => self.close_union(node, branches),
                Task::CloseParams { map } => self.close_params(map),
            }
            if self.entries > MAX_SCHEMA_ENTRIES {
                self.path.truncate(0);
                return Err(JsonSchemaError::new(too_large(&self.path.render())));
            }
        }
        Ok(self.done.pop().unwrap_or(Json::Null))
    }

    fn node(&mut self, spec: &'s Json, member: bool) -> Result<(), JsonSchemaError> {
        let Some(node) = spec.as_object() else {
            let words = format!("has to be a schema object; found {}", words::found(spec));
            return Err(self.violation(None, ViolationKind::DslNotValueSchema, words));
        };
        self.entries = self.entries.saturating_add(1).saturating_add(node.len());
        if let Some(branches) = node.get("oneOf") {
            self.keys(node, &["oneOf", "type"], member)?;
            return self.union(node, branches);
        }
        match node.get("type").and_then(Json::as_str) {
            Some("json") => {
                self.keys(node, &["type"], member)?;
                let mut product = Object::new();
                annotate(&mut product, node);
                self.done.push(product.into());
                Ok(())
            }
            Some("array") => {
                self.keys(node, &["type", "items"], member)?;
                self.array(node);
                Ok(())
            }
            Some("object") => {
                self.keys(node, &["type", "additionalProperties", "properties"], member)?;
                self.object(node)
            }
            Some(name) if scalar_named(name).is_some() => {
                self.keys(node, &["type", "enum", "const"], member)?;
                self.scalar(node)
            }
            Some(_) | None => {
                self.required_mark(node, member)?;
                let words = "has to be one of object, array, string, number, integer, boolean, null, json";
                Err(self.violation(Some("type"), ViolationKind::DslBadType, words.to_owned()))
            }
        }
    }

    /// Refuses keys outside the vocabulary of the node's form; `required` belongs to members only.
    fn keys(&self, node: &Object, form: &[&str], member: bool) -> Result<(), JsonSchemaError> {
        for key in node.keys() {
            let known =
                form.contains(&&**key) || ANNOTATIONS.contains(&&**key) || (member && &**key == "required");
            if !known {
                let words = if &**key == "required" {
                    "stands only on the members of a property map; remove it".to_owned()
                } else {
                    format!("is not a key of this form; it takes {} and annotations", form.join(", "))
                };
                return Err(self.violation(Some(key), ViolationKind::DslKey, words));
            }
        }
        self.required_mark(node, member)
    }

    fn required_mark(&self, node: &Object, member: bool) -> Result<(), JsonSchemaError> {
        match node.get("required") {
            Some(mark) if member && mark.as_bool() != Some(true) => {
                let words = format!("has to be true or absent; found {}", words::found(mark));
                Err(self.violation(Some("required"), ViolationKind::DslRequiredNotTrue, words))
            }
            Some(_) | None => Ok(()),
        }
    }

    fn union(&mut self, node: &'s Object, branches: &'s Json) -> Result<(), JsonSchemaError> {
        if node.contains_key("type") {
            let words = "has both \"type\" and \"oneOf\"; keep one of them".to_owned();
            return Err(self.violation(None, ViolationKind::TypeAndOneof, words));
        }
        let Some(list) = branches.as_array() else {
            let words = format!("has to be an array of schemas; found {}", words::found(branches));
            return Err(self.violation(Some("oneOf"), ViolationKind::DslOneofNotArray, words));
        };
        let parent = self.path.depth();
        self.todo.push(Task::CloseUnion { node, branches: list.len() });
        let tasks = list.iter().enumerate();
        let tasks = tasks.map(|(index, spec)| Task::Node { spec, parent, place: Place::Branch(index) });
        push_in_order(&mut self.todo, tasks);
        Ok(())
    }

    fn array(&mut self, node: &'s Object) {
        self.todo.push(Task::CloseArray { node });
        if let Some(spec) = node.get("items") {
            self.todo.push(Task::Node { spec, parent: self.path.depth(), place: Place::Items });
        }
    }

    fn object(&mut self, node: &'s Object) -> Result<(), JsonSchemaError> {
        if node.get("additionalProperties").and_then(Json::as_bool).is_none() {
            let key = Some("additionalProperties");
            let words = "has to say true (open) or false (closed)".to_owned();
            return Err(self.violation(key, ViolationKind::DslOpennessMissing, words));
        }
        let properties = node.get("properties");
        let map = properties.and_then(Json::as_object);
        if let (Some(properties), None) = (properties, map) {
            let words = format!("has to be an object of properties; found {}", words::found(properties));
            return Err(self.violation(Some("properties"), ViolationKind::DslNotPropertyMap, words));
        }
        self.todo.push(Task::CloseObject { node, map });
        if let Some(map) = map {
            self.members(map, Place::Property);
        }
        Ok(())
    }

    fn members(&mut self, map: &'s Object, place: impl Fn(&'s str) -> Place<'s>) {
        self.entries = self.entries.saturating_add(map.len());
        let parent = self.path.depth();
        let tasks = map.iter().map(|(name, spec)| Task::Node { spec, parent, place: place(name) });
        push_in_order(&mut self.todo, tasks);
    }

    fn scalar(&mut self, node: &Object) -> Result<(), JsonSchemaError> {
        if let Some(list) = node.get("enum").filter(|list| list.as_array().is_none()) {
            let words = format!("has to be an array of literals; found {}", words::found(list));
            return Err(self.violation(Some("enum"), ViolationKind::DslEnumNotArray, words));
        }
        let mut product = typed(node);
        for key in ["enum", "const"] {
            if let Some(value) = node.get(key) {
                product.insert(key, value.clone());
            }
        }
        self.done.push(product.into());
        Ok(())
    }

    fn close_array(&mut self, node: &Object) {
        let items = node.contains_key("items").then(|| self.done.pop()).flatten();
        let mut product = typed(node);
        if let Some(items) = items {
            product.insert("items", items);
        }
        self.done.push(product.into());
    }

    fn close_object(&mut self, node: &Object, map: Option<&Object>) {
        let mut product = typed(node);
        if let Some(openness) = node.get("additionalProperties") {
            product.insert("additionalProperties", openness.clone());
        }
        if let Some(map) = map {
            self.close_members(&mut product, map);
        }
        self.done.push(product.into());
    }

    fn close_params(&mut self, map: &Object) {
        let mut product = Object::new();
        product.insert("type", "object");
        self.close_members(&mut product, map);
        self.done.push(product.into());
    }

    /// Adds `properties`, and `required` when it is not empty.
    fn close_members(&mut self, product: &mut Object, map: &Object) {
        let schemas = self.done.split_off(self.done.len().saturating_sub(map.len()));
        let properties: Object = map.keys().cloned().zip(schemas).collect();
        let required: Vec<Json> = map
            .iter()
            .filter(|(_, spec)| spec.get("required").is_some())
            .map(|(name, _)| Json::from(name.clone()))
            .collect();
        product.insert("properties", properties);
        if !required.is_empty() {
            product.insert("required", required);
        }
    }

    fn close_union(&mut self, node: &Object, branches: usize) {
        let schemas = self.done.split_off(self.done.len().saturating_sub(branches));
        let mut product = Object::new();
        product.insert("oneOf", schemas);
        annotate(&mut product, node);
        self.done.push(product.into());
    }

    fn violation(&self, key: Option<&str>, kind: ViolationKind, words: String) -> JsonSchemaError {
        let path = key.map_or_else(|| self.path.render(), |key| self.path.render_member(key));
        let mut found = Violations::default();
        found.add(1, || Violation::new(kind, path, None, words));
        JsonSchemaError::new(found)
    }
}
