//! What a sequence must come to, by the rules of spec 09 §C, without the reminder.

use std::collections::BTreeMap;

use dsh_json::{Json, object};
use dsh_tools_core::Arguments;

use super::reading::{OURS, Reading, Unreadable, canonical, unreadable};
use super::sequence::{Entry, Event, config};

/// What is decided about calls.
#[derive(Debug, Clone, Copy)]
pub(super) struct Decisions {
    /// How arguments are compared.
    pub(super) reading: Reading,
    /// Whether text that is no JSON counts, as itself.
    pub(super) counts_no_json: bool,
    /// Whether text that is refused since it would be changed counts, as itself.
    pub(super) counts_lossy: bool,
}

/// Ours.
pub(super) const DECIDED: Decisions = Decisions { reading: OURS, counts_no_json: true, counts_lossy: true };

pub(super) fn simulated(input: &Json, entries: &[Entry], decisions: Decisions) -> Option<Json> {
    let config = config(input)?;
    let mut thresholds = config.thresholds.clone();
    thresholds.sort_unstable();
    let tracks = |tool: &str| {
        let any = |names: &[String]| names.iter().any(|name| matches(name.as_bytes(), tool.as_bytes()));
        !any(&config.exclude) && (config.include.is_empty() || any(&config.include))
    };
    let mut chains: BTreeMap<&str, (String, usize)> = BTreeMap::new();
    let mut reminders: Vec<Json> = Vec::new();
    for (position, Entry { agent, event }) in entries.iter().enumerate() {
        let Some(agent) = agent else { continue };
        let (tool, key) = match event {
            Event::Said { by_person: true } => {
                chains.remove(&**agent);
                continue;
            }
            Event::Said { by_person: false } => continue,
            Event::Call { tool, .. } if !tracks(tool) => continue,
            Event::Call { tool, arguments, text } => (tool, key(arguments, text.as_deref(), decisions)),
        };
        let Some(key) = key.map(|key| format!("{tool} {key}")) else { continue };
        let chain = chains.entry(agent).or_default();
        if chain.0 == key {
            chain.1 += 1;
        } else {
            *chain = (key, 1);
        }
        if let Some(place) = thresholds.iter().position(|threshold| *threshold == chain.1) {
            let form = if place == 0 { "gentle" } else { "detailed" };
            reminders.push(object! { "position": position, "form": form });
        }
    }
    Some(object! { "reminders": Json::from(reminders) })
}

/// What stands for the arguments; `None` for a call that does not count.
fn key(arguments: &Arguments, text: Option<&str>, decisions: Decisions) -> Option<String> {
    match arguments {
        Arguments::Value { value, .. } => Some(canonical(value, decisions.reading)),
        Arguments::Malformed(malformed) => {
            let counts = match unreadable(text?) {
                Some(Unreadable::Lossy) => decisions.counts_lossy,
                Some(Unreadable::NoJson) | None => decisions.counts_no_json,
            };
            counts.then(|| Json::from(malformed.text()).to_text())
        }
    }
}

/// Whether a name is meant by a pattern in which `*` stands for anything.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    match pattern.split_first() {
        None => name.is_empty(),
        Some((b'*', rest)) => (0..=name.len()).any(|at| matches(rest, name.get(at..).unwrap_or_default())),
        Some((first, rest)) => {
            name.split_first().is_some_and(|(other, name)| first == other && matches(rest, name))
        }
    }
}
