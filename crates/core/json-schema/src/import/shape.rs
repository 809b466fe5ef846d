//! What a foreign node takes, sorted by kind of value.
//!
//! A [`Shape`] takes at least what its node takes. Because its forms are apart by kind, and objects by a property that
//! tells them apart, any two can be joined (`anyOf`) and met (`allOf`), and the forms can stand in one `oneOf`.

use std::collections::HashMap;
use std::sync::Arc;

use dsh_json::{Json, Kind};

use crate::assert::ANNOTATIONS;
use crate::program::Scalar;
use crate::words;

/// What a node takes, and what is said about it.
#[derive(Clone, Debug, Default)]
pub(super) struct Shape {
    pub(super) notes: Notes,
    pub(super) takes: Takes,
    /// How many shapes stand in each other below this one.
    pub(super) height: usize,
    /// About how many bytes its text has, shared parts counted each time.
    pub(super) weight: usize,
}

/// Anything, or what the forms take together: nothing, when there are none.
#[derive(Clone, Debug, Default)]
pub(super) enum Takes {
    #[default]
    Anything,
    Forms(Vec<Form>),
}

/// At most one form of a shape takes values of one kind, unless they are objects told apart.
#[derive(Clone, Debug)]
pub(super) struct Form {
    pub(super) notes: Notes,
    pub(super) rule: Rule,
    /// Taken by the letter, and never meant: what `properties` without `type` says of values that are no objects.
    pub(super) implied: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Rule {
    Scalar(Scalar, Option<Vec<Json>>),
    Array(Option<Arc<Shape>>),
    Object(Fields),
}

/// The properties of an object, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Fields {
    list: Vec<Field>,
    index: HashMap<Arc<str>, usize>,
    /// Where the required ones are, so that asking for them does not look at all others.
    required: Vec<usize>,
    pub(super) closed: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) name: Arc<str>,
    pub(super) shape: Arc<Shape>,
    pub(super) required: bool,
}

/// The annotations of a node, and what else it asks for, in words.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Notes {
    pub(super) description: Option<Arc<str>>,
    /// `title`, `default` and `examples`, where they are said.
    pub(super) others: Vec<(&'static str, Json)>,
    pub(super) remarks: Vec<String>,
}

impl Shape {
    pub(super) fn nothing() -> Self {
        Self::of(Vec::new())
    }

    pub(super) fn of(forms: Vec<Form>) -> Self {
        Self { takes: Takes::Forms(forms), ..Self::default() }
    }

    /// The finished shape, measured.
    pub(super) fn shared(mut self) -> Arc<Self> {
        let mut height = 0_usize;
        let mut weight = NODE_WEIGHT.saturating_add(self.notes.weight());
        for form in self.forms().unwrap_or_default() {
            weight = weight.saturating_add(form.weight());
            for child in form.rule.children() {
                height = height.max(child.height.saturating_add(1));
                weight = weight.saturating_add(child.weight);
            }
        }
        (self.height, self.weight) = (height, weight);
        Arc::new(self)
    }

    pub(super) fn forms(&self) -> Option<&[Form]> {
        match &self.takes {
            Takes::Anything => None,
            Takes::Forms(forms) => Some(forms),
        }
    }

    pub(super) fn is_anything(&self) -> bool {
        matches!(self.takes, Takes::Anything)
    }

    pub(super) fn is_nothing(&self) -> bool {
        self.forms().is_some_and(<[Form]>::is_empty)
    }

    /// How many parts a copy has.
    pub(super) fn breadth(&self) -> usize {
        let parts = self.forms().unwrap_or_default().iter().map(|form| match &form.rule {
            Rule::Scalar(_, literals) => literals.as_ref().map_or(0, Vec::len),
            Rule::Array(_) => 1,
            Rule::Object(fields) => fields.len(),
        });
        parts.sum()
    }

    /// The only values that it takes, if it lists them.
    pub(super) fn literals(&self) -> Option<Vec<&Json>> {
        let lists = self.forms()?.iter().map(|form| match &form.rule {
            Rule::Scalar(Scalar::Null, _) => Some(vec![&Json::Null]),
            Rule::Scalar(_, literals) => Some(literals.as_ref()?.iter().collect()),
            Rule::Array(_) | Rule::Object(_) => None,
        });
        Some(lists.collect::<Option<Vec<Vec<&Json>>>>()?.concat())
    }

