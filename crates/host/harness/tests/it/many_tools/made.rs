//! A thousand tools, the same each time: schemas of every form, names that mean something else in some language, and
//! for each tool arguments that fit and arguments that don't.

use std::collections::BTreeSet;

use dsh_harness::{Host, Row, row};
use dsh_json::{Json, Object, array, object};
use dsh_lifecycle::Registrations;
use dsh_tools_core::{AnyTool, BoxFuture, Content, Definition, RunContext, Schema, ToolError, text};
use serde::Deserialize;

pub(crate) const COUNT: usize = 1_000;

/// One tool, and what it can be called with.
#[derive(Clone)]
pub(crate) struct Made {
    pub(crate) name: String,
    pub(crate) description: &'static str,
    pub(crate) parameters: Json,
    pub(crate) output: Json,
    /// Arguments that fit.
    pub(crate) good: Json,
    /// Arguments that don't, which a checker of TypeScript finds; then those that one of Python finds.
    pub(crate) bad: [Vec<Json>; 2],
}

/// All of them, by their numbers.
pub(crate) fn tools() -> Vec<Made> {
    (0..COUNT).map(made).collect()
}

/// A plugin that registers these in their order.
pub(crate) fn plugin(name: &'static str, tools: Vec<Made>) -> Row {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Nothing {}
    row(name, "tools of a test", move |_: Nothing, host: &Host| {
        let mut all = Registrations::new();
        for tool in &tools {
            let (parameters, output) = (Schema::new(&tool.parameters)?, Schema::new(&tool.output)?);
            let tool = Definition::raw(tool.name.as_str(), tool.description, parameters, output, Idle)?;
            all.push(host.tools.register(None, tool)?);
        }
        Ok(all)
    })
}

/// A body that nobody calls.
struct Idle;

impl AnyTool for Idle {
    fn execute<'a>(&'a self, _: &'a Json, _: &'a RunContext) -> BoxFuture<'a, Result<Json, ToolError>> {
        Box::pin(async { Ok(Json::Null) })
    }

    fn render(&self, _: &Json, _: &Json) -> Result<Content, ToolError> {
        Ok(text(""))
    }
}

/// Names that are words of a language, or of its library, or that only one language takes.
const NAMES: [&str; 44] = [
    "import",
    "class",
    "return",
    "None",
    "True",
    "lambda",
    "async",
    "await",
    "yield",
    "match",
    "case",
    "type_",
    "def",
    "default",
    "delete",
    "function",
    "let",
    "var",
    "new",
    "this",
    "typeof",
    "enum",
    "interface",
    "__proto__",
    "prototype",
    "constructor",
    "toString",
    "hasOwnProperty",
    "__init__",
    "__debug__",
    "_",
    "__",
    "_hidden",
    "self",
    "print",
    "tools",
    "ToolName",
    "9lives",
    "0",
    "-",
    "two-words",
    "two_words",
    "twoWords",
    "two_-words",
];

/// Fields of a Python class as they are.
const FIELDS: [&str; 22] = [
    "path",
    "name",
    "max_lines",
    "userId",
    "match",
    "case",
    "self",
    "print",
    "tools",
    "_hidden",
    "__dunder__",
    "x2",
    "X2",
    "x_2",
    "constructor",
    "toString",
    "default",
    "路径",
    "größe",
    "ключ",
    "type",
    "id",
];

/// Properties that are no fields: one of them makes the whole object a `dict` (spec 05 §4.3).
const NO_FIELDS: [&str; 18] = [
    "from",
    "class",
    "None",
    "__debug__",
    "__proto__",
    "__private",
    "two-words",
    "a.b",
    "0",
    "",
    " ",
    "quo\"te",
    "back\\",
    "new\nline",
    "ﬁeld",
    "e\u{301}",
    "😀",
    "*/",
];

const DESCRIPTIONS: [&str; 14] = [
    "",
    "Reads a page.",
    "  On\ttwo\nlines.  ",
    "Ends early */ // here",
    "Says \"\"\"quoted\"\"\" and ends with \\",
    "type: ignore",
    "@ts-nocheck",
    "# hash ``` fence",
    "路径 😀 é",
    "\u{202e}turned\u{202c}",
    "\u{0}\u{85}\u{7f}",
    "a | b & c",
    "${x} `y`",
    "{} [] <b>",
];

const CHOICES: [&str; 12] =
    ["a", "b", "read only", "", "quo\"te", "back\\slash", "new\nline", "a|b", "*/", "路径", "😀", "${x}"];

/// What no list of choices has.
const NO_CHOICE: &str = "no such choice";

