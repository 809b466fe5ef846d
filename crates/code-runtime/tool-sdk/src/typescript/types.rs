//! The text of TypeScript types, of any depth, in one pass.

use std::slice;

use dsh_json::{Json, Number};
use dsh_json_schema::Schema;

use super::key;
use crate::Limits;
use crate::comment::one_line;
use crate::shape::{Node, Rest, Scalar, Shape};
use crate::text::{Budget, every};

/// A new line with the deepest indentation, of 32 levels; without a bound, deep types would be quadratic.
const LINE: &str = "\n                                                                ";

/// Text to which types are added.
///
/// An array's item stands in parentheses when its text has a `|` or `&` anywhere (spec 05 §3.3). That is known only
/// behind the item, so the places of opening parentheses are kept, and filled when the whole type is written.
pub(super) struct Types<'t> {
    text: &'t mut String,
    /// Up to here a `|` or `&` has been looked for.
    seen: usize,
    /// Behind the last piece in which one was found.
    mark: usize,
    parentheses: Vec<usize>,
    pub(super) budget: Budget,
    limits: &'t Limits,
}

/// A type that is not finished: what of it is still to come.
enum Open<'s> {
    Array { item: Option<&'s Json>, start: usize, level: usize },
    Union { rest: slice::Iter<'s, Json>, begun: bool, level: usize },
    Object { rest: Rest<'s>, begun: bool, open: bool, level: usize },
}

impl<'t> Types<'t> {
    pub(super) fn new(limits: &'t Limits, text: &'t mut String) -> Self {
        Self { text, seen: 0, mark: 0, parentheses: Vec::new(), budget: Budget::new(limits), limits }
    }

    /// Adds text; nothing more once the budget is full.
    pub(super) fn push(&mut self, text: &str) {
        if self.budget.admits(text.len()) {
            self.text.push_str(text);
        }
    }

    /// Adds the comment of a description on a line of its own: one for blanks, too, none for no text (spec 05 §3.4).
    pub(super) fn doc(&mut self, description: &str, level: usize) {
        if description.is_empty() {
            return;
        }
        let line = one_line(description, self.limits.description_chars);
        self.line(level);
        // The compiler obeys `@ts-` at the beginning of a comment.
        self.push(if line.starts_with("@ts-") { "/** \\" } else { "/** " });
        if line.contains("*/") {
            self.push(&line.replace("*/", "*\\/"));
        } else {
            self.push(&line);
        }
        self.push(" */");
    }

    /// Begins a line.
    pub(super) fn line(&mut self, level: usize) {
        self.push(LINE.get(..1 + 2 * level).unwrap_or(LINE));
    }

    /// Adds the type of a schema, whose first line stands at `level`.
    pub(super) fn schema(&mut self, schema: Option<&Schema>, level: usize) {
        let Some(schema) = schema else { return self.push("unknown") };
        self.seen = self.text.len();
        let mut open = Vec::new();
        self.begin(Node::of(schema.json()), level, &mut open);
        while let Some(top) = open.last_mut() {
            match self.step(top) {
                _ if self.budget.is_full() => return,
                Some((child, level)) => self.begin(child, level, &mut open),
                None => _ = open.pop(),
            }
        }
        self.open_parentheses();
    }

    /// Puts the opening parentheses where they belong.
    fn open_parentheses(&mut self) {
        self.parentheses.sort_unstable();
        let Some(first) = self.parentheses.first() else { return };
        let tail = self.text.split_off(*first);
        let mut rest = tail.as_str();
        let mut from = *first;
        for at in self.parentheses.drain(..) {
            let (before, behind) = rest.split_at(at - from);
            self.text.extend([before, "("]);
            (rest, from) = (behind, at);
        }
        self.text.push_str(rest);
    }

    /// Looks for a `|` or `&` in what was written since the last time.
    fn look(&mut self) {
        let written = self.text.as_bytes().get(self.seen..).unwrap_or_default();
        self.seen = self.text.len();
        if !every(written, |byte| !matches!(byte, b'|' | b'&')) {
            self.mark = self.seen;
        }
    }

    /// Writes a leaf, or opens a node that has children.
    fn begin<'s>(&mut self, node: Node<'s>, level: usize, open: &mut Vec<Open<'s>>) {
        match node.shape {
            Shape::Any => self.push("JsonValue"),
            Shape::Scalar(_, Some(literals)) => self.literals(literals),
            Shape::Scalar(scalar, None) => self.push(name_of(scalar)),
            Shape::Array(None) => self.push("JsonValue[]"),
            Shape::Array(item) => {
                self.look();
                open.push(Open::Array { item, start: self.text.len(), level });
            }
            Shape::Union(branches) => open.push(Open::Union { rest: branches.iter(), begun: false, level }),
            Shape::Object(members) if members.is_empty() => {
                self.push(if members.open { "Record<string, JsonValue>" } else { "Record<string, never>" });
            }
            Shape::Object(members) => {
                self.push("{");
                let is_open = members.open;
                open.push(Open::Object { rest: members.rest(), begun: false, open: is_open, level });
            }
        }
    }

    /// Writes up to the next child, or to the end.
    fn step<'s>(&mut self, top: &mut Open<'s>) -> Option<(Node<'s>, usize)> {
        match top {
            Open::Array { item, start, level } => {
                if let Some(item) = item.take() {
                    return Some((Node::of(item), *level));
                }
                self.look();
                if self.mark > *start {
                    self.parentheses.push(*start);
                    self.budget.admits("(".len());
                    self.push(")");
                }
                self.push("[]");
                None
            }
            Open::Union { rest, begun, level } => {
                let branch = rest.next()?;
                if std::mem::replace(begun, true) {
                    self.push(" | ");
                }
                Some((Node::of(branch), *level))
            }
            Open::Object { rest, begun, open, level } => {
                if std::mem::replace(begun, true) {
                    self.push(";");
                }
                let Some(member) = rest.next() else {
                    self.line(*level);
                    self.push(if *open { "} & Record<string, JsonValue>" } else { "}" });
                    return None;
                };
                let inner = *level + 1;
                self.doc(member.node.description, inner);
                self.line(inner);
                self.push(&key(member.name));
                self.push(if member.required { ": " } else { "?: " });
                Some((member.node, inner))
            }
        }
    }

    fn literals(&mut self, literals: &[Json]) {
        for (place, literal) in literals.iter().enumerate() {
            if self.budget.is_full() {
                return;
            }
            if place > 0 {
                self.push(" | ");
            }
            match literal.as_number() {
                Some(value) => self.push(&number(value)),
                None => self.budget.push_json(literal, self.text),
            }
        }
    }
}

fn name_of(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::String => "string",
        Scalar::Number | Scalar::Integer => "number",
        Scalar::Boolean => "boolean",
        Scalar::Null => "null",
    }
}

/// ECMAScript's text of a double; an integer that no double holds crosses as a `bigint` (design §5).
fn number(number: &Number) -> String {
    if !number.is_exact_f64() {
        return format!("{number}n");
    }
    Number::from_f64(number.as_f64()).map_or_else(|_| number.ecma(), |double| double.ecma())
}