    /// Whether no value is taken by both.
    pub(super) fn excludes(&self, other: &Self) -> bool {
        let (Some(left), Some(right)) = (self.forms(), other.forms()) else { return false };
        if !left.iter().any(|form| right.iter().any(|other| form.rule.kind() == other.rule.kind())) {
            return true;
        }
        match (self.literals(), other.literals()) {
            (Some(left), Some(right)) => left.iter().all(|literal| !right.contains(literal)),
            (Some(_) | None, _) => false,
        }
    }

    /// Without the forms that nobody meant; whether there were some.
    pub(super) fn strip_implied(&mut self) -> bool {
        let Takes::Forms(forms) = &mut self.takes else { return false };
        let before = forms.len();
        if forms.iter().any(|form| !form.implied) {
            forms.retain(|form| !form.implied);
        }
        forms.len() < before
    }
}

/// What a node weighs without annotations, literals and children.
const NODE_WEIGHT: usize = 12;
/// What a name or a literal weighs beside its text.
const ENTRY_WEIGHT: usize = 8;

impl Form {
    pub(super) fn new(rule: Rule) -> Self {
        Self { notes: Notes::default(), rule, implied: false }
    }

    /// What it weighs without its children.
    fn weight(&self) -> usize {
        let entries: usize = match &self.rule {
            Rule::Scalar(_, literals) => literals.iter().flatten().map(weight_of).sum(),
            Rule::Array(_) => ENTRY_WEIGHT,
            Rule::Object(fields) => {
                let names = fields.iter().chain(fields.required());
                names.map(|field| ENTRY_WEIGHT.saturating_add(field.name.len())).sum()
            }
        };
        entries.saturating_add(NODE_WEIGHT).saturating_add(self.notes.weight())
    }
}

fn weight_of(value: &Json) -> usize {
    ENTRY_WEIGHT.saturating_add(value.as_str().map_or(ENTRY_WEIGHT, str::len))
}

impl Rule {
    pub(super) fn kind(&self) -> Kind {
        match self {
            Self::Scalar(scalar, _) => scalar.kind(),
            Self::Array(_) => Kind::Array,
            Self::Object(_) => Kind::Object,
        }
    }

    pub(super) fn children(&self) -> impl Iterator<Item = &Arc<Shape>> {
        let (items, fields) = match self {
            Self::Scalar(..) => (None, None),
            Self::Array(items) => (items.as_ref(), None),
            Self::Object(fields) => (None, Some(fields)),
        };
        items.into_iter().chain(fields.into_iter().flat_map(|fields| fields.iter().map(|field| &field.shape)))
    }

    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Scalar(scalar, _) => scalar.name(),
            Self::Array(_) => "array",
            Self::Object(_) => "object",
        }
    }
}

impl Fields {
    pub(super) fn iter(&self) -> std::slice::Iter<'_, Field> {
        self.list.iter()
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn get(&self, name: &str) -> Option<&Field> {
        self.list.get(*self.index.get(name)?)
    }

    /// What a field takes, to change it.
    pub(super) fn shape_mut(&mut self, name: &str) -> Option<&mut Arc<Shape>> {
        self.list.get_mut(*self.index.get(name)?).map(|field| &mut field.shape)
    }

    /// Adds a field that is not there yet.
    pub(super) fn put(&mut self, field: Field) {
        let at = self.list.len();
        self.index.insert(Arc::clone(&field.name), at);
        if field.required {
            self.required.push(at);
        }
        self.list.push(field);
    }

    /// The fields that are required.
    pub(super) fn required(&self) -> impl ExactSizeIterator<Item = &Field> {
        #[expect(clippy::indexing_slicing, reason = "the places point into the list beside them")]
        self.required.iter().map(|at| &self.list[*at])
    }

    /// Makes a field required; false when there is none of that name.
    pub(super) fn require(&mut self, name: &str) -> bool {
        let Some(at) = self.index.get(name) else { return false };
        if let Some(field) = self.list.get_mut(*at)
            && !field.required
        {
            field.required = true;
            self.required.push(*at);
        }
        true
    }

