//! What judging by a foreign schema can cost at most, and the schema as the judge takes it.

use std::collections::{BTreeSet, HashMap};

use dsh_json::{Json, Object};
use serde_json::{Map, Value};

use super::ImportLimits;
use super::phrase;
use super::refs::Document;

/// The cost of a node, references written out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cost {
    /// Nodes.
    pub(super) size: usize,
    /// Nodes that look at the same value at once.
    pub(super) beside: usize,
    /// Nodes in each other that look at the same value.
    pub(super) chain: usize,
    /// Nodes in each other.
    pub(super) height: usize,
    /// Whether some definition contains itself.
    pub(super) recursive: bool,
}

/// Where the schemas below a keyword look.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Looks {
    /// At the value itself.
    Beside,
    /// At its items or properties.
    Below,
    /// Nowhere, until a reference leads there.
    Elsewhere,
}

/// What stands below a keyword.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Content {
    Schema,
    /// One schema, or a list of them.
    Schemas,
    /// Schemas by name.
    Named,
}

fn keyword(name: &str) -> Option<(Looks, Content)> {
    Some(match name {
        "allOf" | "anyOf" | "oneOf" => (Looks::Beside, Content::Schemas),
        "not" | "if" | "then" | "else" => (Looks::Beside, Content::Schema),
        "dependentSchemas" | "dependencies" => (Looks::Beside, Content::Named),
        "properties" | "patternProperties" => (Looks::Below, Content::Named),
        "additionalProperties"
        | "unevaluatedProperties"
        | "propertyNames"
        | "contains"
        | "additionalItems"
        | "unevaluatedItems" => (Looks::Below, Content::Schema),
        "items" | "prefixItems" => (Looks::Below, Content::Schemas),
        "$defs" | "definitions" => (Looks::Elsewhere, Content::Named),
        _ => return None,
    })
}

/// The schemas below a keyword.
fn schemas(content: Content, value: &Json) -> Vec<&Json> {
    match (content, value) {
        (Content::Named, Json::Object(map)) => map.values().collect(),
        (Content::Schemas, Json::Array(list)) => list.iter().collect(),
        (Content::Schema | Content::Schemas, Json::Object(_) | Json::Bool(_)) => vec![value],
        _ => Vec::new(),
    }
}

/// The cost of judging by a schema.
///
/// # Errors
/// The limit that it exceeds.
pub(super) fn of(root: &Json, document: &Document<'_>, limits: &ImportLimits) -> Result<Cost, String> {
    let mut measure = Measure { document, depth: limits.judged_depth, known: HashMap::new() };
    let cost = measure.node(root, 0)?;
    if cost.size > limits.judged_nodes {
        return Err(format!(
            "it has more than {} nodes with its references written out",
            limits.judged_nodes
        ));
    }
    Ok(cost)
}

struct Measure<'s, 'd> {
    document: &'d Document<'s>,
    depth: usize,
    /// By address; nothing while the node is being measured.
    known: HashMap<*const Json, Option<Cost>>,
}

impl Measure<'_, '_> {
    fn node(&mut self, schema: &Json, level: usize) -> Result<Cost, String> {
        let mut cost = Cost { size: 1, beside: 1, chain: 1, height: 1, recursive: false };
        let Some(node) = schema.as_object() else { return Ok(cost) };
        match self.known.get(&std::ptr::from_ref(schema)) {
            Some(Some(known)) => return Ok(*known),
            Some(None) => return Ok(Cost { recursive: true, ..cost }),
            None => {}
        }
        if level >= self.depth {
            return Err(format!("it is nested deeper than {} levels", self.depth));
        }
        self.known.insert(std::ptr::from_ref(schema), None);
        for (name, value) in node {
            if let Some(target) = target(self.document, name, value) {
                cost.add(self.node(target, level.saturating_add(1))?, Looks::Beside);
            }
            let Some((looks, content)) = keyword(name).filter(|(looks, _)| *looks != Looks::Elsewhere) else {
                continue;
            };
            for child in schemas(content, value) {
                cost.add(self.node(child, level.saturating_add(1))?, looks);
            }
        }
        if cost.height > self.depth {
            return Err(format!("it is nested deeper than {} levels", self.depth));
        }
        self.known.insert(std::ptr::from_ref(schema), Some(cost));
        Ok(cost)
    }
}

fn target<'s>(document: &Document<'s>, name: &str, value: &Json) -> Option<&'s Json> {
    let reference = matches!(name, "$ref" | "$dynamicRef" | "$recursiveRef").then(|| value.as_str())??;
    document.find(reference)
}

impl Cost {
    fn add(&mut self, child: Self, looks: Looks) {
        self.size = self.size.saturating_add(child.size);
        self.height = self.height.max(child.height.saturating_add(1));
        self.recursive |= child.recursive;
        if looks == Looks::Beside {
            self.beside = self.beside.saturating_add(child.beside);
            self.chain = self.chain.max(child.chain.saturating_add(1));
        } else {
            // What looks at values further down counts for the widest of them.
            self.beside = self.beside.max(child.beside);
            self.chain = self.chain.max(child.chain);
        }
    }
}

