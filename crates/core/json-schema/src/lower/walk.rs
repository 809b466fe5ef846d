//! The walk over what `schemars` wrote.

use std::sync::Arc;

use dsh_json::{Json, Object};

use super::union;
use super::{Dropped, LowerError};
use crate::assert::{ANNOTATIONS, Place};
use crate::path::Path;

/// No type nests deeper in earnest.
const MAX_DEPTH: usize = 128;

/// Keywords that carry nothing for us and are not worth a report.
const SILENT: [&str; 3] = ["$schema", "$comment", "$defs"];

/// Lowers a root schema.
pub(super) fn lower(root: &Json) -> Result<(Json, Vec<Dropped>), LowerError> {
    let mut walk = Walk { path: Path::new("schema"), drops: Vec::new() };
    let mut product = walk.node(root, 0)?;
    // The root's title is the type's name, which means nothing to a model.
    product = product.into_iter().filter(|(key, _)| &**key != "title").collect();
    Ok((product.into(), walk.drops))
}

struct Walk<'s> {
    path: Path<'s>,
    drops: Vec<Dropped>,
}

impl<'s> Walk<'s> {
    fn node(&mut self, schema: &'s Json, level: usize) -> Result<Object, LowerError> {
        if level > MAX_DEPTH {
            return Err(self.unsupported("a type of more than 128 levels", "make it flatter"));
        }
        let Some(node) = schema.as_object() else {
            return match schema.as_bool() {
                Some(true) => Ok(Object::new()),
                Some(false) | None => Err(self.unsupported(
                    "a type without values",
                    "remove the field, or skip it with `#[serde(skip)]`",
                )),
            };
        };
        if node.contains_key("$ref") || node.contains_key("$dynamicRef") {
            return Err(LowerError::Recursive { path: self.path.render() });
        }
        if node.contains_key("allOf") {
            return Err(self.unsupported("`allOf`", "write the combined type out as one struct"));
        }
        let alternatives = [("oneOf", false), ("anyOf", true)];
        let found =
            alternatives.into_iter().find_map(|(key, check)| Some((key, check, node.get(key)?.as_array()?)));
        if let Some((key, check, branches)) = found {
            return self.alternatives(node, key, branches, check, level);
        }
        let product = match types(node).as_slice() {
            [] => {
                self.drop_all_but(node, &[]);
                Object::new()
            }
            [only] => self.typed(node, only, level)?,
            several => {
                let branches: Result<Vec<Object>, LowerError> =
                    several.iter().map(|name| self.typed(node, name, level)).collect();
                union::of(branches?)
            }
        };
        Ok(union::annotated(product, &notes(node)))
    }

    fn alternatives(
        &mut self,
        node: &'s Object,
        key: &str,
        branches: &'s [Json],
        check: bool,
        level: usize,
    ) -> Result<Object, LowerError> {
        if node.contains_key("properties") || node.contains_key("items") {
            let advice = "give the flattened enum a field of its own";
            return Err(self.unsupported("an enum flattened into a struct", advice));
        }
        self.drop_all_but(node, &["type", key]);
        let parent = self.path.depth();
        let mut lowered = Vec::with_capacity(branches.len());
        for (index, branch) in branches.iter().enumerate() {
            Place::Branch(index).enter(&mut self.path, parent);
            lowered.push(self.node(branch, level.saturating_add(1))?);
        }
        self.path.truncate(parent);
        let lowered = if check { union::simplified(lowered) } else { lowered };
        if check && let Some((first, second)) = union::overlap(&lowered) {
            return Err(LowerError::Overlap { path: self.path.render(), first, second });
        }
        Ok(union::annotated(union::of(lowered), &notes(node)))
    }

    /// One type of a node, without its annotations.
    fn typed(&mut self, node: &'s Object, name: &str, level: usize) -> Result<Object, LowerError> {
        let mut product = Object::new();
        product.insert("type", name);
        match name {
            "object" => self.object(&mut product, node, level)?,
            "array" => self.array(&mut product, node, level)?,
            _ => {
                self.drop_all_but(node, &["type", "enum", "const"]);
                scalar(&mut product, node, name);
            }
        }
        Ok(product)
    }