fn made(number: usize) -> Made {
    let mut dice = Dice(number as u64);
    let name = match (NAMES.get(number), number % 5) {
        (Some(name), _) => (*name).to_owned(),
        (None, 0) => format!("find_{number}"),
        (None, 1) => format!("find-{number}"),
        (None, 2) => format!("Find{number}x"),
        (None, 3) => format!("_find{number}"),
        (None, _) => format!("{number}_find"),
    };
    let parameters = if number == COUNT - 1 { deep(30) } else { an_object(&mut dice, 4) };
    let mut bad = [parameters.bad[0].clone(), parameters.bad[1].clone()];
    for bad in &mut bad {
        bad.truncate(2);
        // The arguments are one object.
        bad.push(7.into());
    }
    let description = dice.one(&DESCRIPTIONS);
    let output = node(&mut dice, 3).schema;
    Made { name, description, parameters: parameters.schema, output, good: parameters.good, bad }
}

/// A schema, a value that fits, and values that don't and that the checker of one language or the other finds.
#[derive(Clone, Default)]
struct Node {
    schema: Json,
    good: Json,
    bad: [Vec<Json>; 2],
}

impl Node {
    fn new(schema: Json, good: impl Into<Json>, bad: impl IntoIterator<Item = Json>) -> Self {
        let bad: Vec<Json> = bad.into_iter().collect();
        Self { schema, good: good.into(), bad: [bad.clone(), bad] }
    }
}

fn node(dice: &mut Dice, depth: usize) -> Node {
    match dice.below(if depth == 0 { 8 } else { 14 }) {
        0 => Node::new(object! {}, array![1, "x", object! { "y": Json::Null }], []),
        1 => Node::new(of("string"), "x", [7.into(), Json::Null]),
        2 => Node::new(of("boolean"), true, ["yes".into(), 1.into()]),
        3 => {
            let mut integer = Node::new(of("integer"), 3, ["3".into(), array![3]]);
            // A number is a number to TypeScript.
            integer.bad[1].extend(Json::try_from(1.5));
            integer
        }
        4 => Node::new(of("number"), 3, ["1.5".into(), Json::Null]),
        5 => Node::new(of("null"), Json::Null, [0.into(), "null".into()]),
        6 => choice(dice),
        7 => {
            let numbers: Json = (0..=dice.below(4)).map(|at| Json::from(at * 10)).collect();
            let first = numbers.at(0).cloned().unwrap_or_default();
            Node::new(object! { "type": "integer", "enum": numbers }, first, [987_654_321.into(), "0".into()])
        }
        8 | 9 => list(&node(dice, depth - 1)),
        10 => kinds(dice, depth - 1),
        11 => tagged(dice, depth - 1),
        _ => an_object(dice, depth - 1),
    }
}

fn of(name: &str) -> Json {
    object! { "type": name }
}

fn choice(dice: &mut Dice) -> Node {
    let choices: BTreeSet<&str> = (0..=dice.below(5)).map(|_| dice.one(&CHOICES)).collect();
    let first = choices.first().copied().unwrap_or_default();
    let schema = if choices.len() == 1 {
        object! { "type": "string", "const": first }
    } else {
        let list: Json = choices.iter().copied().map(Json::from).collect();
        object! { "type": "string", "enum": list }
    };
    Node::new(schema, first, [NO_CHOICE.into(), 7.into()])
}

fn list(item: &Node) -> Node {
    let bad = item.bad.each_ref().map(|bad| {
        let in_list = bad.iter().map(|bad| array![item.good.clone(), bad.clone()]);
        in_list.chain([7.into()]).collect()
    });
    let schema = object! { "type": "array", "items": item.schema.clone() };
    Node { schema, good: array![item.good.clone(), item.good.clone()], bad }
}

/// One of several types, by what JSON calls them.
fn kinds(dice: &mut Dice, depth: usize) -> Node {
    let bare = |name: &str, good: Json| Node::new(of(name), good, []);
    let mut all = vec![
        choice(dice),
        bare("number", 2.into()),
        bare("boolean", false.into()),
        bare("null", Json::Null),
        list(&node(dice, depth.saturating_sub(1))),
        an_object(dice, depth.saturating_sub(1)),
    ];
    for _ in 0..2 + dice.below(2) {
        all.remove(dice.below(all.len()));
    }
    let has =
        |name: &str| all.iter().any(|node| node.schema.get("type").and_then(Json::as_str) == Some(name));
    let mut bad = Vec::new();
    if !has("array") {
        bad.push(array![]);
    }
    if !has("null") {
        bad.push(Json::Null);
    }
    if has("string") {
        bad.push(NO_CHOICE.into());
    }
    if !has("number") {
        bad.push(7.into());
    }
    let good = dice.one(&all).good;
    let branches: Json = all.into_iter().map(|node| node.schema).collect();
    Node::new(object! { "oneOf": branches }, good, bad)
}

