//! Alternatives: joined, simplified, and checked for values that two of them would take.

use std::collections::BTreeSet;

use dsh_json::{Json, Object};

use crate::assert::ANNOTATIONS;

/// One node for all branches: the only one, one string `enum`, or a `oneOf`.
pub(super) fn of(mut branches: Vec<Object>) -> Object {
    if let Some(joined) = joined_names(&branches) {
        return joined;
    }
    branches = branches.into_iter().flat_map(flattened).collect();
    if branches.len() == 1 {
        return branches.pop().unwrap_or_default();
    }
    let mut product = Object::new();
    product.insert("oneOf", branches);
    product
}

/// The node with annotations of its own; where it has one already, the new one wins.
pub(super) fn annotated(product: Object, notes: &[(&'static str, Json)]) -> Object {
    if notes.is_empty() {
        return product;
    }
    let said = |key: &str| notes.iter().find(|(name, _)| *name == key).map(|(_, value)| value.clone());
    let leads = if product.contains_key("oneOf") { "oneOf" } else { "type" };
    let mut annotated = Object::new();
    if let Some(lead) = product.get(leads) {
        annotated.insert(leads, lead);
    }
    for key in ANNOTATIONS {
        let value = match (key, said(key), product.get(key).cloned()) {
            // The comments on the variants of an enum stand below the comment on the enum.
            ("description", Some(Json::String(outer)), Some(Json::String(inner)))
                if product.contains_key("enum") =>
            {
                Some(Json::from(format!("{outer}\n{inner}")))
            }
            (_, outer, inner) => outer.or(inner),
        };
        if let Some(value) = value {
            annotated.insert(key, value);
        }
    }
    annotated
        .extend(product.into_iter().filter(|(key, _)| &**key != leads && !ANNOTATIONS.contains(&&**key)));
    annotated
}

/// A node without its null alternative, for a property that may be absent instead.
pub(super) fn without_null(node: Object) -> Object {
    let Some(branches) = node.get("oneOf").and_then(Json::as_array) else { return node };
    let (nulls, rest): (Vec<&Json>, Vec<&Json>) = branches.iter().partition(|branch| is_null(branch));
    if nulls.is_empty() || rest.is_empty() {
        return node;
    }
    let notes: Vec<(&'static str, Json)> = ANNOTATIONS
        .into_iter()
        .filter_map(|key| Some((key, node.get(key)?.clone())))
        .filter(|(key, value)| !(*key == "default" && value.is_null()))
        .collect();
    annotated(of(rest.into_iter().filter_map(Json::as_object).cloned().collect()), &notes)
}

/// Alternatives that need not exclude each other, without those that another one covers.
pub(super) fn simplified(branches: Vec<Object>) -> Vec<Object> {
    if branches.iter().any(is_any) {
        return vec![Object::new()];
    }
    let numbers = branches.iter().any(|branch| is_plain(branch, "number"));
    let mut kept: Vec<Object> = Vec::with_capacity(branches.len());
    for branch in branches {
        let covered = (numbers && type_of(&branch) == Some("integer")) || kept.contains(&branch);
        if !covered {
            kept.push(branch);
        }
    }
    kept
}

/// Two branches (from 1) that some value might fit both.
pub(super) fn overlap(branches: &[Object]) -> Option<(usize, usize)> {
    for (second, right) in branches.iter().enumerate() {
        for (first, left) in branches.iter().take(second).enumerate() {
            if !are_disjoint(left, right) {
                return Some((first.saturating_add(1), second.saturating_add(1)));
            }
        }
    }
    None
}

/// String literals only: their enumeration. Comments on them become lines of the description.
fn joined_names(branches: &[Object]) -> Option<Object> {
    if branches.len() < 2 {
        return None;
    }
    let mut names: Vec<Json> = Vec::new();
    let mut comments: Vec<String> = Vec::new();
    for branch in branches {
        let literals = literals(branch).filter(|_| type_of(branch) == Some("string"))?;
        if let (Some(comment), [name]) =
            (branch.get("description").and_then(Json::as_str), literals.as_slice())
        {
            comments.push(format!("- `{}`: {comment}", name.as_str().unwrap_or_default()));
        }
        names.extend(literals);
    }
    let mut product = Object::new();
    product.insert("type", "string");
    if !comments.is_empty() {
        product.insert("description", comments.join("\n"));
    }
    product.insert("enum", names);
    Some(product)
}

/// A union within a union, when nothing but its branches would be lost.
fn flattened(branch: Object) -> Vec<Object> {
    match branch.get("oneOf").and_then(Json::as_array) {
        Some(inner) if branch.len() == 1 => inner.iter().filter_map(Json::as_object).cloned().collect(),
        Some(_) | None => vec![branch],
    }
}

fn are_disjoint(left: &Object, right: &Object) -> bool {
    let (left_kinds, right_kinds) = (kinds(left), kinds(right));
    if left_kinds.is_disjoint(&right_kinds) {
        return true;
    }
    if let (Some(left), Some(right)) = (literals(left), literals(right)) {
        return left.iter().all(|literal| !right.contains(literal));
    }
    if type_of(left) != Some("object") || type_of(right) != Some("object") {
        return false;
    }
    required(left).iter().any(|name| is_told_by(name, left, right))
        || required(right).iter().any(|name| is_told_by(name, right, left))
}

/// Whether a property that `left` requires keeps its values out of `right`.
fn is_told_by(name: &str, left: &Object, right: &Object) -> bool {
    let (Some(tag), other) = (property(left, name), property(right, name)) else { return false };
    let Some(other) = other else {
        return right.get("additionalProperties").and_then(Json::as_bool) == Some(false);
    };
    kinds(tag).is_disjoint(&kinds(other))
        || match (literals(tag), literals(other)) {
            (Some(left), Some(right)) => left.iter().all(|literal| !right.contains(literal)),
            (Some(_) | None, _) => false,
        }
}

fn required(node: &Object) -> Vec<&str> {
    let names = node.get("required").and_then(Json::as_array).unwrap_or_default();
    names.iter().filter_map(Json::as_str).collect()
}

fn property<'a>(node: &'a Object, name: &str) -> Option<&'a Object> {
    node.get("properties")?.get(name)?.as_object()
}

fn type_of(node: &Object) -> Option<&str> {
    node.get("type").and_then(Json::as_str)
}

/// The kinds of value that a lowered node takes; integers are numbers here.
fn kinds(node: &Object) -> BTreeSet<&str> {
    if let Some(branches) = node.get("oneOf").and_then(Json::as_array) {
        return branches.iter().filter_map(Json::as_object).flat_map(kinds).collect();
    }
    match type_of(node) {
        Some("integer") => BTreeSet::from(["number"]),
        Some(name) => BTreeSet::from([name]),
        None => BTreeSet::from(["object", "array", "string", "number", "boolean", "null"]),
    }
}

/// The only values that a node takes, if it lists them.
fn literals(node: &Object) -> Option<Vec<Json>> {
    match (node.get("const"), node.get("enum").and_then(Json::as_array)) {
        (Some(literal), _) => Some(vec![literal.clone()]),
        (None, Some(list)) => Some(list.to_vec()),
        (None, None) => None,
    }
}

fn is_any(node: &Object) -> bool {
    !node.contains_key("type") && !node.contains_key("oneOf")
}

fn is_null(node: &Json) -> bool {
    node.get("type").and_then(Json::as_str) == Some("null")
}

fn is_plain(node: &Object, name: &str) -> bool {
    type_of(node) == Some(name) && literals(node).is_none()
}
