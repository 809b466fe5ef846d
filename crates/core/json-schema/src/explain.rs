//! The slow judge: every violation of a value, in order and with its path (spec 04 §2.4, §2.5).

use std::collections::BTreeMap;
use std::iter::Enumerate;
use std::slice;
use std::sync::Arc;

use dsh_json::{Json, Object};

use crate::check::{Budget, matches};
use crate::path::{Path, Step};
use crate::program::{NodeId, ObjectRule, Program, Rule, ScalarRule, UnionRule};
use crate::violation::{Violation, ViolationKind, Violations};
use crate::words;

/// How many unions within unions are explained by their closest branch.
const MAX_UNION_DETAIL: usize = 2;
/// How many branches compete for being the closest.
const MAX_COMPARED_BRANCHES: usize = 16;

/// What an empty path is called.
const EMPTY_PATH: &str = "arguments";

/// Lists at most `cap` violations of `value` and counts the rest. Takes at most twice `steps`.
pub(crate) fn violations(program: &Program, value: &Json, root: &str, cap: usize, steps: u64) -> Violations {
    if matches(program, NodeId::ROOT, value, &mut Budget::of(steps)) {
        return Violations::default();
    }
    let mut budget = Budget::of(steps);
    let mut found = Explain::new(program, root, cap, MAX_UNION_DETAIL, &mut budget).run(NodeId::ROOT, value);
    if budget.is_spent() || found.is_empty() {
        // A list that stops anywhere would be taken for the whole.
        found = Violations::default();
        found.add(1, || {
            let path = if root.is_empty() { EMPTY_PATH } else { root }.to_owned();
            let arg = Some(steps.to_string().into());
            Violation::new(ViolationKind::ValueTooLarge, path, arg, words::value_too_large(steps))
        });
    }
    found
}

struct Explain<'a, 'b> {
    program: &'a Program,
    path: Path<'a>,
    open: Vec<Frame<'a>>,
    found: Violations,
    cap: usize,
    /// How many more levels of unions are explained.
    detail: usize,
    budget: &'b mut Budget,
    /// The list of each `enum` that was violated, made once.
    lists: BTreeMap<NodeId, Arc<str>>,
}

/// A container whose children are being judged.
enum Frame<'a> {
    Array { items: NodeId, rest: Enumerate<slice::Iter<'a, Json>>, depth: usize },
    Object { rule: &'a ObjectRule, object: &'a Object, next: usize, depth: usize },
}

impl<'a, 'b> Explain<'a, 'b> {
    fn new(program: &'a Program, root: &'a str, cap: usize, detail: usize, budget: &'b mut Budget) -> Self {
        let found = Violations::default();
        let lists = BTreeMap::new();
        Self { program, path: Path::new(root), open: Vec::new(), found, cap, detail, budget, lists }
    }

    fn run(mut self, root: NodeId, value: &'a Json) -> Violations {
        self.visit(root, value);
        while let Some(frame) = self.open.last_mut() {
            if self.budget.is_spent() {
                break;
            }
            match frame {
                Frame::Array { items, rest, depth } => {
                    let (items, depth) = (*items, *depth);
                    if let Some((index, element)) = rest.next() {
                        self.path.truncate(depth);
                        self.path.push(Step::Index(index));
                        self.visit(items, element);
                    } else {
                        self.open.pop();
                    }
                }
                Frame::Object { rule, object, next, depth } => {
                    self.budget.spend();
                    let (rule, object, depth) = (*rule, *object, *depth);
                    if let Some(property) = rule.properties.get(*next) {
                        *next = next.saturating_add(1);
                        if let Some(member) = object.get(&property.name) {
                            self.path.truncate(depth);
                            self.path.push(Step::Key(&property.name));
                            self.visit(property.node, member);
                        }
                    } else {
                        self.open.pop();
                        self.path.truncate(depth);
                        self.undeclared(rule, object);
                    }
                }
            }
        }
        self.found
    }