    fn object(&mut self, product: &mut Object, node: &'s Object, level: usize) -> Result<(), LowerError> {
        let openness = ["type", "properties", "required", "additionalProperties"];
        self.drop_all_but(node, &openness);
        let required = node.get("required").and_then(Json::as_array).unwrap_or_default();
        match node.get("additionalProperties") {
            // A map with patterned keys is closed to other keys only.
            Some(Json::Bool(false)) if !node.contains_key("patternProperties") => {
                product.insert("additionalProperties", false);
            }
            None => {}
            Some(other) => {
                if other.as_object().is_some_and(|schema| !schema.is_empty()) {
                    self.drop_keyword("additionalProperties", other);
                }
                product.insert("additionalProperties", true);
            }
        }
        let Some(declared) = node.get("properties").and_then(Json::as_object) else { return Ok(()) };
        let parent = self.path.depth();
        let mut properties = Object::with_capacity(declared.len());
        for (name, schema) in declared {
            Place::Property(name).enter(&mut self.path, parent);
            let mut property = self.node(schema, level.saturating_add(1))?;
            if !required.iter().any(|listed| listed.as_str() == Some(name)) {
                property = union::without_null(property);
            }
            properties.insert(Arc::clone(name), property);
        }
        self.path.truncate(parent);
        product.insert("properties", properties);
        if !required.is_empty() {
            product.insert("required", required.iter().collect::<Json>());
        }
        Ok(())
    }

    fn array(&mut self, product: &mut Object, node: &'s Object, level: usize) -> Result<(), LowerError> {
        self.drop_all_but(node, &["type", "items"]);
        let parent = self.path.depth();
        let elements = match (node.get("items"), node.get("prefixItems").and_then(Json::as_array)) {
            (Some(items), None) => std::slice::from_ref(items),
            (_, Some(tuple)) => tuple,
            (None, None) => &[],
        };
        let mut lowered: Vec<Object> = Vec::new();
        for schema in elements {
            Place::Items.enter(&mut self.path, parent);
            lowered.push(self.node(schema, level.saturating_add(1))?);
        }
        self.path.truncate(parent);
        if let Some((first, rest)) = lowered.split_first()
            && rest.iter().all(|other| other == first)
        {
            product.insert("items", first.clone());
        }
        Ok(())
    }

    /// Records the keywords of a node that its product does not have.
    fn drop_all_but(&mut self, node: &Object, kept: &[&str]) {
        for (key, value) in node {
            let known = kept.contains(&&**key) || ANNOTATIONS.contains(&&**key) || SILENT.contains(&&**key);
            // A node with several types comes by once for each, and each keeps what the others would drop.
            if !known && !belongs_to_another(node, key) {
                self.drop_keyword(key, value);
            }
        }
    }

    fn drop_keyword(&mut self, keyword: &str, value: &Json) {
        let drop = Dropped { path: self.path.render(), keyword: keyword.to_owned(), value: value.clone() };
        if !self.drops.contains(&drop) {
            self.drops.push(drop);
        }
    }

    fn unsupported(&self, what: &str, advice: &'static str) -> LowerError {
        LowerError::Unsupported { path: self.path.render(), what: what.to_owned(), advice }
    }
}

/// Whether another of the node's types keeps the keyword.
fn belongs_to_another(node: &Object, key: &str) -> bool {
    let names = types(node);
    let has = |name: &str| names.len() > 1 && names.iter().any(|other| other == name);
    match key {
        "properties" | "required" | "additionalProperties" => has("object"),
        "items" => has("array"),
        "enum" | "const" => names.len() > 1,
        _ => false,
    }
}

fn notes(node: &Object) -> Vec<(&'static str, Json)> {
    ANNOTATIONS.into_iter().filter_map(|key| Some((key, node.get(key)?.clone()))).collect()
}

/// The types of a node, said or implied.
fn types(node: &Object) -> Vec<String> {
    let implied = |name: &str| vec![name.to_owned()];
    match node.get("type") {
        Some(Json::String(name)) => implied(name),
        Some(Json::Array(names)) => names.iter().filter_map(Json::as_str).map(str::to_owned).collect(),
        Some(_) | None => {
            let literals =
                node.get("enum").and_then(Json::as_array).into_iter().flatten().chain(node.get("const"));
            let mut names: Vec<String> = Vec::new();
            for literal in literals {
                let name = literal.kind().to_string();
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            if names.is_empty() && (node.contains_key("properties") || node.contains_key("required")) {
                return implied("object");
            }
            if names.is_empty() && (node.contains_key("items") || node.contains_key("prefixItems")) {
                return implied("array");
            }
            names
        }
    }
}

/// The literals of a scalar type; those of other types belong to other branches.
fn scalar(product: &mut Object, node: &Object, name: &str) {
    let fits = |literal: &&Json| crate::assert::scalar_named(name).is_some_and(|scalar| scalar.fits(literal));
    if name == "null" {
        return;
    }
    if let Some(list) = node.get("enum").and_then(Json::as_array) {
        let members: Vec<&Json> = list.iter().filter(fits).collect();
        if !members.is_empty() {
            product.insert("enum", members);
        }
    }
    if let Some(literal) = node.get("const").filter(fits) {
        product.insert("const", literal);
    }
}
