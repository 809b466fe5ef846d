//! The fast judge: valid or not. Of bounded recursion, and without allocation for values of ordinary depth.

use std::slice;

use dsh_json::{Json, Object, ObjectIter};

use crate::program::{NodeId, ObjectRule, Program, Rule, UnionRule};

/// The most steps that checking one value may take.
///
/// Text can't reach it in earnest; a value whose parts are shared many times over, or a union that tries them
/// again and again, can.
pub const MAX_CHECK_STEPS: u64 = 100_000_000;

/// How many levels of a value are judged by recursion, which keeps its place in registers. Levels below them wait on a
/// stack of their own, so that no value overflows the thread's.
const NEAR_LEVELS: u32 = 16;

/// Whether `value` matches the node; false once the budget is spent.
pub(crate) fn matches(program: &Program, node: NodeId, value: &Json, budget: &mut Budget) -> bool {
    near(program, node, value, NEAR_LEVELS, budget) && !budget.is_spent()
}

/// Judges with at most `levels` more levels of recursion.
fn near(program: &Program, node: NodeId, value: &Json, levels: u32, budget: &mut Budget) -> bool {
    let Some(below) = levels.checked_sub(1) else { return far(program, node, value, budget) };
    match program.rule(node) {
        Rule::Any => true,
        Rule::Scalar(rule) => rule.accepts(value),
        Rule::Array { items } => match (value.as_array(), items) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(array), Some(items)) => {
                array.iter().all(|element| child(program, *items, element, below, budget))
            }
        },
        Rule::Object(rule) => match value.as_object() {
            Some(object) if object.len() >= rule.distinct_required() => {
                members(program, rule, object, below, budget)
            }
            Some(_) | None => false,
        },
        Rule::Union(union) => {
            let mut matched = 0_u32;
            for branch in union.branches() {
                matched = matched.wrapping_add(u32::from(child(program, branch, value, below, budget)));
                if matched > 1 {
                    return false;
                }
            }
            matched == 1
        }
    }
}

fn members(program: &Program, rule: &ObjectRule, object: &Object, levels: u32, budget: &mut Budget) -> bool {
    let (mut cursor, mut required) = (0_usize, 0_usize);
    for (key, member) in object {
        match rule.property(key, cursor) {
            None if rule.closed => return false,
            None => {
                if !budget.spend() {
                    return false;
                }
            }
            Some((place, property)) => {
                cursor = place.wrapping_add(1);
                required = required.wrapping_add(usize::from(property.required));
                if !child(program, property.node, member, levels, budget) {
                    return false;
                }
            }
        }
    }
    required == rule.distinct_required()
}

/// Most children are settled by their kind, on the spot.
#[inline]
fn child(program: &Program, node: NodeId, value: &Json, levels: u32, budget: &mut Budget) -> bool {
    let kind = value.kind();
    if !budget.spend() || !program.accepts(node).contains(kind) {
        return false;
    }
    program.settles(node).contains(kind)
        || match program.rule(node) {
            Rule::Scalar(rule) => rule.accepts(value),
            Rule::Any | Rule::Array { .. } | Rule::Object(_) | Rule::Union(_) => {
                near(program, node, value, levels, budget)
            }
        }
}

/// Judges without recursion.
fn far(program: &Program, node: NodeId, value: &Json, budget: &mut Budget) -> bool {
    let mut parents = Vec::new();
    let mut current = match enter(program, node, value) {
        Entered::Settled(outcome) => return outcome,
        Entered::Open(frame) => frame,
    };
    loop {
        match current.advance(program, budget) {
            Advanced::Open(frame) => parents.push(std::mem::replace(&mut current, frame)),
            Advanced::Settled(mut outcome) => loop {
                let Some(parent) = parents.pop() else { return outcome };
                current = parent;
                match current.settle(outcome) {
                    None => break,
                    Some(settled) => outcome = settled,
                }
            },
        }
    }
}

/// The steps that are left.
#[derive(Debug)]
pub(crate) struct Budget {
    left: u64,
}