/// A schema as the judge takes it: without texts, without references that lead nowhere, and with the spellings of `OpenAPI`
/// and of draft 4 written as they are now.
///
/// # Errors
/// The limit that it exceeds.
pub(super) fn converted(
    root: &Json,
    document: &Document<'_>,
    limits: &ImportLimits,
) -> Result<Value, String> {
    let dialect = root.get("$schema").and_then(Json::as_str);
    let modern = dialect.is_none_or(|dialect| !dialect.contains("draft-04"));
    let mut convert = Convert { document, limits, modern, nodes: 0 };
    convert.node(root, 0)
}

struct Convert<'s, 'd> {
    document: &'d Document<'s>,
    limits: &'d ImportLimits,
    /// Whether bounds exclude by a number of their own.
    modern: bool,
    nodes: usize,
}

impl Convert<'_, '_> {
    fn node(&mut self, schema: &Json, level: usize) -> Result<Value, String> {
        self.nodes = self.nodes.saturating_add(1);
        if level > self.limits.judged_depth {
            return Err(format!("it is nested deeper than {} levels", self.limits.judged_depth));
        }
        if self.nodes > self.limits.judged_nodes {
            return Err(format!("it has more than {} nodes", self.limits.judged_nodes));
        }
        let node = match schema {
            Json::Object(node) => node,
            Json::Bool(flag) => return Ok(Value::Bool(*flag)),
            // The import says that it is no schema, and takes anything.
            Json::Null | Json::Number(_) | Json::String(_) | Json::Array(_) => return Ok(Value::Bool(true)),
        };
        let mut product = Map::new();
        for (name, value) in node.iter() {
            if let Some((name, value)) = self.member(node, name, value, level)? {
                product.insert(name, value);
            }
        }
        if node.get("nullable").and_then(Json::as_bool) == Some(true) {
            let null = Value::Object(Map::from_iter([("type".to_owned(), "null".into())]));
            let either = Value::Array(vec![null, Value::Object(product)]);
            return Ok(Value::Object(Map::from_iter([("anyOf".to_owned(), either)])));
        }
        Ok(Value::Object(product))
    }

    fn member(
        &mut self,
        node: &Object,
        name: &str,
        value: &Json,
        level: usize,
    ) -> Result<Option<(String, Value)>, String> {
        let below = level.saturating_add(1);
        if let Some((_, content)) = keyword(name) {
            let converted = match (content, value) {
                (Content::Named, Json::Object(map)) => {
                    let mut named = Map::new();
                    for (name, schema) in map.iter() {
                        // Names that a name needs, as `dependencies` lists them.
                        let names = schema.as_array().is_some();
                        let schema = if names { self.data(schema)? } else { self.node(schema, below)? };
                        named.insert(name.to_string(), schema);
                    }
                    Value::Object(named)
                }
                (Content::Schemas, Json::Array(list)) => {
                    let list: Result<Vec<Value>, String> =
                        list.iter().map(|schema| self.node(schema, below)).collect();
                    Value::Array(list?)
                }
                (Content::Schema | Content::Schemas, schema) => self.node(schema, below)?,
                (Content::Named, _) => return Ok(None),
            };
            return Ok(Some((name.to_owned(), converted)));
        }
        let excludes = |key: &str| self.modern && node.get(key).and_then(Json::as_bool).is_some();
        let excluded = |key: &str| self.modern && node.get(key).and_then(Json::as_bool) == Some(true);
        let renamed = match name {
            "title" | "description" | "default" | "examples" | "example" | "$comment" | "nullable" => {
                return Ok(None);
            }
            "exclusiveMinimum" | "exclusiveMaximum" if excludes(name) => return Ok(None),
            "minimum" if excluded("exclusiveMinimum") => "exclusiveMinimum",
            "maximum" if excluded("exclusiveMaximum") => "exclusiveMaximum",
            "required" => {
                let Some(names) = value.as_array() else { return Ok(None) };
                let once: BTreeSet<&str> = names.iter().filter_map(Json::as_str).collect();
                let names = once.into_iter().map(Value::from).collect();
                return Ok(Some((name.to_owned(), names)));
            }
            "$ref" | "$dynamicRef" | "$recursiveRef" if target(self.document, name, value).is_none() => {
                return Ok(None);
            }
            name => name,
        };
        Ok(Some((renamed.to_owned(), self.data(value)?)))
    }

    fn data(&self, value: &Json) -> Result<Value, String> {
        let limit = self.limits.judged_depth;
        if value.depth() > limit {
            return Err(format!("it has a value nested deeper than {limit} levels"));
        }
        if !phrase::is_small(value, self.limits.bytes) {
            return Err(format!("it has a value of more than {} bytes", self.limits.bytes));
        }
        serde_json::to_value(value).map_err(|error| error.to_string())
    }
}