/// One of several objects, by a constant in them.
fn tagged(dice: &mut Dice, depth: usize) -> Node {
    let (mut branches, mut goods) = (Vec::new(), Vec::new());
    for at in 0..2 + dice.below(3) {
        let inner = node(dice, depth.saturating_sub(1));
        let (tag, field) = (format!("form {at}"), format!("value{at}"));
        let properties = Object::from_iter([
            ("kind", object! { "type": "string", "const": tag.as_str() }),
            (&*field, described(dice, &inner.schema)),
        ]);
        let required = array!["kind", field.as_str()];
        branches.push(object! { "type": "object", "properties": properties, "required": required, "additionalProperties": false });
        goods
            .push(Json::from(Object::from_iter([("kind", Json::from(tag.as_str())), (&*field, inner.good)])));
    }
    let mut other = goods.first().and_then(Json::as_object).cloned().unwrap_or_default();
    other.insert("kind", "form 99");
    let bad = [other.into(), object! { "kind": "form 0" }, object! {}, 7.into()];
    Node::new(object! { "oneOf": Json::from(branches) }, dice.one(&goods), bad)
}

fn an_object(dice: &mut Dice, depth: usize) -> Node {
    let (mut properties, mut required, mut good) = (Object::new(), Vec::new(), Object::new());
    let mut wrong: Vec<(&str, [Vec<Json>; 2])> = Vec::new();
    let is_class = dice.below(6) > 0;
    for place in 0..dice.below(5) + usize::from(!is_class) {
        let name = if place == 0 && !is_class { dice.one(&NO_FIELDS) } else { dice.one(&FIELDS) };
        if properties.contains_key(name) {
            continue;
        }
        let value = node(dice, depth);
        properties.insert(name, described(dice, &value.schema));
        // Every object of TypeScript has these from its prototype, so one without them does not fit.
        let is_inherited = ["constructor", "toString"].contains(&name);
        let is_required = is_inherited || dice.below(2) == 0;
        if is_required {
            required.push(name);
        }
        if is_required || dice.below(2) == 0 {
            good.insert(name, value.good);
        }
        wrong.push((name, value.bad));
    }
    let closed = dice.below(2) == 0;
    let is_empty = properties.is_empty();
    let mut schema = Object::from_iter([("type", Json::from("object"))]);
    if !is_empty || dice.below(2) == 0 {
        schema.insert("properties", properties);
        schema.insert("required", required.iter().copied().map(Json::from).collect::<Json>());
    }
    if closed || dice.below(2) == 0 {
        schema.insert("additionalProperties", !closed);
    }
    let with = |name: &str, value: &Json| {
        let mut object = good.clone();
        object.insert(name, value.clone());
        Json::from(object)
    };
    let without = |name: &str| {
        Json::from(good.clone().into_iter().filter(|(key, _)| **key != *name).collect::<Object>())
    };
    let mut bad = [Vec::new(), Vec::new()];
    for (language, bad) in bad.iter_mut().enumerate() {
        // A `dict` takes anything in it.
        if language == 0 || is_class && (closed || !is_empty) {
            bad.extend(required.iter().take(1).map(|name| without(name)));
            bad.extend(wrong.iter().flat_map(|(name, wrong)| {
                wrong.get(language).into_iter().flatten().take(1).map(|value| with(name, value))
            }));
            if closed {
                bad.push(with("undeclared", &1.into()));
            }
        }
        bad.push("no object".into());
    }
    Node { schema: schema.into(), good: good.into(), bad }
}

/// Objects and arrays in each other, with one path through them.
fn deep(levels: usize) -> Node {
    (0..levels).fold(Node::new(of("string"), "x", [7.into()]), |inner, level| {
        let within = |value: Json| {
            if level % 2 == 0 {
                array![value]
            } else {
                object! { "inner": value }
            }
        };
        let schema = if level % 2 == 0 {
            object! { "type": "array", "items": inner.schema }
        } else {
            let properties = within(inner.schema);
            object! { "type": "object", "properties": properties, "required": array!["inner"] }
        };
        let bad = inner.bad.map(|bad| bad.into_iter().map(within).collect());
        Node { schema, good: within(inner.good), bad }
    })
}

fn described(dice: &mut Dice, schema: &Json) -> Json {
    let mut node = schema.as_object().cloned().unwrap_or_default();
    if dice.below(3) == 0 {
        node.insert("description", dice.one(&DESCRIPTIONS));
    }
    node.into()
}

/// Numbers that look random and are the same each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % limit.max(1) as u64).unwrap_or_default()
    }

    fn one<T: Clone + Default>(&mut self, list: &[T]) -> T {
        let place = self.below(list.len());
        list.get(place).cloned().unwrap_or_default()
    }
}
