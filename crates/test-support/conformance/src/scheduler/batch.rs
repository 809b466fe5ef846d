//! The input of a vector of the kind `scheduler`.

use std::collections::BTreeSet;

use dsh_json::{Json, Object, object};
use dsh_json_schema::{JsonSchemaError, Schema};

use crate::Fault;
use crate::fault::{optional_list, required, required_text};
use crate::file::read_by_javascript;

/// The tools that are registered; a call of any other is a call of an unknown one.
pub(super) const TOOLS: [&str; 4] = ["p", "x", "arg", "bad"];

/// A batch of calls: the input of a vector of the kind `scheduler`.
#[derive(Debug, Clone)]
pub struct Batch {
    /// How many bodies may overlap.
    pub cap: usize,
    /// The calls, in model order.
    pub calls: Vec<Call>,
    /// When the turn is aborted.
    pub abort_at: Option<Abort>,
}

/// When a turn is aborted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Abort {
    /// Before the step begins.
    BeforeTheStep,
    /// At this virtual millisecond.
    At(u64),
}

/// One call: what it asks for, and how it is going to behave.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "the fields of a recorded call")]
pub struct Call {
    /// The name of the tool: `p` is parallel-safe, `x` exclusive, `arg` safe by its argument, `bad` has a broken
    /// classifier, and any other is unknown.
    pub tool: String,
    /// How long its body takes.
    pub ms: u64,
    /// Its body fails.
    pub throws: bool,
    /// Its body returns what its schema refuses.
    pub bad_output: bool,
    /// Its body concludes the turn.
    pub conclude: bool,
    /// Its body ends when it is cancelled.
    pub cooperative: bool,
    /// Its argument `safe` is true.
    pub safe: bool,
    /// The text of its arguments, in place of good ones.
    pub raw_arguments: Option<String>,
    /// Pre-execute denies it.
    pub denied: bool,
    /// How long pre-execute takes.
    pub pre_ms: u64,
    /// How long post-execute takes.
    pub post_ms: u64,
}

impl Batch {
    /// Reads the input of a vector.
    pub(super) fn of(input: &Json) -> Result<Self, Fault> {
        let denied: BTreeSet<_> = optional_list(input, "deny")?.iter().filter_map(Json::as_u64).collect();
        let rows = required(input, "calls")?;
        let rows = rows.as_array().ok_or_else(|| Fault::form("calls", rows, "a list"))?;
        let mut calls = Vec::with_capacity(rows.len());
        for (index, row) in rows.iter().enumerate() {
            calls.push(Call {
                denied: denied.contains(&(index as u64)),
                pre_ms: delay(input, "pre_ms", index)?,
                post_ms: delay(input, "post_ms", index)?,
                ..Call::of(row)?
            });
        }
        let cap = optional_number(input, "max_parallel", 10)?;
        let abort_at = match input.get("abort_at") {
            None | Some(Json::Null) => None,
            Some(at) if at.as_i64().is_some_and(|at| at < 0) => Some(Abort::BeforeTheStep),
            Some(_) => Some(Abort::At(optional_number(input, "abort_at", 0)?)),
        };
        Ok(Self { cap: usize::try_from(cap).unwrap_or(usize::MAX), calls, abort_at })
    }

    /// The call at this place. There is one at each that is asked for.
    #[expect(clippy::indexing_slicing, reason = "places are counted along the calls")]
    pub(super) fn call(&self, index: usize) -> &Call {
        &self.calls[index]
    }
}

impl Call {
    fn of(row: &Json) -> Result<Self, Fault> {
        let flag = |name: &str| row.get(name).is_some_and(is_truthy);
        let raw_arguments = match row.get("raw_arguments") {
            None | Some(Json::Null) => None,
            Some(_) => Some(required_text(row, "raw_arguments")?.to_owned()),
        };
        Ok(Self {
            tool: required_text(row, "tool")?.to_owned(),
            ms: optional_number(row, "ms", 0)?,
            throws: flag("throws"),
            bad_output: flag("bad_output"),
            conclude: flag("conclude"),
            cooperative: flag("cooperative"),
            safe: flag("safe"),
            raw_arguments,
            ..Self::default()
        })
    }

    /// The text of its arguments, as the call at this place in its batch.
    pub fn arguments(&self, index: usize) -> String {
        self.raw_arguments.clone().unwrap_or_else(|| {
            let mut arguments = Object::new();
            arguments.insert("i", index as u64);
            if self.safe {
                arguments.insert("safe", true);
            }
            Json::from(arguments).to_text()
        })
    }

    /// What it asks for; nothing, when that can't be read: by our reader, or by JavaScript's.
    fn value(&self, strictly: bool) -> Option<Json> {
        let text = self.arguments(0);
        if text.is_empty() {
            return Some(object! {});
        }
        if strictly {
            Json::parse(&text).ok()
        } else {
            read_by_javascript(&text, "arguments").ok().map(|read| read.0)
        }
    }

    pub(super) fn is_malformed(&self, strictly: bool) -> bool {
        self.value(strictly).is_none()
    }

    /// Whether its arguments are what the tools take.
    pub(super) fn fits(&self, strictly: bool) -> bool {
        let parameters = parameters();
        self.value(strictly)
            .zip(parameters.ok())
            .is_some_and(|(value, parameters)| parameters.is_valid(&value))
    }

    pub(super) fn is_parallel(&self, strictly: bool) -> bool {
        let is_safe =
            || self.value(strictly).is_some_and(|value| value.get("safe") == Some(&Json::Bool(true)));
        self.fits(strictly) && (self.tool == "p" || self.tool == "arg" && is_safe())
    }
}

/// What all tools of the vectors take.
pub(super) fn parameters() -> Result<Schema, JsonSchemaError> {
    Schema::params().required("i", Schema::integer()).optional("safe", Schema::boolean()).build()
}

/// The delay of a stage for one call, from a list or an object by index.
fn delay(input: &Json, stage: &str, index: usize) -> Result<u64, Fault> {
    let Some(delays) = input.get(stage) else { return Ok(0) };
    match delays.at(index).or_else(|| delays.get(&index.to_string())) {
        None | Some(Json::Null) => Ok(0),
        Some(delay) => delay.as_u64().ok_or_else(|| Fault::form(stage, delay, "milliseconds")),
    }
}

fn optional_number(json: &Json, name: &str, default: u64) -> Result<u64, Fault> {
    match json.get(name) {
        None | Some(Json::Null) => Ok(default),
        Some(number) => number.as_u64().ok_or_else(|| Fault::form(name, number, "a whole number")),
    }
}

/// As JavaScript's `if` sees it.
fn is_truthy(value: &Json) -> bool {
    match value {
        Json::Null => false,
        Json::Bool(value) => *value,
        Json::Number(number) => number.as_f64() != 0.0,
        Json::String(text) => !text.is_empty(),
        Json::Array(_) | Json::Object(_) => true,
    }
}
