//! The text of Python types, of any depth, in one pass: annotations, and a class for each object.

use std::collections::BTreeSet;
use std::slice;
use std::sync::Arc;

use dsh_json::{Json, Number};
use dsh_json_schema::Schema;

use super::names::{ClassNames, appended, camel, is_field};
use super::{comment, mark_of};
use crate::Limits;
use crate::shape::{Members, Node, Rest, Scalar, Shape};
use crate::text::Budget;

/// The most `list[` in one annotation: Python reads at most 200 open brackets (spec 05 §4.6).
const LISTS: usize = 180;

/// What an open object says behind its fields.
const OPEN_NOTE: &str = "\n    # Any other key is accepted, too.";

/// Everything behind which annotations have left classes.
pub(super) struct Types<'t> {
    /// The finished classes, children before their parents, each with a blank line behind it.
    classes: &'t mut String,
    pub(super) budget: Budget,
    /// The annotations that nobody has taken, and behind them the classes that are being written, each in its parent.
    text: String,
    names: ClassNames,
    /// What is imported from `typing`.
    symbols: BTreeSet<&'static str>,
    limits: &'t Limits,
}

/// Where a node stands.
#[derive(Clone)]
struct At {
    /// What a class would be called here; none where there is none.
    name: Option<Arc<str>>,
    /// The brackets that are open in the annotation.
    lists: usize,
}

