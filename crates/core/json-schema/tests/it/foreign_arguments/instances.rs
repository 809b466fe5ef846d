//! Values that a foreign schema takes, made from the schema.
//!
//! All schemas that look at one value are collected first (behind `$ref`, in `allOf`, one branch of each `anyOf` and
//! `oneOf`), then a value is made that meets all of them. What is not looked at (`not`, `if`, `patternProperties`,
//! `dependentRequired`, `contains`) the recorded schemas don't have; the oracle would say so.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Map, Value, json};

use super::chance::Chance;

/// How much of what may be left out is there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fill {
    Nothing,
    Something,
    Everything,
}

pub(super) struct Instances<'s> {
    root: &'s Value,
    chance: Chance,
    /// Strings that meet the keywords, by the keywords.
    texts: HashMap<String, Vec<String>>,
    /// All names that the schema speaks of; what is called otherwise is unknown to every part of it.
    names: BTreeSet<&'s str>,
    fill: Fill,
}

type Fact<'s> = &'s Map<String, Value>;

/// How deep a value goes on beyond what has to be there.
const DEEP: usize = 8;
/// How deep it may go at all.
const TOO_DEEP: usize = 24;
/// How many schemas may look at one value.
const MANY: usize = 500;

const KINDS: [&str; 7] = ["object", "array", "string", "integer", "number", "boolean", "null"];

impl<'s> Instances<'s> {
    pub(super) fn new(root: &'s Value, chance: Chance) -> Self {
        let mut names = BTreeSet::new();
        visit(root, &mut |node| {
            for key in ["properties", "$defs", "definitions"] {
                names.extend(
                    node.get(key)
                        .and_then(Value::as_object)
                        .into_iter()
                        .flat_map(Map::keys)
                        .map(String::as_str),
                );
            }
        });
        Self { root, chance, texts: HashMap::new(), names, fill: Fill::Something }
    }

    /// A value; none when chance led into a contradiction.
    pub(super) fn next(&mut self, fill: Fill) -> Option<Value> {
        self.fill = fill;
        self.value(&[self.root], 0)
    }

