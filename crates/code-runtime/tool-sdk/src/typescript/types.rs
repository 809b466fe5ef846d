//! The text of TypeScript types, of any depth, in one pass.

use std::mem;
use std::ops::Range;

use dsh_json::{Json, Number};
use dsh_json_schema::Schema;

use super::key;
use crate::comment::one_line;
use crate::outline::{Node, Outline, Scalar, Shape};
use crate::text::every;
use crate::{Limits, Place, SdkError};

/// A new line with the deepest indentation, of 32 levels; without a bound, deep types would be quadratic.
const LINE: &str = "\n                                                                ";

/// Text to which types are added.
///
/// An array's item stands in parentheses when its text has a `|` or `&` anywhere (spec 05 §3.3). That is known only
/// behind the item, so the places of opening parentheses are kept, and filled when the whole type is written.
pub(super) struct Types<'t> {
    text: &'t mut String,
    /// Where the declarations begin.
    start: usize,
    limits: &'t Limits,
    /// The schema whose type is being added.
    outline: Outline<'t>,
    /// The arrays that are not finished. Nothing has to be looked for outside of them.
    arrays: usize,
    /// Up to here a `|` or `&` has been looked for.
    seen: usize,
    /// Behind the last piece in which one was found.
    mark: usize,
    parentheses: Vec<usize>,
}

/// A type that is not finished: what of it is still to come.
enum Open {
    Array { item: Option<usize>, start: usize, level: usize },
    Union { rest: Range<usize>, begun: bool, level: usize },
    Object { rest: Range<usize>, begun: bool, open: bool, level: usize },
}

impl<'t> Types<'t> {
    pub(super) fn new(limits: &'t Limits, text: &'t mut String) -> Self {
        let (start, outline) = (text.len(), Outline::default());
        Self { text, start, limits, outline, arrays: 0, seen: 0, mark: 0, parentheses: Vec::new() }
    }

    /// Adds text.
    pub(super) fn push(&mut self, text: &str) {
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

    /// Adds the type of a schema, whose first line stands at `level`. Stops early once there is too much.
    pub(super) fn schema(&mut self, schema: Option<&'t Schema>, level: usize) {
        let Some(schema) = schema else { return self.push("unknown") };
        self.outline.read(schema.json());
        let mut open = Vec::new();
        self.begin(self.outline.node(0), level, &mut open);
        while let Some(top) = open.last_mut() {
            match self.step(top) {
                _ if self.is_full() => return,
                Some((child, level)) => self.begin(child, level, &mut open),
                None => _ = open.pop(),
            }
        }
        self.open_parentheses();
    }

    /// Fails when there is too much.
    pub(super) fn check(&self, place: impl FnOnce() -> Place) -> Result<(), SdkError> {
        self.limits.check(self.text.len() - self.start, place)
    }

    fn is_full(&self) -> bool {
        self.text.len() - self.start > self.limits.declarations_bytes
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

    /// Looks for a `|` or `&` in what was written since the last time, if that is in an array.
    fn look(&mut self) {
        let seen = mem::replace(&mut self.seen, self.text.len());
        let written = self.text.as_bytes().get(seen..).unwrap_or_default();
        if self.arrays > 0 && !every(written, |byte| !matches!(byte, b'|' | b'&')) {
            self.mark = self.seen;
        }
    }

    /// Writes a leaf, or opens a node that has children.
    fn begin(&mut self, node: Node<'_>, level: usize, open: &mut Vec<Open>) {
        match node.shape {
            Shape::Any => self.push("JsonValue"),
            Shape::Scalar(_, Some(literals)) => self.literals(literals),
            Shape::Scalar(scalar, None) => self.push(name_of(scalar)),
            Shape::Array(None) => self.push("JsonValue[]"),
            Shape::Array(item) => {
                self.look();
                self.arrays += 1;
                open.push(Open::Array { item, start: self.text.len(), level });
            }
            Shape::Union(branches) => open.push(Open::Union { rest: branches, begun: false, level }),
            Shape::Object { members, open: is_open } if members.is_empty() => {
                self.push(if is_open { "Record<string, JsonValue>" } else { "Record<string, never>" });
            }
            Shape::Object { members, open: is_open } => {
                self.push("{");
                open.push(Open::Object { rest: members, begun: false, open: is_open, level });
            }
        }
    }

    /// Writes up to the next child, or to the end.
    fn step(&mut self, top: &mut Open) -> Option<(Node<'t>, usize)> {
        match top {
            Open::Array { item, start, level } => {
                if let Some(item) = item.take() {
                    return Some((self.outline.node(item), *level));
                }
                self.look();
                self.arrays -= 1;
                if self.mark > *start {
                    self.parentheses.push(*start);
                    self.push(")");
                }
                self.push("[]");
                None
            }
            Open::Union { rest, begun, level } => {
                let branch = self.outline.node(rest.next()?);
                if mem::replace(begun, true) {
                    self.push(" | ");
                }
                Some((branch, *level))
            }
            Open::Object { rest, begun, open, level } => {
                if mem::replace(begun, true) {
                    self.push(";");
                }
                let Some(member) = rest.next().map(|number| self.outline.node(number)) else {
                    self.line(*level);
                    self.push(if *open { "} & Record<string, JsonValue>" } else { "}" });
                    return None;
                };
                let inner = *level + 1;
                self.doc(member.description, inner);
                self.line(inner);
                self.push(&key(member.name));
                self.push(if member.required { ": " } else { "?: " });
                Some((member, inner))
            }
        }
    }

    fn literals(&mut self, literals: &[Json]) {
        for (place, literal) in literals.iter().enumerate() {
            if self.is_full() {
                return;
            }
            if place > 0 {
                self.push(" | ");
            }
            match literal.as_number() {
                Some(value) => self.push(&number(value)),
                None => literal.write_text(self.text),
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
