//! The check by a foreign schema itself: what the subset can't say is still asked for.

use std::fmt;
use std::sync::Arc;

use dsh_json::Json;
use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::Value;

use super::ImportLimits;
use super::cost::{self, Cost};
use super::refs::Document;
use super::unmet;
use crate::check::MAX_CHECK_STEPS;
use crate::path::{Path, Step};
use crate::violation::{Violation, ViolationKind, Violations};
use crate::words;

/// How often a pattern with look-around may go back.
const MAX_BACKTRACKS: usize = 100_000;
/// The most bytes of a compiled pattern.
const MAX_PATTERN_BYTES: usize = 1024 * 1024;
/// The most evaluations that are spent on saying what is wrong.
const MAX_EXPLAINED: u64 = 1_000_000;

/// Kept free on the stack for each level of a schema or a value.
const STACK_PER_LEVEL: usize = 16 * 1024;
const STACK_AT_LEAST: usize = 256 * 1024;

/// A foreign schema as the `jsonschema` crate reads it, in the dialect that it names (else 2020-12, else draft 7).
///
/// Nothing is fetched; a `$ref` that leads out of the schema asks for nothing. `format` is enforced where the dialect
/// says so. Clones share everything.
#[derive(Clone)]
pub struct OriginalCheck(Arc<Inner>);

struct Inner {
    validator: Validator,
    cost: Cost,
    depth: usize,
}

impl OriginalCheck {
    /// # Errors
    /// Why the schema can't be judged by.
    pub(super) fn new(
        foreign: &Json,
        document: &Document<'_>,
        limits: &ImportLimits,
    ) -> Result<Self, String> {
        let cost = cost::of(foreign, document, limits)?;
        let schema = cost::converted(foreign, document, limits)?;
        let validator = with_stack(limits.judged_depth.min(cost.height), || built(schema))?;
        Ok(Self(Arc::new(Inner { validator, cost, depth: limits.judged_depth })))
    }

    /// Whether the foreign schema takes a value. One that is too deep or too large to be judged is not taken.
    pub fn is_valid(&self, value: &Json) -> bool {
        self.refusal(value).is_none() && self.judge(value).is_none()
    }

    /// What the foreign schema has against a value, at most `listed` entries, the rest counted.
    pub fn violations(&self, value: &Json, root: &str, listed: usize) -> Violations {
        let mut found = Violations::default();
        let label = || if root.is_empty() { "arguments" } else { root }.to_owned();
        if let Some((limit, words)) = self.refusal(value) {
            let arg = Some(limit.to_string().into());
            found.add(1, || Violation::new(ViolationKind::ValueTooLarge, label(), arg, words));
            return found;
        }
        let Some(converted) = self.judge(value) else { return found };
        if self.evaluations(value) > MAX_EXPLAINED {
            found.add(1, || {
                let words = "does not fit the tool's own schema; read the description again".to_owned();
                Violation::new(ViolationKind::UnmetKeyword, label(), None, words)
            });
            return found;
        }
        self.on_the_stack(value, || {
            for error in self.0.validator.iter_errors(&converted) {
                unmet::add(&mut found, listed, &error, value, root);
            }
        });
        found
    }

    /// The converted value when it is not valid.
    fn judge(&self, value: &Json) -> Option<Value> {
        let converted = serde_json::to_value(value).unwrap_or_default();
        let valid = self.on_the_stack(value, || self.0.validator.is_valid(&converted));
        (!valid).then_some(converted)
    }

    /// The limit that a value exceeds, and what to say about it.
    fn refusal(&self, value: &Json) -> Option<(u64, String)> {
        let depth = self.0.depth;
        if value.depth() > depth {
            let limit = u64::try_from(depth).unwrap_or(u64::MAX);
            return Some((limit, format!("is nested deeper than {depth} levels; send a flatter value")));
        }
        let size = u64::try_from(self.0.cost.size).unwrap_or(u64::MAX);
        let room = MAX_CHECK_STEPS.checked_div(size).unwrap_or(MAX_CHECK_STEPS);
        (nodes_of(value, room) > room).then(|| (MAX_CHECK_STEPS, words::value_too_large(MAX_CHECK_STEPS)))
    }