    /// A value that all of these take.
    fn value(&mut self, schemas: &[&'s Value], depth: usize) -> Option<Value> {
        let facts = self.facts(schemas)?;
        let kinds = kinds(&facts);
        if depth > TOO_DEEP {
            return None;
        }
        if let Some(literals) = literals(&facts) {
            let fits = |value: &Value| kinds.iter().any(|kind| is_of(kind, value));
            return self.chance.one(&literals.into_iter().filter(fits).collect::<Vec<_>>());
        }
        let kind = match meant(&facts) {
            Some(kind) if kinds.len() == KINDS.len() => kind,
            _ => self.chance.one(&kinds)?,
        };
        match kind {
            "object" => self.object(&facts, depth),
            "array" => self.array(&facts, depth),
            "string" => self.text(&facts).map(Value::from),
            "integer" => self.integer(&facts),
            "number" => self.number(&facts),
            "boolean" => Some(Value::Bool(self.chance.once_in(2))),
            _ => Some(Value::Null),
        }
    }

    /// All schemas that look at the value that these look at; none when one takes nothing.
    fn facts(&mut self, schemas: &[&'s Value]) -> Option<Vec<Fact<'s>>> {
        let (mut todo, mut facts) = (schemas.to_vec(), Vec::new());
        while let Some(schema) = todo.pop() {
            if *schema == Value::Bool(true) {
                continue;
            }
            let node = schema.as_object()?;
            facts.push(node);
            if facts.len() > MANY {
                return None;
            }
            if let Some(pointer) = node.get("$ref").and_then(Value::as_str) {
                todo.push(target(self.root, pointer)?);
            }
            todo.extend(node.get("allOf").and_then(Value::as_array).into_iter().flatten());
            for key in ["anyOf", "oneOf"] {
                if let Some(branches) = node.get(key).and_then(Value::as_array) {
                    let branches: Vec<&'s Value> = branches.iter().collect();
                    todo.push(self.chance.one(&branches)?);
                }
            }
        }
        Some(facts)
    }

    fn object(&mut self, facts: &[Fact<'s>], depth: usize) -> Option<Value> {
        let (mut names, mut required) = (Vec::new(), BTreeSet::new());
        for fact in facts {
            names.extend(fact.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys));
            required.extend(
                fact.get("required")
                    .and_then(Value::as_array)
                    .into_iter()
                    .flatten()
                    .filter_map(Value::as_str),
            );
        }
        let mut object = Map::new();
        for name in names.into_iter().map(String::as_str).chain(required.iter().copied()) {
            let Some(schemas) = member(facts, name) else {
                if required.contains(name) {
                    return None;
                }
                continue;
            };
            let wanted = match self.fill {
                _ if required.contains(name) => true,
                _ if depth > DEEP => false,
                Fill::Nothing => false,
                Fill::Something => self.chance.once_in(2),
                Fill::Everything => true,
            };
            if wanted && !object.contains_key(name) {
                match self.value(&schemas, depth + 1) {
                    Some(value) => _ = object.insert(name.to_owned(), value),
                    None if required.contains(name) => return None,
                    None => {}
                }
            }
        }
        let at_least = whole(facts, "minProperties", f64::max).unwrap_or(0);
        let at_most = whole(facts, "maxProperties", f64::min).unwrap_or(usize::MAX);
        let more = self.fill == Fill::Something && depth <= DEEP && self.chance.once_in(3);
        for _ in 0..4 {
            if (object.len() < at_least || more) && object.len() < at_most {
                self.add_unknown(facts, &mut object, depth);
            }
        }
        (object.len() >= at_least).then(|| object.into())
    }

    /// Adds a property that nothing declares, if the object is open.
    fn add_unknown(
        &mut self,
        facts: &[Fact<'s>],
        object: &mut Map<String, Value>,
        depth: usize,
    ) -> Option<()> {
        const NAMES: [&str; 8] = ["extra", "x-note", "né", "0", "__proto__", "constructor", "a.b", ""];
        let told: Vec<&'s Value> = facts.iter().filter_map(|fact| fact.get("propertyNames")).collect();
        let name = if told.is_empty() {
            self.chance.one(&NAMES)?.to_owned()
        } else {
            let facts = self.facts(&told)?;
            self.text(&facts)?
        };
        if self.names.contains(&*name) {
            return None;
        }
        let schemas = member(facts, &name)?;
        let value = self.value(&schemas, depth + 1)?;
        object.insert(name, value);
        Some(())
    }

    fn array(&mut self, facts: &[Fact<'s>], depth: usize) -> Option<Value> {
        let at_least = whole(facts, "minItems", f64::max).unwrap_or(0);
        let at_most = whole(facts, "maxItems", f64::min).unwrap_or(usize::MAX);
        let most = match self.fill {
            _ if depth > DEEP => at_least,
            Fill::Nothing => at_least,
            Fill::Something | Fill::Everything => at_least.saturating_add(3).min(at_most),
        };
        let least = if self.fill == Fill::Everything { at_least.max(1).min(most) } else { at_least };
        let count = least + self.chance.below(most.checked_sub(least)? + 1);
        let unique = facts.iter().any(|fact| fact.get("uniqueItems") == Some(&Value::Bool(true)));
        let mut items: Vec<Value> = Vec::new();
        for _ in 0..count * 8 {
            if items.len() == count {
                break;
            }
            let value = self.value(&element(facts, items.len())?, depth + 1)?;
            if !unique || !items.contains(&value) {
                items.push(value);
            }
        }
        (items.len() >= at_least).then(|| items.into())
    }

    fn integer(&mut self, facts: &[Fact<'s>]) -> Option<Value> {
        let number = self.numeric(facts, true)?;
        // A double without a fraction is an integer too.
        if self.chance.once_in(8) && number.abs() < 1e15 {
            Some(json!(number))
        } else {
            Some(json!(exact(number)?))
        }
    }

    fn number(&mut self, facts: &[Fact<'s>]) -> Option<Value> {
        let number = self.numeric(facts, false)?;
        Some(exact(number).map_or_else(|| json!(number), |whole| json!(whole)))
    }

    fn numeric(&mut self, facts: &[Fact<'s>], integral: bool) -> Option<f64> {
        let low = [bound(facts, "minimum", f64::max), bound(facts, "exclusiveMinimum", f64::max)];
        let high = [bound(facts, "maximum", f64::min), bound(facts, "exclusiveMaximum", f64::min)];
        let step = bound(facts, "multipleOf", f64::max).unwrap_or(1.0);
        let near = i32::try_from(self.chance.between(-1_000, 1_000)).ok().map(f64::from)?;
        let mut candidates = vec![0.0, 1.0, near, near / 8.0, near / 1_000.0];
        candidates.extend((0..4).map(|times| step * f64::from(times)));
        for end in low.into_iter().chain(high).flatten() {
            candidates.extend([
                end,
                end + 1.0,
                end - 1.0,
                end + 0.5,
                end - 0.5,
                end + near.abs(),
                end - near.abs(),
            ]);
        }
        candidates.retain(|number| (!integral || number.fract() == 0.0) && is_within(facts, *number));
        self.chance.one(&candidates)
    }

    fn text(&mut self, facts: &[Fact<'s>]) -> Option<String> {
        const KEYWORDS: [&str; 4] = ["minLength", "maxLength", "pattern", "format"];
        let asked = |fact: &Fact<'s>| -> Value {
            fact.iter()
                .filter(|(key, _)| KEYWORDS.contains(&&***key))
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect()
        };
        let all = std::iter::once(json!({})).chain(facts.iter().map(asked));
        let asked = json!({ "allOf": all.collect::<Vec<_>>() });
        let known = self.texts.entry(asked.to_string()).or_insert_with(|| {
            let judge = jsonschema::options()
                .should_validate_formats(true)
                .build(&asked)
                .expect("keywords of strings");
            let lengths = [whole(facts, "minLength", f64::max), whole(facts, "maxLength", f64::min)];
            let exact = lengths
                .into_iter()
                .flatten()
                .filter(|length| *length < 10_000)
                .map(|length| "é".repeat(length));
            let all = TEXTS.into_iter().map(str::to_owned).chain(exact);
            all.filter(|text| judge.is_valid(&json!(text))).collect()
        });
        self.chance.one(known)
    }
}

/// Strings of many forms and formats.
const TEXTS: [&str; 26] = [
    "",
    "a",
    "Z9",
    "two words",
    "null",
    "-1.5e3",
    "[1, 2]",
    "{\"a\": 1}",
    "häß 路径 😀",
    "\u{0}\u{1f}\"\\\n",
    "A_b-c.d",
    "2024-02-29T12:00:00Z",
    "2024-02-29",
    "12:00:00Z",
    "P1DT2H",
    "https://example.test/a?b=c#d",
    "/a/b",
    "../a",
    "a@example.test",
    "123e4567-e89b-12d3-a456-426614174000",
    "00000000-0000-0000-0000-000000000000",
    "192.0.2.1",
    "2001:db8::1",
    "example.test",
    "^a+$",
    "0123456789012345678901234567890123456789",
];

/// Every object in a JSON value, which is more than every schema.
pub(super) fn visit<'s>(value: &'s Value, found: &mut impl FnMut(Fact<'s>)) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| visit(item, found)),
        Value::Object(node) => {
            found(node);
            node.values().for_each(|child| visit(child, found));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

pub(super) fn target<'s>(root: &'s Value, reference: &str) -> Option<&'s Value> {
    root.pointer(reference.strip_prefix('#')?)
}

/// What has to fit the property of this name; none when the object may not have it.
pub(super) fn member<'s>(facts: &[Fact<'s>], name: &str) -> Option<Vec<&'s Value>> {
    let mut schemas = Vec::new();
    for fact in facts {
        let declared = fact.get("properties").and_then(|properties| properties.get(name));
        match declared.or_else(|| fact.get("additionalProperties")) {
            Some(Value::Bool(false)) => return None,
            Some(schema) => schemas.push(schema),
            None => {}
        }
    }
    Some(schemas)
}

/// What has to fit the element at this place; none when there may be none.
fn element<'s>(facts: &[Fact<'s>], place: usize) -> Option<Vec<&'s Value>> {
    let mut schemas = Vec::new();
    for fact in facts {
        let (tuple, rest) = match (fact.get("prefixItems"), fact.get("items")) {
            (None, tuple @ Some(Value::Array(_))) => (tuple, fact.get("additionalItems")),
            both => both,
        };
        match tuple.and_then(|tuple| tuple.get(place)).or(rest) {
            Some(Value::Bool(false)) => return None,
            Some(schema) => schemas.push(schema),
            None => {}
        }
    }
    Some(schemas)
}

fn kinds(facts: &[Fact<'_>]) -> Vec<&'static str> {
    let mut kinds = KINDS.to_vec();
    for asked in facts.iter().filter_map(|fact| fact.get("type")) {
        let takes = |kind: &str| {
            asked == kind || asked.as_array().is_some_and(|list| list.iter().any(|one| one == kind))
        };
        kinds.retain(|kind| takes(kind) || *kind == "integer" && takes("number"));
    }
    kinds
}

/// The literals that all take; none when there is no list of them.
fn literals(facts: &[Fact<'_>]) -> Option<Vec<Value>> {
    let constant = |fact: &Fact<'_>| fact.get("const").map(|value| vec![value.clone()]);
    let listed = |fact: &Fact<'_>| fact.get("enum").and_then(Value::as_array).cloned();
    facts.iter().flat_map(|fact| [constant(fact), listed(fact)]).flatten().reduce(|mut left, right| {
        left.retain(|literal| right.contains(literal));
        left
    })
}

/// What a schema without types is most likely written for.
fn meant(facts: &[Fact<'_>]) -> Option<&'static str> {
    let has = |keys: &[&str]| facts.iter().any(|fact| keys.iter().any(|key| fact.contains_key(*key)));
    if has(&["properties", "required"]) {
        Some("object")
    } else if has(&["items", "prefixItems", "minItems"]) {
        Some("array")
    } else {
        None
    }
}

fn is_of(kind: &str, value: &Value) -> bool {
    match value {
        Value::Null => kind == "null",
        Value::Bool(_) => kind == "boolean",
        Value::Number(number) => {
            kind == "number"
                || kind == "integer" && number.as_f64().is_some_and(|number| number.fract() == 0.0)
        }
        Value::String(_) => kind == "string",
        Value::Array(_) => kind == "array",
        Value::Object(_) => kind == "object",
    }
}

fn bound(facts: &[Fact<'_>], key: &str, stricter: fn(f64, f64) -> f64) -> Option<f64> {
    facts.iter().filter_map(|fact| fact.get(key).and_then(Value::as_f64)).reduce(stricter)
}

fn whole(facts: &[Fact<'_>], key: &str, stricter: fn(f64, f64) -> f64) -> Option<usize> {
    bound(facts, key, stricter).and_then(exact).and_then(|number| usize::try_from(number).ok())
}

fn is_within(facts: &[Fact<'_>], number: f64) -> bool {
    let holds = |key: &str, holds: fn(f64, f64) -> bool| {
        facts
            .iter()
            .filter_map(|fact| fact.get(key).and_then(Value::as_f64))
            .all(|bound| holds(number, bound))
    };
    holds("minimum", |number, bound| number >= bound)
        && holds("maximum", |number, bound| number <= bound)
        && holds("exclusiveMinimum", |number, bound| number > bound)
        && holds("exclusiveMaximum", |number, bound| number < bound)
        && holds("multipleOf", |number, step| number % step == 0.0)
}

/// The integer that a double is, if it is one and near enough to be.
fn exact(number: f64) -> Option<i64> {
    format!("{number}").parse().ok()
}
