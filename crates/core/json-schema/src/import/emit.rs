//! Shapes written down in the subset, within a bound.

use std::collections::HashMap;
use std::sync::Arc;

use dsh_json::{Json, Object};

use super::shape::{Form, Notes, Rule, Shape, Takes};

/// What a shape needs at least to be written.
const LEAST: usize = 24;

/// Writes a root within about `bytes`, with at most `text` characters in a description; the parts that do not fit become
/// any JSON, and are counted.
pub(super) fn emit(root: &Arc<Shape>, bytes: usize, text: usize) -> (Json, usize) {
    let mut emit = Emit { whole: HashMap::new(), cut: 0, text };
    let json =
        if root.weight <= bytes { emit.whole(root) } else { emit.node(root, &mut Allowance::Of(bytes)) };
    (json, emit.cut)
}

struct Emit {
    /// What has been written whole, by address, so that shared parts stay shared.
    whole: HashMap<*const Shape, Json>,
    cut: usize,
    /// Characters of a description.
    text: usize,
}

/// How the children of a node are written.
enum Allowance {
    Whole,
    /// Each takes its share of what is left.
    Of(usize),
}

impl Emit {
    fn whole(&mut self, shape: &Arc<Shape>) -> Json {
        if let Some(json) = self.whole.get(&Arc::as_ptr(shape)) {
            return json.clone();
        }
        let json = self.node(shape, &mut Allowance::Whole);
        self.whole.insert(Arc::as_ptr(shape), json.clone());
        json
    }

    /// A child that may take `share`.
    fn within(&mut self, shape: &Arc<Shape>, share: usize) -> Json {
        let children: usize = children(shape).map(|child| child.weight).sum();
        let own = shape.weight.saturating_sub(children);
        if shape.weight <= share {
            self.whole(shape)
        } else if own.saturating_add(LEAST) > share {
            self.cut = self.cut.saturating_add(1);
            Object::new().into()
        } else {
            self.node(shape, &mut Allowance::Of(share))
        }
    }

    fn node(&mut self, shape: &Arc<Shape>, allowance: &mut Allowance) -> Json {
        let (mut left, text) = (children(shape).count(), self.text);
        if let Allowance::Of(bytes) = allowance {
            let below: usize = children(shape).map(|child| child.weight).sum();
            *bytes = bytes.saturating_sub(shape.weight.saturating_sub(below));
        }
        let mut child = |shape: &Arc<Shape>| match allowance {
            Allowance::Whole => self.whole(shape),
            Allowance::Of(bytes) => {
                let share = bytes.checked_div(left).unwrap_or_default();
                left = left.saturating_sub(1);
                *bytes = bytes.saturating_sub(share.min(shape.weight));
                self.within(shape, share)
            }
        };
        match &shape.takes {
            Takes::Anything => shape.notes.annotations(text).collect::<Object>().into(),
            Takes::Forms(forms) => match forms.as_slice() {
                [] => {
                    let mut notes = shape.notes.clone();
                    notes.remark("no value fits here".to_owned());
                    notes.annotations(text).collect::<Object>().into()
                }
                [only] => {
                    let notes = together(&shape.notes, &only.notes);
                    form(&only.rule, &notes, text, &mut child)
                }
                several => {
                    let branches: Vec<Json> = several
                        .iter()
                        .map(|branch| form(&branch.rule, &branch.notes, text, &mut child))
                        .collect();
                    let mut union = Object::new();
                    union.insert("oneOf", branches);
                    union.extend(shape.notes.annotations(text));
                    union.into()
                }
            },
        }
    }
}

fn children(shape: &Shape) -> impl Iterator<Item = &Arc<Shape>> {
    shape.forms().unwrap_or_default().iter().flat_map(|form: &Form| form.rule.children())
}

/// The notes of a node and of its only form; the node's come first.
fn together(outer: &Notes, inner: &Notes) -> Notes {
    let mut notes = outer.clone();
    if let (Some(outer), Some(inner)) = (&outer.description, &inner.description)
        && outer != inner
    {
        notes.description = Some(format!("{outer}\n{inner}").into());
    }
    notes.absorb(inner);
    notes
}

fn form(rule: &Rule, notes: &Notes, text: usize, child: &mut impl FnMut(&Arc<Shape>) -> Json) -> Json {
    let mut node = Object::new();
    node.insert("type", rule.name());
    node.extend(notes.annotations(text));
    match rule {
        Rule::Scalar(_, literals) => {
            if let Some(literals) = literals {
                match literals.as_slice() {
                    [only] => node.insert("const", only.clone()),
                    several => node.insert("enum", several.to_vec()),
                };
            }
        }
        Rule::Array(items) => {
            if let Some(items) = items {
                node.insert("items", child(items));
            }
        }
        Rule::Object(fields) => {
            if fields.closed {
                node.insert("additionalProperties", false);
            }
            if fields.len() > 0 {
                let properties: Object =
                    fields.iter().map(|field| (Arc::clone(&field.name), child(&field.shape))).collect();
                node.insert("properties", properties);
            }
            let required: Vec<Arc<str>> =
                fields.iter().filter(|field| field.required).map(|field| Arc::clone(&field.name)).collect();
            if !required.is_empty() {
                node.insert("required", required);
            }
        }
    }
    node.into()
}
