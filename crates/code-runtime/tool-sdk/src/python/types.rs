//! The text of Python types, of any depth, in one pass: annotations, and a class for each object.

use std::collections::BTreeSet;
use std::mem;
use std::ops::Range;
use std::sync::Arc;

use dsh_json::{Json, Number};
use dsh_json_schema::Schema;

use super::names::{ClassNames, appended, camel, is_field};
use super::{comment, mark_of};
use crate::Limits;
use crate::outline::{Node, Outline, Scalar, Shape};

/// The most `list[` in one annotation: Python reads at most 200 open brackets (spec 05 §4.6).
const LISTS: usize = 180;

/// What an open object says behind its fields.
const OPEN_NOTE: &str = "\n    # Any other key is accepted, too.";

/// Everything behind which annotations have left classes.
pub(super) struct Types<'t> {
    /// The finished classes, children before their parents, each with a blank line behind it.
    classes: &'t mut String,
    /// Where the first class begins.
    start: usize,
    limits: &'t Limits,
    /// The schema whose annotation is being written.
    outline: Outline<'t>,
    /// The annotation that nobody has taken, and behind it the classes that are being written, each in its parent.
    text: String,
    names: ClassNames,
    /// What is imported from `typing`.
    symbols: BTreeSet<&'static str>,
}

/// Where a node stands.
struct At<'t> {
    /// What a class would be called here; none where there is none.
    name: Option<Name<'t>>,
    /// The brackets that are open in the annotation.
    lists: usize,
}

/// A class name before it is allocated. Most fields have no class, and theirs is never put together.
enum Name<'t> {
    Whole(Arc<str>),
    OfField { class: Arc<str>, field: &'t str },
}

/// A type that is not finished: what of it is still to come.
enum Open<'t> {
    List { item: Option<(usize, At<'t>)> },
    Union { rest: Range<usize>, place: usize, name: Option<Arc<str>>, lists: usize },
    Class { rest: Range<usize>, name: Arc<str>, start: usize, open: bool, is_empty: bool, bracket: bool },
}

impl<'t> Types<'t> {
    /// Appends the classes of about so many tools to a text.
    pub(super) fn new(tools: usize, limits: &'t Limits, classes: &'t mut String) -> Self {
        Self {
            start: classes.len(),
            classes,
            limits,
            outline: Outline::default(),
            text: String::new(),
            names: ClassNames::for_tools(tools),
            symbols: BTreeSet::from(["Protocol"]),
        }
    }

    /// The annotation of a schema, whose classes begin with `name`; without a name there are none. Stops early once there
    /// is too much.
    pub(super) fn annotation(&mut self, schema: Option<&'t Schema>, name: Option<String>) -> String {
        match schema {
            None => self.symbol("Any"),
            Some(schema) => {
                self.outline.read(schema.json());
                self.walk(At { name: name.map(|name| Name::Whole(name.into())), lists: 0 });
            }
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

    /// How much there is, annotations that were taken aside.
    pub(super) fn bytes(&self) -> usize {
        self.classes.len() - self.start + self.text.len()
    }

    fn is_full(&self) -> bool {
        self.bytes() > self.limits.declarations_bytes
    }

    fn walk(&mut self, at: At<'t>) {
        let mut open = Vec::new();
        self.begin(self.outline.node(0), at, &mut open);
        while let Some(top) = open.last_mut() {
            match self.step(top) {
                _ if self.is_full() => return,
                Some((child, at)) => self.begin(child, at, &mut open),
                None => _ = open.pop(),
            }
        }
    }

    /// Writes a leaf, or opens a node that has children.
    fn begin(&mut self, node: Node<'t>, at: At<'t>, open: &mut Vec<Open<'t>>) {
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
            Shape::Union(branches) => {
                let name = at.name.map(Name::whole);
                open.push(Open::Union { rest: branches, place: 0, name, lists: at.lists });
            }
            Shape::Object { members, open: is_open } => {
                match at.name.filter(|_| is_class(self.outline.nodes(&members), is_open)) {
                    Some(name) => open.push(self.class(members, is_open, &name.whole())),
                    None => self.any_in("dict[str, "),
                }
            }
        }
    }

    /// Writes up to the next child, or to the end.
    fn step(&mut self, top: &mut Open<'t>) -> Option<(Node<'t>, At<'t>)> {
        match top {
            Open::List { item } => {
                let Some((item, at)) = item.take() else {
                    self.push("]");
                    return None;
                };
                Some((self.outline.node(item), at))
            }
            Open::Union { rest, place, name, lists } => {
                let branch = self.outline.node(rest.next()?);
                *place += 1;
                if *place > 1 {
                    self.push(" | ");
                }
                let name = name.as_ref().filter(|_| branch.can_have_objects());
                let name = name.map(|name| Name::Whole(appended(name, &place.to_string()).into()));
                Some((branch, At { name, lists: *lists }))
            }
            Open::Class { rest, name, start, open, is_empty, bracket } => {
                if mem::take(bracket) {
                    self.push("]");
                }
                let Some(member) = rest.next().map(|number| self.outline.node(number)) else {
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
                *is_empty = false;
                *bracket = !member.required;
                self.field(&member);
                let child = || Name::OfField { class: Arc::clone(name), field: member.name };
                let child = member.can_have_objects().then(child);
                // One bracket is kept for `NotRequired`, needed or not.
                Some((member, At { name: child, lists: 1 }))
            }
        }
    }

    /// Names a class where it stands, and begins its text.
    fn class(&mut self, members: Range<usize>, open: bool, name: &Arc<str>) -> Open<'t> {
        let name = self.names.allocate(name);
        self.push(&name);
        let start = self.text.len();
        self.push("class ");
        self.push(&name);
        self.push("(");
        self.symbol("TypedDict");
        self.push("):");
        Open::Class { rest: members, name, start, open, is_empty: true, bracket: false }
    }

    /// Writes a field up to its type.
    fn field(&mut self, member: &Node<'_>) {
        if let Some(comment) = comment(member.description, self.limits) {
            self.push(mark_of(&comment));
            self.push(" ");
            self.push(&comment);
        }
        self.push("\n    ");
        self.push(member.name);
        self.push(": ");
        if !member.required {
            self.symbol("NotRequired");
            self.push("[");
        }
    }

    /// Moves the class that begins here to those that are finished.
    fn leave_class(&mut self, start: usize) {
        self.push("\n\n");
        self.classes.push_str(self.text.get(start..).unwrap_or_default());
        self.text.truncate(start);
    }

    /// Adds text where it is being written.
    fn push(&mut self, text: &str) {
        self.text.push_str(text);
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
            if self.is_full() {
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
                    literal.write_text(&mut self.text);
                }
            }
        }
        self.push("]");
    }
}

impl Name<'_> {
    fn whole(self) -> Arc<str> {
        match self {
            Self::Whole(name) => name,
            Self::OfField { class, field } => appended(&class, &camel(field)).into(),
        }
    }
}

/// Whether an object has fields that a class can declare, or none and takes none (spec 05 §4.3).
fn is_class(members: &[Node<'_>], open: bool) -> bool {
    members.iter().all(|member| is_field(member.name)) && !(members.is_empty() && open)
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