    fn visit(&mut self, id: NodeId, value: &'a Json) {
        self.budget.spend();
        let depth = self.path.depth();
        match self.program.rule(id) {
            Rule::Any => {}
            Rule::Scalar(rule) => self.scalar(id, rule, value),
            Rule::Array { items } => match (value.as_array(), items) {
                (None, _) => self.wrong_type("array", value),
                (Some(_), None) => {}
                (Some(array), Some(items)) => {
                    let rest = array.iter().enumerate();
                    self.open.push(Frame::Array { items: *items, rest, depth });
                }
            },
            Rule::Object(rule) => match value.as_object() {
                None => self.wrong_type("object", value),
                Some(object) => {
                    self.missing(rule, object);
                    self.open.push(Frame::Object { rule, object, next: 0, depth });
                }
            },
            Rule::Union(union) => self.union(*union, value),
        }
    }

    fn scalar(&mut self, id: NodeId, rule: &ScalarRule, value: &Json) {
        if !rule.scalar.fits(value) {
            return self.wrong_type(rule.scalar.name(), value);
        }
        if let Some(allowed) = rule.allowed.as_ref().filter(|allowed| !allowed.contains(value)) {
            let list = self.lists.entry(id).or_insert_with(|| words::list_arg(allowed).into());
            let arg = Some(Arc::clone(list));
            return self.report(ViolationKind::NotInEnum, arg, || words::not_in_enum(allowed, value));
        }
        if let Some(constant) = rule.constant.as_ref().filter(|constant| *constant != value) {
            let arg = Some(words::literal_arg(constant).into());
            self.report(ViolationKind::NotConst, arg, || words::not_const(constant, value));
        }
    }

    fn missing(&mut self, rule: &ObjectRule, object: &Object) {
        for property in rule.required.iter().filter_map(|place| rule.properties.get(*place)) {
            self.budget.spend();
            if !object.contains_key(&property.name) {
                self.report_member(ViolationKind::MissingRequired, &property.name, words::missing_required);
            }
        }
    }

    fn undeclared(&mut self, rule: &ObjectRule, object: &Object) {
        if !rule.closed {
            return;
        }
        for name in object.keys().filter(|name| rule.property(name, 0).is_none()) {
            let words = || words::undeclared_property(rule, name);
            self.report_member(ViolationKind::UndeclaredProperty, name, words);
        }
    }

    fn union(&mut self, union: UnionRule, value: &Json) {
        let mut matched = Vec::new();
        for (index, branch) in union.branches().enumerate() {
            if matches(self.program, branch, value, self.budget) {
                matched.push(index);
            }
        }
        if matched.len() == 1 {
            return;
        }
        let arg = Some(matched.len().to_string().into());
        let listed = self.found.len() < self.cap;
        let words = match (listed, matched.is_empty()) {
            (false, _) => String::new(),
            (true, true) => self.no_branch(union, value),
            (true, false) => words::many_branches(union.count, &matched),
        };
        self.report(ViolationKind::OneofMismatch, arg, || words);
    }

    fn no_branch(&mut self, union: UnionRule, value: &Json) -> String {
        let kind = value.kind();
        let fitting: Vec<(usize, NodeId)> = union
            .branches()
            .enumerate()
            .filter(|(_, branch)| self.program.accepts(*branch).contains(kind))
            .take(MAX_COMPARED_BRANCHES)
            .collect();
        if fitting.is_empty() {
            return words::no_kind_fits(self.program.kinds(union), value);
        }
        if let Some(words) = self.unknown_tag(union, &fitting, value) {
            return words;
        }
        let Some(detail) = self.detail.checked_sub(1) else {
            return words::no_branch(union.count, None);
        };
        let root = self.path.render();
        let mut closest: Option<((bool, usize), usize, String)> = None;
        for (index, branch) in fitting {
            let found = Explain::new(self.program, &root, 1, detail, self.budget).run(branch, value);
            let score = (self.has_other_tag(branch, value), found.total());
            if let Some(problem) = found.iter().next()
                && closest.as_ref().is_none_or(|(best, ..)| score < *best)
            {
                closest = Some((score, index, problem_below(problem, &root)));
            }
        }
        words::no_branch(union.count, closest.map(|(_, index, problem)| (index, problem)))
    }