    /// At most how many schema nodes look at how many values, when nothing is remembered in between.
    fn evaluations(&self, value: &Json) -> u64 {
        let Cost { size, beside, recursive, .. } = self.0.cost;
        let each = if recursive {
            let depth = u32::try_from(value.depth()).unwrap_or(u32::MAX);
            u64::try_from(beside).unwrap_or(u64::MAX).saturating_pow(depth)
        } else {
            u64::try_from(size).unwrap_or(u64::MAX)
        };
        each.saturating_mul(nodes_of(value, MAX_EXPLAINED))
    }

    fn on_the_stack<T>(&self, value: &Json, body: impl FnOnce() -> T) -> T {
        let levels = value.depth().saturating_add(1).saturating_mul(self.0.cost.chain.max(1));
        with_stack(levels.min(MAX_LEVELS), body)
    }
}

/// The most levels of schema nodes that are on the stack at once: the product of both depths.
const MAX_LEVELS: usize = 128 * 128;

fn with_stack<T>(levels: usize, body: impl FnOnce() -> T) -> T {
    let room = STACK_AT_LEAST.saturating_add(levels.saturating_mul(STACK_PER_LEVEL));
    stacker::maybe_grow(room, room.saturating_add(STACK_AT_LEAST), body)
}

/// How many nodes a value has, up to about `limit`.
fn nodes_of(value: &Json, limit: u64) -> u64 {
    let mut count = 0_u64;
    let mut todo = vec![value];
    while let Some(value) = todo.pop() {
        count = count.saturating_add(1);
        if count > limit {
            break;
        }
        match value {
            Json::Array(items) => todo.extend(items.iter()),
            Json::Object(object) => todo.extend(object.values()),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
        }
    }
    count
}

/// The validator, by the dialect that the schema names, or by one that it is likely to be written in.
fn built(mut schema: Value) -> Result<Validator, String> {
    let build = |schema: &Value, draft: Option<Draft>| {
        let patterns = PatternOptions::fancy_regex()
            .backtrack_limit(MAX_BACKTRACKS)
            .size_limit(MAX_PATTERN_BYTES)
            .dfa_size_limit(MAX_PATTERN_BYTES);
        let options = jsonschema::options().with_pattern_options(patterns);
        draft.into_iter().fold(options, jsonschema::ValidationOptions::with_draft).build(schema)
    };
    let first = match build(&schema, None) {
        Ok(validator) => return Ok(validator),
        Err(error) => error.to_string(),
    };
    if let Value::Object(root) = &mut schema {
        root.shift_remove("$schema");
    }
    [Draft::Draft202012, Draft::Draft7]
        .into_iter()
        .find_map(|draft| build(&schema, Some(draft)).ok())
        .ok_or_else(|| words::shorten(&first, 200))
}

impl fmt::Debug for OriginalCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OriginalCheck").finish_non_exhaustive()
    }
}

/// The path of an error, and the value that it is about.
pub(super) fn place<'v>(
    error: &jsonschema::ValidationError<'_>,
    value: &'v Json,
    root: &str,
) -> (String, &'v Json) {
    use jsonschema::paths::LocationSegment;
    let names: Vec<LocationSegment<'_>> = error.instance_path().segments().collect();
    let mut path = Path::new(root);
    let mut at = value;
    for name in &names {
        let below = match name {
            LocationSegment::Property(name) => {
                path.push(Step::Key(name));
                at.get(name)
            }
            LocationSegment::Index(index) => {
                path.push(Step::Index(*index));
                at.at(*index)
            }
        };
        at = below.unwrap_or(at);
    }
    (path.render(), at)
}
