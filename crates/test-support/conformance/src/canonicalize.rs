//! The kind `canonicalize`: when calls are the same, and when a model is reminded that it repeats them.
//!
//! ```text
//! {canonical_arguments, arguments_text}   → a call → what a listener of results sees → {canonical}
//! {sequence, config, calls}               → calls of some agents, and messages to them → {reminders} or {config_error}
//! ```

mod arguments;
mod reading;
mod rules;
mod sequence;
mod simulation;
#[cfg(test)]
mod tests;

use dsh_json::Json;

use crate::Kind;
use crate::fault::required_text;
use crate::file::Vector;

pub(crate) const KIND: Kind =
    Kind { name: "canonicalize", rules: &rules::RULES, lacks: || None, run, agrees: Json::eq };

fn run(vector: &Vector) -> Result<Json, crate::Fault> {
    match required_text(&vector.input, "kind")? {
        "canonical_arguments" => arguments::run(required_text(&vector.input, "arguments_text")?),
        "sequence" => sequence::run(&vector.input),
        _ => Err(crate::Fault::form("kind", &vector.input, "one that is known")),
    }
}