/// A type that is not finished: what of it is still to come.
enum Open<'s> {
    List { item: Option<(&'s Json, At)> },
    Union { rest: slice::Iter<'s, Json>, place: usize, at: At },
    Class { rest: Rest<'s>, name: Arc<str>, start: usize, open: bool, is_empty: bool, bracket: bool },
}

impl<'t> Types<'t> {
    /// Appends classes to a text.
    pub(super) fn new(limits: &'t Limits, classes: &'t mut String) -> Self {
        Self {
            classes,
            budget: Budget::new(limits),
            text: String::new(),
            names: ClassNames::default(),
            symbols: BTreeSet::from(["Protocol"]),
            limits,
        }
    }

    /// The annotation of a schema, whose classes begin with `name`; without a name there are none.
    pub(super) fn annotation(&mut self, schema: Option<&Schema>, name: Option<String>) -> String {
        match schema {
            None => self.symbol("Any"),
            Some(schema) => self.walk(Node::of(schema.json()), At { name: name.map(Into::into), lists: 0 }),
        }
        let annotation = self.text.clone();
        self.text.clear();
        annotation
    }

    /// The line that imports what everything so far, and the protocol, is made of.
    pub(super) fn imports(&self) -> String {
        let symbols: Vec<&str> = self.symbols.iter().copied().collect();
        format!("from typing import {}", symbols.join(", "))
    }

    fn walk(&mut self, root: Node<'_>, at: At) {
        let mut open = Vec::new();
        self.begin(root, at, &mut open);
        while let Some(top) = open.last_mut() {
            match self.step(top) {
                _ if self.budget.is_full() => return,
                Some((child, at)) => self.begin(child, at, &mut open),
                None => _ = open.pop(),
            }
        }
    }

    /// Writes a leaf, or opens a node that has children.
    fn begin<'s>(&mut self, node: Node<'s>, at: At, open: &mut Vec<Open<'s>>) {
        match node.shape {
            Shape::Scalar(Scalar::Null, _) => self.push("None"),
            Shape::Scalar(_, Some(literals)) => self.literals(literals),
            Shape::Scalar(scalar, None) => self.push(name_of(scalar)),
            Shape::Array(None) => self.any_in("list["),
            Shape::Array(Some(item)) if at.lists < LISTS => {
                self.push("list[");
                open.push(Open::List { item: Some((item, At { lists: at.lists + 1, ..at })) });
            }
            Shape::Any | Shape::Array(Some(_)) => self.symbol("Any"),
            Shape::Union(branches) => open.push(Open::Union { rest: branches.iter(), place: 0, at }),
            Shape::Object(members) => match at.name.filter(|_| is_class(&members)) {
                Some(name) => open.push(self.class(members, &name)),
                None => self.any_in("dict[str, "),
            },
        }
    }

    /// Writes up to the next child, or to the end.
    fn step<'s>(&mut self, top: &mut Open<'s>) -> Option<(Node<'s>, At)> {
        match top {
            Open::List { item } => {
                let Some((item, at)) = item.take() else {
                    self.push("]");
                    return None;
                };
                Some((Node::of(item), at))
            }
            Open::Union { rest, place, at } => {
                let branch = Node::of(rest.next()?);
                *place += 1;
                if *place > 1 {
                    self.push(" | ");
                }
                let name = at.name.as_ref().filter(|_| branch.can_have_objects());
                let name = name.map(|name| appended(name, &place.to_string()).into());
                Some((branch, At { name, ..*at }))
            }
            Open::Class { rest, name, start, open, is_empty, bracket } => {
                if std::mem::take(bracket) {
                    self.push("]");
                }
                let Some(member) = rest.next() else {
                    self.push(if *open {
                        OPEN_NOTE
                    } else if *is_empty {
                        "\n    pass"
                    } else {
                        ""
                    });
                    self.leave_class(*start);
                    return None;
                };
                if let Some(comment) = comment(member.node.description, self.limits) {
                    self.push("\n    ");
                    self.push(mark_of(&comment));
                    self.push(" ");
                    self.push(&comment);
                }
                self.push("\n    ");
                self.push(member.name);
                self.push(": ");
                *is_empty = false;
                *bracket = !member.required;
                if *bracket {
                    self.symbol("NotRequired");
                    self.push("[");
                }
                let child =
                    member.node.can_have_objects().then(|| appended(name, &camel(member.name)).into());
                // One bracket is kept for `NotRequired`, needed or not.
                Some((member.node, At { name: child, lists: 1 }))
            }
        }
    }

    /// Names a class where it stands, and begins its text.
    fn class<'s>(&mut self, members: Members<'s>, name: &Arc<str>) -> Open<'s> {
        let name = self.names.allocate(name);
        self.push(&name);
        let start = self.text.len();
        self.push("class ");
        self.push(&name);
        self.push("(");
        self.symbol("TypedDict");
        self.push("):");
        let open = members.open;
        Open::Class { rest: members.rest(), name, start, open, is_empty: true, bracket: false }
    }

    /// Moves the class that begins here to those that are finished.
    fn leave_class(&mut self, start: usize) {
        self.push("\n\n");
        self.classes.push_str(self.text.get(start..).unwrap_or_default());
        self.text.truncate(start);
    }

    /// Adds text where it is being written; nothing more once the budget is full.
    fn push(&mut self, text: &str) {
        if self.budget.admits(text.len()) {
            self.text.push_str(text);
        }
    }

    /// Adds a name that has to be imported.
    fn symbol(&mut self, name: &'static str) {
        self.symbols.insert(name);
        self.push(name);
    }

    fn any_in(&mut self, bracket: &str) {
        self.push(bracket);
        self.symbol("Any");
        self.push("]");
    }

    fn literals(&mut self, literals: &[Json]) {
        self.symbol("Literal");
        self.push("[");
        for (place, literal) in literals.iter().enumerate() {
            if self.budget.is_full() {
                return;
            }
            if place > 0 {
                self.push(", ");
            }
            match literal {
                Json::Bool(true) => self.push("True"),
                Json::Bool(false) => self.push("False"),
                Json::Number(value) => self.push(&number(value)),
                Json::Null | Json::String(_) | Json::Array(_) | Json::Object(_) => {
                    self.budget.push_json(literal, &mut self.text);
                }
            }
        }
        self.push("]");
    }
}

/// Whether an object has fields that a class can declare, or none and takes none (spec 05 §4.3).
fn is_class(members: &Members<'_>) -> bool {
    members.names().all(is_field) && !(members.is_empty() && members.open)
}

fn name_of(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::String => "str",
        Scalar::Number => "float",
        Scalar::Integer => "int",
        Scalar::Boolean => "bool",
        Scalar::Null => "None",
    }
}

/// ECMAScript's text, but all digits where an integer has more than a double keeps (spec 05 §4.1).
fn number(number: &Number) -> String {
    const SAFE: f64 = 9_007_199_254_740_991.0;
    let double = number.as_f64();
    if number.is_exact_f64() && number.is_integral() && double.abs() > SAFE {
        return format!("{double:.0}");
    }
    number.ecma()
}