impl Budget {
    pub(crate) fn of(steps: u64) -> Self {
        Self { left: steps }
    }

    /// Takes one step; false when none is left.
    pub(crate) fn spend(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        self.left > 0
    }

    pub(crate) fn is_spent(&self) -> bool {
        self.left == 0
    }
}

/// A node that can't be judged at once, because its children have to be judged first.
enum Frame<'a> {
    Array { items: NodeId, rest: slice::Iter<'a, Json> },
    Object { rule: &'a ObjectRule, rest: ObjectIter<'a>, cursor: usize, required: usize },
    Union { union: UnionRule, value: &'a Json, next: u32, matched: u32 },
}

enum Entered<'a> {
    Settled(bool),
    Open(Frame<'a>),
}

enum Advanced<'a> {
    Settled(bool),
    /// This child has to be judged first; [`Frame::settle`] takes its outcome.
    Open(Frame<'a>),
}

fn enter<'a>(program: &'a Program, node: NodeId, value: &'a Json) -> Entered<'a> {
    match program.rule(node) {
        Rule::Any => Entered::Settled(true),
        Rule::Scalar(rule) => Entered::Settled(rule.accepts(value)),
        Rule::Array { items } => match (value.as_array(), items) {
            (None, _) => Entered::Settled(false),
            (Some(_), None) => Entered::Settled(true),
            (Some(array), Some(items)) => Entered::Open(Frame::Array { items: *items, rest: array.iter() }),
        },
        Rule::Object(rule) => match value.as_object() {
            Some(object) if object.len() >= rule.distinct_required() => {
                Entered::Open(Frame::Object { rule, rest: object.iter(), cursor: 0, required: 0 })
            }
            Some(_) | None => Entered::Settled(false),
        },
        Rule::Union(union) => Entered::Open(Frame::Union { union: *union, value, next: 0, matched: 0 }),
    }
}

impl<'a> Frame<'a> {
    /// Judges children until one needs a frame of its own, or all is known.
    fn advance(&mut self, program: &'a Program, budget: &mut Budget) -> Advanced<'a> {
        loop {
            if !budget.spend() {
                return Advanced::Settled(false);
            }
            let (node, value) = match self {
                Self::Array { items, rest } => match rest.next() {
                    None => return Advanced::Settled(true),
                    Some(element) => (*items, element),
                },
                Self::Object { rule, rest, cursor, required } => match rest.next() {
                    None => return Advanced::Settled(*required == rule.distinct_required()),
                    Some((key, member)) => match rule.property(key, *cursor) {
                        None if rule.closed => return Advanced::Settled(false),
                        None => continue,
                        Some((place, property)) => {
                            *cursor = place.wrapping_add(1);
                            *required = required.wrapping_add(usize::from(property.required));
                            (property.node, member)
                        }
                    },
                },
                Self::Union { union, value, next, matched } => {
                    if *next == union.count {
                        return Advanced::Settled(*matched == 1);
                    }
                    let branch = union.first.plus(*next);
                    *next = next.wrapping_add(1);
                    if !program.accepts(branch).contains(value.kind()) {
                        continue;
                    }
                    (branch, *value)
                }
            };
            // Most children are scalars; they are judged on the spot.
            let outcome = match program.rule(node) {
                Rule::Any => true,
                Rule::Scalar(rule) => rule.accepts(value),
                Rule::Array { .. } | Rule::Object(_) | Rule::Union(_) => match enter(program, node, value) {
                    Entered::Open(frame) => return Advanced::Open(frame),
                    Entered::Settled(outcome) => outcome,
                },
            };
            if let Some(settled) = self.settle(outcome) {
                return Advanced::Settled(settled);
            }
        }
    }

    /// Takes the outcome of a child; returns the frame's own when that decides it.
    fn settle(&mut self, outcome: bool) -> Option<bool> {
        match self {
            Self::Array { .. } | Self::Object { .. } => (!outcome).then_some(false),
            Self::Union { matched, .. } => {
                *matched = matched.wrapping_add(u32::from(outcome));
                (*matched > 1).then_some(false)
            }
        }
    }
}
