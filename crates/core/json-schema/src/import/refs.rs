//! What `$ref` points at: pointers, anchors and identifiers within one document.

use std::collections::HashMap;

use dsh_json::{Json, Object};

use crate::path::Step;

/// A document, and what can be pointed at in it.
pub(super) struct Document<'s> {
    root: &'s Json,
    /// Targets by `#anchor` and by identifier; the first one of a name counts.
    named: HashMap<String, &'s Json>,
    /// Whether keywords beside `$ref` are ignored, as they were before 2019.
    pub(super) lonely_refs: bool,
}

/// Something that is pointed at, and how it is called in paths.
pub(super) struct Target<'s> {
    pub(super) schema: &'s Json,
    pub(super) steps: Vec<Step<'s>>,
}

impl<'s> Document<'s> {
    pub(super) fn new(root: &'s Json) -> Self {
        let dialect = root.get("$schema").and_then(Json::as_str).unwrap_or_default();
        let lonely_refs =
            ["draft-03", "draft-04", "draft-06", "draft-07"].iter().any(|old| dialect.contains(old));
        let mut named = HashMap::new();
        // Shared parts are looked at once: an address is only compared while the document lives.
        let mut todo = vec![root];
        let mut looked_at = 0_usize;
        while let Some(value) = todo.pop() {
            looked_at = looked_at.saturating_add(1);
            if looked_at > MAX_SCANNED {
                break;
            }
            match value {
                Json::Object(node) => {
                    name_targets(node, value, &mut named);
                    todo.extend(node.values().rev());
                }
                Json::Array(items) => todo.extend(items.iter().rev()),
                Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
            }
        }
        Self { root, named, lonely_refs }
    }

    /// The target of a reference that stands in this document, and how paths call it.
    pub(super) fn resolve(&self, reference: &'s str) -> Option<Target<'s>> {
        let schema = self.find(reference)?;
        let (resource, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let steps = if fragment.starts_with('/') {
            fragment.split('/').skip(1).map(Step::Key).collect()
        } else if resource.is_empty() && fragment.is_empty() {
            Vec::new()
        } else {
            vec![Step::Key(reference)]
        };
        Some(Target { schema, steps })
    }

    /// The target of a reference.
    pub(super) fn find(&self, reference: &str) -> Option<&'s Json> {
        let (resource, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let base = if resource.is_empty() { self.root } else { self.named.get(resource).copied()? };
        if fragment.is_empty() {
            return Some(base);
        }
        if !fragment.starts_with('/') {
            return self.named.get(&format!("#{fragment}")).copied();
        }
        fragment.split('/').skip(1).try_fold(base, |schema, token| {
            let token = decoded(token)?;
            match schema {
                Json::Object(object) => object.get(&token),
                Json::Array(items) => items.get(token.parse::<usize>().ok()?),
                Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => None,
            }
        })
    }
}

/// The most values that are looked at for names.
const MAX_SCANNED: usize = 1_000_000;

fn name_targets<'s>(node: &Object, value: &'s Json, named: &mut HashMap<String, &'s Json>) {
    for key in ["$anchor", "$dynamicAnchor"] {
        if let Some(anchor) = node.get(key).and_then(Json::as_str) {
            named.entry(format!("#{anchor}")).or_insert(value);
        }
    }
    for key in ["$id", "id"] {
        if let Some(id) = node.get(key).and_then(Json::as_str) {
            let id = if id.starts_with('#') { id } else { id.trim_end_matches('#') };
            named.entry(id.to_owned()).or_insert(value);
        }
    }
}

/// A token of a pointer in a URI, without its two escapes.
fn decoded(token: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(token.len());
    let mut rest = token.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next()?, rest.next()?];
            bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    Some(String::from_utf8(bytes).ok()?.replace("~1", "/").replace("~0", "~"))
}
