//! Shapes joined (what either takes) and met (what both take). The result takes at least that.

use std::sync::Arc;

use dsh_json::{Json, Kind};

use super::shape::{Field, Fields, Form, Notes, Rule, Shape, Takes};
use crate::program::Scalar;

/// Literals that are compared one by one; longer lists are only put together.
const MAX_COMPARED: usize = 4_096;

/// Joins and meets, and remembers what that cost.
#[derive(Debug)]
pub(super) struct Merge {
    /// How many more properties may be looked at; then joins take anything, and meets what the left takes.
    pub(super) steps: usize,
    /// The most forms of objects in one shape.
    pub(super) alternatives: usize,
    /// Whether a result takes more than it should since this was last cleared.
    pub(super) loosened: bool,
    /// Whether two sides of a join could take the same value since this was last cleared.
    pub(super) overlapped: bool,
    /// Whether a property that one side declares and the other leaves open kept its types.
    pub(super) narrowed: bool,
}

impl Merge {
    pub(super) fn new(steps: usize, alternatives: usize) -> Self {
        Self { steps, alternatives, loosened: false, overlapped: false, narrowed: false }
    }

    pub(super) fn clear(&mut self) {
        (self.loosened, self.overlapped, self.narrowed) = (false, false, false);
    }

    fn spend(&mut self, steps: usize) -> bool {
        let enough = self.steps > steps;
        self.steps = self.steps.saturating_sub(steps);
        if !enough {
            self.loosened = true;
        }
        enough
    }

    /// What either of them takes.
    pub(super) fn join(&mut self, mut left: Shape, mut right: Shape) -> Shape {
        if !self.spend(1) {
            return Shape::default();
        }
        notes_to_forms(&mut left);
        notes_to_forms(&mut right);
        let (Takes::Forms(forms), Takes::Forms(others)) = (&mut left.takes, right.takes) else {
            self.overlapped |= !left.is_nothing();
            return Shape::default();
        };
        for form in others {
            self.add(forms, form);
        }
        let objects = forms.iter().filter(|form| form.rule.kind() == Kind::Object).count();
        if objects > self.alternatives {
            self.join_objects(forms);
        }
        left
    }

    /// One form for all objects.
    pub(super) fn join_objects(&mut self, forms: &mut Vec<Form>) {
        let (objects, mut others): (Vec<Form>, Vec<Form>) =
            std::mem::take(forms).into_iter().partition(|form| form.rule.kind() == Kind::Object);
        let joined = objects.into_iter().reduce(|left, right| self.join_forms(left, right));
        others.extend(joined);
        *forms = others;
    }

    fn add(&mut self, forms: &mut Vec<Form>, mut form: Form) {
        let mut place = None;
        for at in (0..forms.len()).rev() {
            let meets = forms.get(at).is_some_and(|known| self.may_overlap(known, &form));
            if meets {
                form = self.join_forms(forms.remove(at), form);
                place = Some(at);
            }
        }
        forms.insert(place.unwrap_or(forms.len()), form);
    }

    fn may_overlap(&mut self, left: &Form, right: &Form) -> bool {
        match (&left.rule, &right.rule) {
            (Rule::Object(left), Rule::Object(right)) => {
                !self.spend(left.len().min(right.len()).saturating_add(1)) || !left.excludes(right)
            }
            (left, right) => left.kind() == right.kind(),
        }
    }

    fn join_forms(&mut self, left: Form, right: Form) -> Form {
        let overlapped = self.overlapped;
        let form = self.join_same_kind(left, right);
        if form.implied {
            self.overlapped = overlapped;
        }
        form
    }

    fn join_same_kind(&mut self, mut left: Form, mut right: Form) -> Form {
        name_literal(&mut left);
        name_literal(&mut right);
        let notes = self.join_notes(left.notes, right.notes);
        let implied = left.implied && right.implied;
        let rule = match (left.rule, right.rule) {
            (Rule::Scalar(left, literals), Rule::Scalar(right, others)) => {
                self.join_scalars((left, literals), (right, others))
            }
            (Rule::Array(left), Rule::Array(right)) => Rule::Array(self.join_items(left, right)),
            (Rule::Object(left), Rule::Object(right)) => Rule::Object(self.join_fields(left, &right)),
            // Only forms of one kind are joined; see `may_overlap`.
            (left, _) => left,
        };
        Form { notes, rule, implied }
    }

    fn join_scalars(
        &mut self,
        (left, literals): (Scalar, Option<Vec<Json>>),
        (right, others): (Scalar, Option<Vec<Json>>),
    ) -> Rule {
        let integral = |list: &[Json]| list.iter().all(|literal| Scalar::Integer.fits(literal));
        match (literals, others) {
            (Some(mut literals), Some(others)) => {
                let small = literals.len().saturating_mul(others.len()) <= MAX_COMPARED;
                for literal in others {
                    if small && literals.contains(&literal) {
                        self.overlapped = true;
                    } else {
                        literals.push(literal);
                    }
                }
                self.overlapped |= !small;
                let scalar = if left == right { left } else { Scalar::Number };
                Rule::Scalar(scalar, Some(literals))
            }
            (None, Some(list)) => {
                self.overlapped = true;
                self.open_scalar(left, right, integral(&list))
            }
            (Some(list), None) => {
                self.overlapped = true;
                self.open_scalar(right, left, integral(&list))
            }
            (None, None) => {
                self.overlapped = true;
                Rule::Scalar(if left == right { left } else { Scalar::Number }, None)
            }
        }
    }