    /// When one property tells the branches apart, and its value names none of them.
    fn unknown_tag(&self, union: UnionRule, fitting: &[(usize, NodeId)], value: &Json) -> Option<String> {
        let object = value.as_object()?;
        let first = self.object_rule(fitting.first()?.1)?;
        first.properties.iter().find_map(|property| {
            let found = object.get(&property.name)?;
            let tags = fitting.iter().map(|(_, branch)| {
                let (_, tag) = self.object_rule(*branch)?.property(&property.name, 0)?;
                self.literals(tag.node).filter(|literals| !literals.contains(&found))
            });
            let tags: Vec<&Json> = tags.collect::<Option<Vec<_>>>()?.concat();
            Some(words::unknown_tag(union.count, &property.name, &tags, found))
        })
    }

    fn object_rule(&self, id: NodeId) -> Option<&'a ObjectRule> {
        match self.program.rule(id) {
            Rule::Object(rule) => Some(rule),
            Rule::Any | Rule::Scalar(_) | Rule::Array { .. } | Rule::Union(_) => None,
        }
    }

    /// The only values that a node takes, if it lists them.
    fn literals(&self, id: NodeId) -> Option<Vec<&'a Json>> {
        match self.program.rule(id) {
            Rule::Scalar(ScalarRule { constant: Some(literal), .. }) => Some(vec![literal]),
            Rule::Scalar(ScalarRule { allowed: Some(allowed), .. }) => Some(allowed.list().iter().collect()),
            Rule::Scalar(_) | Rule::Any | Rule::Array { .. } | Rule::Object(_) | Rule::Union(_) => None,
        }
    }

    /// Whether a property that is a literal in this branch has another value: then another branch is meant.
    fn has_other_tag(&self, branch: NodeId, value: &Json) -> bool {
        let (Some(rule), Some(object)) = (self.object_rule(branch), value.as_object()) else { return false };
        rule.properties.iter().any(|property| {
            let literals = self.literals(property.node);
            literals.zip(object.get(&property.name)).is_some_and(|(tags, found)| !tags.contains(&found))
        })
    }

    fn wrong_type(&mut self, expected: &'static str, value: &Json) {
        let arg = Some(expected.into());
        self.report(ViolationKind::WrongType, arg, || words::wrong_type(expected, value));
    }

    fn report(&mut self, kind: ViolationKind, arg: Option<Arc<str>>, words: impl FnOnce() -> String) {
        let path = &self.path;
        self.found.add(self.cap, || Violation::new(kind, named(path.render()), arg, words()));
    }

    fn report_member(&mut self, kind: ViolationKind, name: &str, words: impl FnOnce() -> String) {
        let path = &self.path;
        self.found.add(self.cap, || Violation::new(kind, named(path.render_member(name)), None, words()));
    }
}

fn named(path: String) -> String {
    if path.is_empty() { EMPTY_PATH.to_owned() } else { path }
}

/// A branch's problem as part of the union's text, which already begins with the union's path.
fn problem_below(problem: &Violation, root: &str) -> String {
    if problem.path() == root || root.is_empty() && problem.path() == EMPTY_PATH {
        format!("it {}", problem.words())
    } else {
        problem.to_string()
    }
}

#[cfg(test)]
mod tests {
    use dsh_json::{array, object};

    use super::*;
    use crate::assert::assert;

    #[test]
    fn shared_values_end_at_the_step_limit() {
        let nested = |leaf: Json, wrap: &dyn Fn(Json) -> Json| (0..60).fold(leaf, |inner, _| wrap(inner));
        let schema =
            nested(object! { "type": "integer" }, &|items| object! { "type": "array", "items": items });
        let program = assert(&schema).unwrap();
        let value = nested(1.into(), &|inner| array![inner.clone(), inner]);

        assert!(!matches(&program, NodeId::ROOT, &value, &mut Budget::of(1_000)));
        let found = violations(&program, &value, "", 32, 1_000);
        let kinds: Vec<_> = found.iter().map(|violation| (violation.kind(), violation.path())).collect();
        assert_eq!(kinds, [(ViolationKind::ValueTooLarge, "arguments")]);
    }

    #[test]
    fn the_last_step_is_not_one_too_many() {
        let program = assert(&object! { "type": "array", "items": object! {} }).unwrap();
        let value: Json = (0..10).map(Json::from).collect();
        let valid = |steps| matches(&program, NodeId::ROOT, &value, &mut Budget::of(steps));
        assert_eq!((valid(10), valid(11)), (false, true));
    }
}
