//! Values with one thing changed: something is missing, unknown, of another type, out of a list, or out of bounds.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::chance::Chance;
use super::instances::visit;

/// One step into a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Step {
    Key(String),
    Index(usize),
}

/// A value that was changed at one place.
pub(super) struct Mutation {
    pub(super) value: Value,
    /// The place: of what is there now, or of what was taken out.
    pub(super) place: Vec<Step>,
    pub(super) sort: Sort,
}

/// What was done at the place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Sort {
    /// A property was taken out.
    Missing,
    /// A property that no part of the schema declares was put in.
    Unknown,
    /// A property that some part of the schema declares was put in.
    Borrowed,
    /// The value was replaced by one of another type.
    Type,
    /// A string was replaced by one that is near it or stands elsewhere in the schema.
    Text,
    /// A number was replaced by one that is near it or near a bound.
    Number,
    /// An array was emptied, or made long.
    Length,
}

/// What a schema speaks of, to change values with.
pub(super) struct Words<'s> {
    names: Vec<&'s str>,
    texts: Vec<&'s str>,
    numbers: Vec<f64>,
}

impl<'s> Words<'s> {
    pub(super) fn of(schema: &'s Value) -> Self {
        let (mut names, mut texts, mut numbers) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
        visit(schema, &mut |node| {
            names.extend(node.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys));
            texts.extend(node.get("const").and_then(Value::as_str));
            texts.extend(
                node.get("enum").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str),
            );
            let bounds = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
            numbers.extend(bounds.iter().filter_map(|bound| node.get(*bound).and_then(Value::as_f64)));
        });
        let names = names.into_iter().map(String::as_str).collect();
        Self { names, texts: texts.into_iter().collect(), numbers }
    }

    /// A place as the schema sees it: without the numbers of elements, and not beyond a name that it does not know.
    fn general(&self, place: &[Step]) -> String {
        let mut text = String::new();
        for step in place {
            match step {
                Step::Index(_) => text.push_str("[]"),
                Step::Key(name) if self.names.contains(&&**name) => text.extend(["/", name]),
                Step::Key(_) => return text + "/?",
            }
        }
        text
    }
}

struct Edit<'v> {
    base: &'v Value,
    place: Vec<Step>,
    /// What stands there now; nothing where it was taken out.
    put: Option<Value>,
    sort: Sort,
}

/// Changes of these values, at least one for each sort at each place, no two the same, and about `count` in all.
pub(super) fn mutations(
    values: &[Value],
    words: &Words<'_>,
    count: usize,
    chance: &mut Chance,
) -> Vec<Mutation> {
    // Elements of one array are one place here.
    let mut places: BTreeMap<(Sort, String), Vec<Edit<'_>>> = BTreeMap::new();
    for base in values {
        edits(base, base, &mut Vec::new(), words, chance, &mut |edit| {
            places.entry((edit.sort, words.general(&edit.place))).or_default().push(edit);
        });
    }
    let mut places: Vec<Vec<Edit<'_>>> = places.into_values().collect();
    for edits in &mut places {
        chance.shuffle(edits);
    }
    let (mut made, mut seen) = (Vec::new(), BTreeSet::new());
    let mut first = true;
    while (first || made.len() < count) && !places.is_empty() {
        places.retain_mut(|edits| {
            while let Some(edit) = edits.pop() {
                let value = edit.applied();
                if !values.contains(&value) && seen.insert(value.to_string()) {
                    made.push(Mutation { value, place: edit.place, sort: edit.sort });
                    return true;
                }
            }
            false
        });
        first = false;
    }
    made
}

/// What can be changed at a value and below it.
fn edits<'v>(
    base: &'v Value,
    value: &Value,
    place: &mut Vec<Step>,
    words: &Words<'_>,
    chance: &mut Chance,
    found: &mut impl FnMut(Edit<'v>),
) {
    for (sort, put) in replacements(value, words, chance) {
        found(Edit { base, place: place.clone(), put: Some(put), sort });
    }
    match value {
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                place.push(Step::Index(at));
                edits(base, item, place, words, chance, found);
                place.pop();
            }
        }
        Value::Object(object) => {
            let unknown = ["unknown", "ünknown", "toString", "0"].map(|name| (Sort::Unknown, name));
            let borrowed = words.names.iter().map(|name| (Sort::Borrowed, *name));
            for (sort, name) in
                unknown.into_iter().chain(borrowed).filter(|(_, name)| !object.contains_key(*name))
            {
                place.push(Step::Key(name.to_owned()));
                let put = chance.one(&exemplars());
                found(Edit { base, place: place.clone(), put, sort });
                place.pop();
            }
            for (name, member) in object {
                place.push(Step::Key(name.clone()));
                found(Edit { base, place: place.clone(), put: None, sort: Sort::Missing });
                edits(base, member, place, words, chance, found);
                place.pop();
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// What can stand in the place of a value.
fn replacements(value: &Value, words: &Words<'_>, chance: &mut Chance) -> Vec<(Sort, Value)> {
    let mut all: Vec<(Sort, Value)> = exemplars().into_iter().map(|other| (Sort::Type, other)).collect();
    match value {
        Value::String(text) => {
            let shorter: String = text.chars().skip(1).collect();
            let near = [
                format!("{text}~"),
                format!(" {text}"),
                text.to_uppercase(),
                shorter,
                text.repeat(300),
                String::new(),
            ];
            all.extend(near.into_iter().map(|text| (Sort::Text, text.into())));
            all.extend(chance.one(&words.texts).map(|text| (Sort::Text, text.into())));
        }
        Value::Number(number) => {
            let number = number.as_f64().unwrap_or_default();
            let mut near = vec![number + 0.5, -number - 1.0, 1e9, -1e9, 1e300, 0.0];
            near.extend(
                words.numbers.iter().flat_map(|bound| [*bound, bound - 1.0, bound + 1.0, bound + 0.5]),
            );
            all.extend(near.into_iter().map(|number| (Sort::Number, json!(number))));
            all.push((Sort::Number, json!(9_007_199_254_740_993_i64)));
        }
        Value::Array(items) => {
            let first = items.first().cloned().unwrap_or_default();
            all.push((Sort::Length, json!([])));
            all.push((Sort::Length, vec![first.clone(); items.len() + 1].into()));
            all.push((Sort::Length, vec![first; 120].into()));
        }
        Value::Null | Value::Bool(_) | Value::Object(_) => {}
    }
    all
}

/// One or two values of each type.
fn exemplars() -> Vec<Value> {
    vec![
        json!(null),
        json!(true),
        json!(7),
        json!(1.5),
        json!("7"),
        json!([]),
        json!({}),
        json!([null, "7"]),
        json!({ "unknown": { "type": [] } }),
    ]
}

impl Edit<'_> {
    fn applied(&self) -> Value {
        let mut value = self.base.clone();
        let Some((last, way)) = self.place.split_last() else { return self.put.clone().unwrap_or_default() };
        let parent = way.iter().fold(&mut value, |value, step| match step {
            Step::Key(name) => value.get_mut(name).unwrap(),
            Step::Index(at) => value.get_mut(*at).unwrap(),
        });
        match (last, parent.as_object_mut(), &self.put) {
            (Step::Key(name), Some(object), None) => drop(object.shift_remove(name)),
            (Step::Key(name), Some(object), Some(put)) => drop(object.insert(name.clone(), put.clone())),
            (Step::Key(_), None, _) => unreachable!("a property stands in an object"),
            (Step::Index(at), _, put) => *parent.get_mut(*at).unwrap() = put.clone().unwrap_or_default(),
        }
        value
    }
}