    /// Keeps those required that `keep` says.
    pub(super) fn relax(&mut self, keep: impl Fn(&Field) -> bool) {
        let list = &mut self.list;
        self.required.retain(|at| {
            list.get_mut(*at).is_some_and(|field| {
                field.required = keep(field);
                field.required
            })
        });
    }

    /// Keeps the fields that `keep` says.
    pub(super) fn retain(&mut self, keep: impl FnMut(&Field) -> bool) {
        let before = self.list.len();
        self.list.retain(keep);
        if self.list.len() < before {
            let places = || self.list.iter().enumerate();
            self.index = places().map(|(at, field)| (Arc::clone(&field.name), at)).collect();
            self.required = places().filter(|(_, field)| field.required).map(|(at, _)| at).collect();
        }
    }

    /// Whether a property that one of them requires keeps its values out of the other.
    pub(super) fn excludes(&self, other: &Self) -> bool {
        self.tells_from(other) || other.tells_from(self)
    }

    fn tells_from(&self, other: &Self) -> bool {
        self.required().any(|field| match other.get(&field.name) {
            Some(same) => field.shape.excludes(&same.shape),
            None => other.closed,
        })
    }
}

impl Notes {
    /// Adds an annotation; the first one of a name stays.
    pub(super) fn annotate(&mut self, name: &'static str, value: &Json) {
        if self.others.iter().all(|(known, _)| *known != name) {
            self.others.push((name, value.clone()));
        }
    }

    /// Adds what `other` says: its annotations where there are none, its remarks all.
    pub(super) fn absorb(&mut self, other: &Self) {
        if self.description.is_none() {
            self.description.clone_from(&other.description);
        }
        for (name, value) in &other.others {
            self.annotate(name, value);
        }
        for remark in &other.remarks {
            self.remark(remark.clone());
        }
    }

    pub(super) fn remark(&mut self, words: String) {
        if !self.remarks.contains(&words) {
            self.remarks.push(words);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.description.is_none() && self.others.is_empty() && self.remarks.is_empty()
    }

    fn weight(&self) -> usize {
        let texts =
            self.description.iter().map(|text| text.len()).chain(self.remarks.iter().map(String::len));
        let others = self.others.iter().map(|(_, value)| value.to_text().len());
        texts.chain(others).map(|length| ENTRY_WEIGHT.saturating_mul(2).saturating_add(length)).sum()
    }

    /// The annotations in their order, remarks in the description, which has at most `most` characters.
    pub(super) fn annotations(&self, most: usize) -> impl Iterator<Item = (&'static str, Json)> {
        ANNOTATIONS.into_iter().filter_map(move |name| {
            if name == "description" {
                return self.text(most).map(|text| (name, Json::from(text)));
            }
            let (_, value) = self.others.iter().find(|(known, _)| *known == name)?;
            Some((name, value.clone()))
        })
    }

    /// The description with the remarks as a sentence behind it. The remarks are rules, so what is said gives way to them.
    fn text(&self, most: usize) -> Option<String> {
        let Some((first, rest)) = self.remarks.split_first() else {
            return self.description.as_deref().map(|said| words::cut(said, most));
        };
        let mut rules = String::new();
        let mut letters = first.chars();
        rules.extend(letters.next().into_iter().flat_map(char::to_uppercase));
        rules.push_str(letters.as_str());
        for remark in rest {
            rules.push_str("; ");
            rules.push_str(remark);
        }
        rules.push('.');
        // Two characters may stand between the two.
        let room = most.saturating_sub(rules.chars().count().saturating_add(2));
        let said = self.description.as_deref().map(str::trim_end).filter(|said| !said.is_empty() && room > 0);
        let Some(said) = said.map(|said| words::cut(said, room)) else {
            return Some(words::cut(&rules, most));
        };
        let between = match (said.contains('\n'), said.ends_with(['.', '!', '?', ':', ';', ')', '…'])) {
            (true, _) => "\n",
            (false, true) => " ",
            (false, false) => ". ",
        };
        Some(format!("{said}{between}{rules}"))
    }
}
