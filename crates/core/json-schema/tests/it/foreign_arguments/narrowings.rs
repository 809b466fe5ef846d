//! Which parts of a foreign schema look at a place of a value, and whether one of them is reported to be narrower.

use std::collections::BTreeSet;

use dsh_json_schema::ImportReport;
use serde_json::Value;

use super::instances::target;
use super::mutations::Step;

/// The reported narrowings that can be why `value` is refused, which differs from a good value at `place` only. Each is
/// written `PATH KEYWORD`.
///
/// Alternatives that were joined narrow what stands in a property below them; a type that was added narrows the value
/// itself.
pub(super) fn narrowings(
    report: &ImportReport,
    schema: &Value,
    value: &Value,
    place: &[Step],
) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let root = Node { schema, path: "schema".to_owned() };
    walk(schema, vec![root], value, &mut Vec::new(), &mut |node, at| {
        for entry in report.entries().iter().filter(|entry| entry.narrows() && entry.path() == node) {
            let below = usize::from(entry.keyword() != "type");
            // What was put in may go on beyond the place.
            if at.starts_with(place) || place.starts_with(at) && place.len() >= at.len() + below {
                found.insert(format!("{} {}", entry.path(), entry.keyword()));
            }
        }
    });
    found
}

/// A part of a schema, and how reports call it.
#[derive(Clone)]
struct Node<'s> {
    schema: &'s Value,
    path: String,
}

/// Tells each part that looks at each place of a value.
fn walk<'s>(
    root: &'s Value,
    mut nodes: Vec<Node<'s>>,
    value: &Value,
    at: &mut Vec<Step>,
    looks: &mut impl FnMut(&str, &[Step]),
) {
    let mut looking: Vec<Node<'s>> = Vec::new();
    while let Some(node) = nodes.pop() {
        if looking.iter().any(|other| other.path == node.path) {
            continue;
        }
        looks(&node.path, at);
        if let Some(reference) = node.schema.get("$ref").and_then(Value::as_str)
            && let Some(schema) = target(root, reference)
        {
            nodes.push(Node { schema, path: reference.replace("#/", "schema.").replace('/', ".") });
        }
        for key in ["allOf", "anyOf", "oneOf"] {
            let branches = node.schema.get(key).and_then(Value::as_array).into_iter().flatten();
            nodes.extend(
                branches
                    .enumerate()
                    .map(|(at, schema)| Node { schema, path: format!("{}.{key}[{at}]", node.path) }),
            );
        }
        looking.push(node);
    }
    let below = |keys: &[&str]| -> Vec<Node<'s>> {
        let child = |node: &Node<'s>| {
            let mut schema = node.schema;
            let mut path = node.path.clone();
            for key in keys {
                schema = schema.get(key)?;
                path = format!("{path}.{key}");
            }
            Some(Node { schema, path })
        };
        looking.iter().filter_map(child).collect()
    };
    let children: Vec<(Step, Vec<Node<'s>>, &Value)> = match value {
        Value::Array(items) => {
            items.iter().enumerate().map(|(at, item)| (Step::Index(at), below(&["items"]), item)).collect()
        }
        Value::Object(object) => {
            let member = |(name, member)| {
                let name: &String = name;
                let declared = below(&["properties", name]);
                let nodes = if declared.is_empty() { below(&["additionalProperties"]) } else { declared };
                (Step::Key(name.clone()), nodes, member)
            };
            object.iter().map(member).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    };
    for (step, nodes, child) in children.into_iter().filter(|(_, nodes, _)| !nodes.is_empty()) {
        at.push(step);
        walk(root, nodes, child, at, looks);
        at.pop();
    }
}