    /// `open` without literals, and literals of `listed`.
    fn open_scalar(&mut self, open: Scalar, listed: Scalar, integral: bool) -> Rule {
        if open == listed || open == Scalar::Number || integral {
            return Rule::Scalar(open, None);
        }
        self.loosened = true;
        Rule::Scalar(Scalar::Number, None)
    }

    fn join_items(&mut self, left: Option<Arc<Shape>>, right: Option<Arc<Shape>>) -> Option<Arc<Shape>> {
        // The empty array is in both.
        self.overlapped = true;
        let (left, right) = (left?, right?);
        if self.same(&left, &right) {
            return Some(left);
        }
        self.loosened = true;
        Some(self.join_shared(left, &right))
    }

    fn join_shared(&mut self, left: Arc<Shape>, right: &Arc<Shape>) -> Arc<Shape> {
        if Arc::ptr_eq(&left, right) {
            return left;
        }
        self.join(Arc::unwrap_or_clone(left), (**right).clone()).shared()
    }

    fn join_fields(&mut self, mut left: Fields, right: &Fields) -> Fields {
        self.overlapped = true;
        if self.same_fields(&left, right) {
            return left;
        }
        self.loosened = true;
        if !self.spend(left.required().len().saturating_add(right.len())) {
            return Fields::default();
        }
        let shared = right.iter().filter(|field| left.get(&field.name).is_some()).count();
        self.narrowed |= !right.closed && left.len() > shared;
        left.relax(|field| right.get(&field.name).is_some_and(|other| other.required));
        for field in right.iter() {
            if let Some(known) = left.shape_mut(&field.name) {
                *known = self.join_shared(Arc::clone(known), &field.shape);
            } else {
                self.narrowed |= !left.closed;
                left.put(Field { required: false, ..field.clone() });
            }
        }
        left.closed &= right.closed;
        left
    }

    /// Whether they take the same; what is said about them does not matter.
    fn same(&mut self, left: &Shape, right: &Shape) -> bool {
        if std::ptr::eq(left, right) {
            return true;
        }
        if !self.spend(1) {
            return false;
        }
        match (&left.takes, &right.takes) {
            (Takes::Anything, Takes::Anything) => true,
            (Takes::Forms(left), Takes::Forms(right)) => {
                left.len() == right.len()
                    && left.iter().zip(right).all(|(left, right)| self.same_form(left, right))
            }
            (Takes::Anything, _) | (_, Takes::Anything) => false,
        }
    }

    fn same_form(&mut self, left: &Form, right: &Form) -> bool {
        left.notes.remarks == right.notes.remarks
            && match (&left.rule, &right.rule) {
                (Rule::Scalar(left, literals), Rule::Scalar(right, others)) => {
                    left == right && literals == others
                }
                (Rule::Array(None), Rule::Array(None)) => true,
                (Rule::Array(Some(left)), Rule::Array(Some(right))) => self.same(left, right),
                (Rule::Object(left), Rule::Object(right)) => self.same_fields(left, right),
                _ => false,
            }
    }

    fn same_fields(&mut self, left: &Fields, right: &Fields) -> bool {
        left.closed == right.closed
            && left.len() == right.len()
            && left.iter().zip(right.iter()).all(|(left, right)| {
                left.name == right.name
                    && left.required == right.required
                    && self.same(&left.shape, &right.shape)
            })
    }

    fn join_notes(&mut self, mut left: Notes, right: Notes) -> Notes {
        left.description = match (left.description, right.description) {
            (Some(left), Some(right)) if left != right => {
                let between = if right.starts_with("- ") { "\n" } else { " Or: " };
                Some(format!("{left}{between}{right}").into())
            }
            (left, right) => left.or(right),
        };
        left.others.retain(|(name, value)| {
            *name != "title" || right.others.iter().any(|(other, same)| other == name && same == value)
        });
        for (name, value) in right.others.iter().filter(|(name, _)| *name != "title") {
            left.annotate(name, value);
        }
        if left.remarks != right.remarks {
            // A side without remarks takes what the other refuses.
            let sides = [left.remarks.join(", "), right.remarks.join(", ")];
            left.remarks.clear();
            if sides.iter().all(|side| !side.is_empty()) {
                left.remarks.push(sides.join(", or "));
            } else {
                self.loosened = true;
            }
        }
        left
    }

    /// What both of them take.
    pub(super) fn meet(&mut self, mut left: Shape, right: &Shape) -> Shape {
        left.notes.absorb(&right.notes);
        if !self.spend(1) {
            return left;
        }
        left.takes = match (left.takes, &right.takes) {
            (takes, Takes::Anything) => takes,
            (Takes::Anything, takes) => {
                self.spend(right.breadth());
                takes.clone()
            }
            (Takes::Forms(forms), Takes::Forms(others)) => Takes::Forms(self.meet_all(forms, others)),
        };
        left
    }

