//! Where we decide otherwise about schemas and values. All of it is about reading: what a text holds that JavaScript
//! reads otherwise than we do (design §5).

use dsh_json::{Json, Object, object};

use super::findings::{ANY_ORDER, agrees, field, root_of, text_field};
use super::lossy::read;
use super::rounding::rounded_integers;
use super::{oracle, validate, value_cases};
use crate::file::Vector;
use crate::oddities::{Oddities, oddities};
use crate::text::ecma;
use crate::{Fault, Rule, rule};

/// For kinds that only look at schemas.
pub(super) const READ: [Rule; 4] = [WHOLE_TEXT, WIDTH, DEPTH, ORDER];

/// For kinds that compile.
pub(super) const COMPILED: [Rule; 5] =
    [WHOLE_TEXT, WIDTH, DEPTH, Rule { expected: exact_schemas, ..EXACT }, ORDER];

/// For kinds that judge values.
pub(super) const JUDGED: [Rule; 5] =
    [WHOLE_TEXT, WIDTH, DEPTH, Rule { expected: exact_values, ..EXACT }, ORDER];

pub(crate) const WHOLE_TEXT: Rule = Rule {
    expected: |vector| Ok(refused(vector, "JSON_STRING", |odd| odd.lone_surrogate)),
    ..rule::WHOLE_TEXT
};

pub(crate) const WIDTH: Rule = Rule {
    name: "integers have 64 bits",
    reason: "a longer one is refused with JSON_NUMBER, where JavaScript takes the nearest double (design §5)",
    expected: |vector| Ok(refused(vector, "JSON_NUMBER", |odd| odd.beyond_64_bits)),
};

pub(crate) const DEPTH: Rule = Rule {
    name: "10,000 levels",
    reason: "deeper JSON is refused with JSON_TOO_DEEP when it is read (design §5)",
    expected: |vector| Ok(refused(vector, "JSON_TOO_DEEP", |odd| odd.depth > 10_000)),
};

const EXACT: Rule = Rule {
    name: "integers are exact",
    reason: "64 bits are kept, where JavaScript takes the nearest double (design §5)",
    expected: |_| Ok(None),
};

const ORDER: Rule = Rule {
    name: "keys stay where they are",
    reason: "objects keep the order of insertion, where JavaScript puts keys like integers first (design §5)",
    expected: in_any_order,
};

/// The texts of JSON that a vector gives to be read.
fn texts(vector: &Vector) -> impl Iterator<Item = &str> {
    let all_is_text = vector.kind.ends_with("-cases");
    let members = vector.input.as_object().into_iter().flatten();
    members.filter_map(move |(name, value)| {
        let is_read =
            name.ends_with("_text") || all_is_text && matches!(&**name, "schema" | "spec" | "value");
        value.as_str().filter(|_| is_read)
    })
}

fn refused(vector: &Vector, code: &str, is_odd: fn(Oddities) -> bool) -> Option<Json> {
    // An integer in the file itself was printed by JavaScript, and is the double that it looks like.
    let own = Oddities { beyond_64_bits: false, ..oddities(&vector.input_text) };
    let odd = is_odd(own) || texts(vector).any(|text| is_odd(oddities(text)));
    odd.then(|| object! { "refused": code })
}

/// The recorded schema with the integers that were written, in place of the doubles that JavaScript took for them.
fn exact_schemas(vector: &Vector) -> Result<Option<Json>, Fault> {
    let recorded = ecma(&vector.output);
    let ours = texts(vector)
        .flat_map(rounded_integers)
        .fold(recorded.clone(), |text, (written, printed)| text.replace(&printed, &written));
    if ours == recorded {
        return Ok(None);
    }
    Json::parse(&ours).map(Some).map_err(|error| Fault::not_json("the exact output", &error))
}

/// What the oracle finds, where rounding alone explains what was recorded.
fn exact_values(vector: &Vector) -> Result<Option<Json>, Fault> {
    let roundings: Vec<_> = texts(vector).flat_map(rounded_integers).collect();
    if roundings.is_empty() {
        return Ok(None);
    }
    let round = |text: &str| {
        roundings.iter().fold(text.to_owned(), |text, (written, printed)| {
            // Behind the digits, so that our reader takes it for a double.
            text.replace(written.as_str(), &format!("{printed}e0"))
        })
    };
    let rounded = rounded_input(&vector.input, round);
    let (ours, theirs) = (oracle_output(vector, &vector.input)?, oracle_output(vector, &rounded)?);
    let explained = agrees(&theirs, &vector.output) && !agrees(&ours, &vector.output);
    Ok(explained.then_some(ours))
}

fn rounded_input(input: &Json, round: impl Fn(&str) -> String) -> Json {
    let members = input.as_object().into_iter().flatten();
    let member = |(name, value): (&std::sync::Arc<str>, &Json)| {
        (name.clone(), value.as_str().map_or_else(|| value.clone(), |text| round(text).into()))
    };
    members.map(member).collect::<Object>().into()
}

fn oracle_output(vector: &Vector, input: &Json) -> Result<Json, Fault> {
    if vector.kind == value_cases::KIND.name {
        let (schema, value) = (text_field(input, "schema")?, text_field(input, "value")?);
        return Ok(value_cases::output(&oracle::violations(&schema, &value, root_of(input, "root")?)));
    }
    let (schema, value) = (field(input, "schema")?, field(input, "value")?);
    Ok(validate::output(&oracle::violations(&schema, &value, root_of(input, "path")?)))
}

/// What was recorded, in any order, where a text has keys that JavaScript puts elsewhere.
fn in_any_order(vector: &Vector) -> Result<Option<Json>, Fault> {
    for text in texts(vector) {
        if is_reordered(&read(text, "a text")?) {
            return Ok(Some(object! { ANY_ORDER: vector.output.clone() }));
        }
    }
    Ok(None)
}

fn is_reordered(value: &Json) -> bool {
    match value {
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => false,
        Json::Array(items) => items.iter().any(is_reordered),
        Json::Object(members) => {
            let places: Vec<u64> = members.keys().map(|key| place(key)).collect();
            !places.is_sorted() || members.values().any(is_reordered)
        }
    }
}

/// Where JavaScript puts a key: those that are indices of arrays by number, all others behind them.
pub(crate) fn place(key: &str) -> u64 {
    let index = key.parse::<u32>().ok().filter(|index| *index < u32::MAX && index.to_string() == key);
    index.map_or(u64::MAX, u64::from)
}
