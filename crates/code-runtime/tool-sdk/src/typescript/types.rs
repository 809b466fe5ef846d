//! The text of TypeScript types, of any depth, in one pass.

use std::slice;

use dsh_json::{Json, Number};
use dsh_json_schema::Schema;

use super::key;
use crate::comment::one_line;
use crate::shape::{Rest, Scalar, Shape};
use crate::text::Budget;
use crate::{Limits, Place, SdkError};

/// The deepest indentation, of 32 levels; without a bound, deep types would be quadratic.
const INDENTATION: &str = "                                                                ";

/// Text to which types are added.
///
/// An array's item stands in parentheses when its text has a `|` or `&` anywhere (spec 05 §3.3). That is known only
/// behind the item, so the places of opening parentheses are kept, and filled at the end.
pub(super) struct Types<'l> {
    text: String,
    /// Behind the last `|` or `&`.
    mark: usize,
    parentheses: Vec<usize>,
    pub(super) budget: Budget,
    limits: &'l Limits,
}

/// A type that is not finished: what of it is still to come.
enum Open<'s> {
    Array { item: Option<&'s Json>, start: usize, level: usize },
    Union { rest: slice::Iter<'s, Json>, begun: bool, level: usize },
    Object { rest: Rest<'s>, begun: bool, open: bool, level: usize },
}

impl<'l> Types<'l> {
    pub(super) fn new(limits: &'l Limits) -> Self {
        let budget = Budget::new(limits);
        Self { text: String::new(), mark: 0, parentheses: Vec::new(), budget, limits }
    }

    /// Adds text; nothing more once the budget is full.
    pub(super) fn push(&mut self, text: &str) {
        if !self.budget.admits(text.len()) {
            return;
        }
        if let Some(at) = text.bytes().rposition(|byte| matches!(byte, b'|' | b'&')) {
            self.mark = self.text.len() + at + 1;
        }
        self.text.push_str(text);
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
        for (place, piece) in line.split("*/").enumerate() {
            self.push(if place > 0 { "*\\/" } else { "" });
            self.push(piece);
        }
        self.push(" */");
    }

    /// Begins a line.
    pub(super) fn line(&mut self, level: usize) {
        self.push("\n");
        self.push(INDENTATION.get(..2 * level).unwrap_or(INDENTATION));
    }

    /// Adds the type of a schema, whose first line stands at `level`.
    pub(super) fn schema(&mut self, schema: Option<&Schema>, level: usize) {
        let Some(schema) = schema else { return self.push("unknown") };
        let mut open = Vec::new();
        self.begin(schema.json(), level, &mut open);
        while let Some(top) = open.last_mut() {
            match self.step(top) {
                _ if self.budget.is_full() => return,
                Some((child, level)) => self.begin(child, level, &mut open),
                None => _ = open.pop(),
            }
        }
    }

    /// Appends the whole text.
    pub(super) fn write(mut self, place: Place, out: &mut String) -> Result<(), SdkError> {
        self.budget.admits(self.parentheses.len());
        self.budget.check(|| place)?;
        self.parentheses.sort_unstable();
        out.reserve(self.text.len() + self.parentheses.len());
        let mut from = 0;
        for at in self.parentheses {
            out.push_str(self.text.get(from..at).unwrap_or_default());
            out.push('(');
            from = at;
        }
        out.push_str(self.text.get(from..).unwrap_or_default());
        Ok(())
    }

    /// Writes a leaf, or opens a node that has children.
    fn begin<'s>(&mut self, node: &'s Json, level: usize, open: &mut Vec<Open<'s>>) {
        match Shape::of(node) {
            Shape::Any => self.push("JsonValue"),
            Shape::Scalar(_, Some(literals)) => self.literals(literals),
            Shape::Scalar(scalar, None) => self.push(name_of(scalar)),
            Shape::Array(None) => self.push("JsonValue[]"),
            Shape::Array(item) => open.push(Open::Array { item, start: self.text.len(), level }),
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
    fn step<'s>(&mut self, top: &mut Open<'s>) -> Option<(&'s Json, usize)> {
        match top {
            Open::Array { item, start, level } => {
                if let Some(item) = item.take() {
                    return Some((item, *level));
                }
                if self.mark > *start {
                    self.parentheses.push(*start);
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
                Some((branch, *level))
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
                self.doc(member.description, inner);
                self.line(inner);
                self.push(&key(member.name));
                self.push(if member.required { ": " } else { "?: " });
                Some((member.schema, inner))
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
            self.push(&literal.as_number().map_or_else(|| literal.to_text(), number));
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