    fn meet_all(&mut self, forms: Vec<Form>, others: &[Form]) -> Vec<Form> {
        let objects = |forms: &[Form]| forms.iter().filter(|form| form.rule.kind() == Kind::Object).count();
        let joined;
        let mut others = others;
        if objects(&forms).saturating_mul(objects(others)) > self.alternatives.max(1) {
            let mut one = others.to_vec();
            self.join_objects(&mut one);
            joined = one;
            others = &joined;
        }
        let mut met = Vec::new();
        for left in forms {
            let mut partners = others.iter().filter(|right| right.rule.kind() == left.rule.kind()).peekable();
            while let Some(right) = partners.next() {
                // The last one takes the form itself: most forms have one partner only, and may be large.
                if partners.peek().is_none() {
                    met.extend(self.meet_forms(left, right));
                    break;
                }
                met.extend(self.meet_forms(left.clone(), right));
            }
        }
        met
    }

    /// Nothing when no value is in both.
    fn meet_forms(&mut self, mut left: Form, right: &Form) -> Option<Form> {
        left.rule = match (left.rule, &right.rule) {
            (Rule::Scalar(left, literals), Rule::Scalar(right, others)) => {
                self.meet_scalars((left, literals), (*right, others.as_ref()))?
            }
            (Rule::Array(left), Rule::Array(right)) => Rule::Array(match (left, right) {
                (Some(left), Some(right)) => Some(self.meet_shared(&left, right)),
                (left, right) => left.or_else(|| right.clone()),
            }),
            (Rule::Object(left), Rule::Object(right)) => Rule::Object(self.meet_fields(left, right)?),
            // Forms of two kinds have nothing in common.
            _ => return None,
        };
        left.notes.absorb(&right.notes);
        left.implied &= right.implied;
        Some(left)
    }

    fn meet_scalars(
        &mut self,
        (left, literals): (Scalar, Option<Vec<Json>>),
        (right, others): (Scalar, Option<&Vec<Json>>),
    ) -> Option<Rule> {
        let scalar = if left == right { left } else { Scalar::Integer };
        let mut list = match (literals, others) {
            (None, None) => return Some(Rule::Scalar(scalar, None)),
            (Some(list), None) => list,
            (None, Some(list)) => list.clone(),
            (Some(mut list), Some(others)) => {
                if list.len().saturating_mul(others.len()) <= MAX_COMPARED {
                    list.retain(|literal| others.contains(literal));
                } else {
                    self.loosened = true;
                }
                list
            }
        };
        list.retain(|literal| scalar.fits(literal));
        (!list.is_empty()).then_some(Rule::Scalar(scalar, Some(list)))
    }

    fn meet_shared(&mut self, left: &Arc<Shape>, right: &Arc<Shape>) -> Arc<Shape> {
        if Arc::ptr_eq(left, right) {
            return Arc::clone(left);
        }
        self.meet((**left).clone(), right).shared()
    }

    fn meet_fields(&mut self, mut left: Fields, right: &Fields) -> Option<Fields> {
        let looked_at = if right.closed { left.len() } else { 0 };
        if !self.spend(looked_at.saturating_add(right.len())) {
            return Some(left);
        }
        let (mut impossible, closed) = (false, left.closed);
        if right.closed {
            left.retain(|field| {
                let known = right.get(&field.name).is_some();
                impossible |= !known && field.required;
                known
            });
        }
        for field in right.iter() {
            match left.shape_mut(&field.name) {
                Some(known) => {
                    *known = self.meet_shared(known, &field.shape);
                    let nothing = known.is_nothing();
                    if field.required {
                        left.require(&field.name);
                    }
                    impossible |= nothing && left.get(&field.name).is_some_and(|field| field.required);
                }
                None if closed => impossible |= field.required,
                None => left.put(field.clone()),
            }
        }
        left.closed |= right.closed;
        (!impossible).then_some(left)
    }
}

/// What is said about a shape is said about its form, or its first one: the others have their own kinds.
fn notes_to_forms(shape: &mut Shape) {
    let Takes::Forms(forms) = &mut shape.takes else { return };
    let Some(first) = forms.iter_mut().find(|form| !form.implied) else { return };
    let mut notes = std::mem::take(&mut shape.notes);
    notes.absorb(&first.notes);
    first.notes = notes;
}

/// What is said about the only literal of a form becomes a line that names it, for a list of them.
fn name_literal(form: &mut Form) {
    let Rule::Scalar(_, Some(literals)) = &form.rule else { return };
    if let ([literal], Some(said)) = (literals.as_slice(), &form.notes.description)
        && !said.starts_with("- ")
    {
        let literal = literal.as_str().map_or_else(|| literal.to_text(), str::to_owned);
        form.notes.description = Some(format!("- `{literal}`: {said}").into());
    }
}
