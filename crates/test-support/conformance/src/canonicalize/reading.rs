//! How arguments are read and written in order, by us and by JavaScript, without our own canonical form.

use std::sync::Arc;

use dsh_json::{Json, Number, Object};
use dsh_tools_core::Arguments;

use super::arguments::read;
use crate::oddities::oddities;

/// Where JavaScript reads otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reading {
    /// Each integer is the nearest double.
    pub(super) doubles: bool,
    /// Keys that are indices of arrays stand before all others, by number.
    pub(super) indices_first: bool,
    /// A key `__proto__` is lost.
    pub(super) loses_proto: bool,
}

/// All of it at once.
pub(super) const JAVASCRIPT: Reading = Reading { doubles: true, indices_first: true, loses_proto: true };
/// Nothing of it.
pub(super) const OURS: Reading = Reading { doubles: false, indices_first: false, loses_proto: false };

/// The value that our reader makes of arguments, `None` where it refuses them.
pub(super) fn value(text: &str) -> Option<Json> {
    match read(text) {
        Arguments::Value { value, .. } => Some(value),
        Arguments::Malformed(_) => None,
    }
}

/// Why a text has no value, so that a refusal that nobody decided is not taken for one that was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// It is no JSON.
    NoJson,
    /// It is JSON that would be changed by being read.
    Lossy,
}

/// Why our reader has to refuse a text; `None` where it has no reason to.
pub(super) fn unreadable(text: &str) -> Option<Unreadable> {
    let odd = oddities(text);
    if serde_json::from_str::<serde::de::IgnoredAny>(text).is_err() && odd.depth < 100 {
        return Some(Unreadable::NoJson);
    }
    let lossy = odd.lone_surrogate || odd.beyond_64_bits || odd.lossy_float || odd.depth > 10_000;
    lossy.then_some(Unreadable::Lossy)
}

/// Compact text with sorted keys (RFC 8785), of a value that is read in this way.
pub(super) fn canonical(value: &Json, reading: Reading) -> String {
    match value {
        Json::Number(number) if reading.doubles || number.is_exact_f64() => {
            Number::from_f64(number.as_f64()).map_or_else(|_| number.ecma(), |double| double.ecma())
        }
        Json::Number(number) => number.ecma(),
        Json::Null | Json::Bool(_) | Json::String(_) => value.to_text(),
        Json::Array(items) => {
            let items: Vec<_> = items.iter().map(|item| canonical(item, reading)).collect();
            format!("[{}]", items.join(","))
        }
        Json::Object(members) => {
            let members: Vec<_> = sorted(members, reading)
                .into_iter()
                .map(|(key, value)| format!("{}:{}", Json::from(key).to_text(), canonical(value, reading)))
                .collect();
            format!("{{{}}}", members.join(","))
        }
    }
}

fn sorted(members: &Object, reading: Reading) -> Vec<(&Arc<str>, &Json)> {
    let kept = members.iter().filter(|(key, _)| !(reading.loses_proto && &***key == "__proto__"));
    let mut members: Vec<_> = kept.collect();
    members.sort_by_key(|(key, _)| {
        let place = if reading.indices_first { place(key) } else { u64::MAX };
        (place, key.encode_utf16().collect::<Vec<_>>())
    });
    members
}

/// Where JavaScript puts a key: those that are indices of arrays by number, all others behind them.
fn place(key: &str) -> u64 {
    let index = key.parse::<u32>().ok().filter(|index| *index < u32::MAX && index.to_string() == key);
    index.map_or(u64::MAX, u64::from)
}
