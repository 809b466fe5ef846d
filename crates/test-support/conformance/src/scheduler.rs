//! The kind `scheduler`: a batch of calls, run as one step in virtual time; what starts, ends and is logged, and when.
//!
//! Public for the properties of the loop: any [`Batch`] can be [`run`], and [`simulated`] says what it must come to.

mod batch;
mod clock;
mod simulation;
mod stage;
#[cfg(test)]
mod tests;

use dsh_json::Json;

pub use batch::{Abort, Batch, Call};
pub use stage::{Ran, run};

use crate::file::Vector;
use crate::rule::WHOLE_TEXT;
use crate::text::without;
use crate::{Fault, Kind, Rule};
use simulation::{Decisions, OURS, THEIRS};

pub(crate) const KIND: Kind = Kind {
    name: "scheduler",
    rules: &[
        WHOLE_TEXT,
        Rule {
            name: "finished is finished",
            reason: "a body that ended before the abort keeps its result, however late it is committed (design §4.5)",
            expected: |vector| ours(vector, Decisions { finished_is_finished: true, ..THEIRS }),
        },
        Rule {
            name: "malformed is settled",
            reason: "malformed arguments are INVALID_ARGS at once, without pre-execute or the tool (design §4.5)",
            expected: |vector| ours(vector, Decisions { malformed_is_settled: true, ..THEIRS }),
        },
        Rule {
            name: "arguments are lossless",
            reason: "integers beyond 64 bits and half surrogate pairs make arguments malformed (design §5)",
            expected: |vector| ours(vector, Decisions { reads_strictly: true, ..THEIRS }),
        },
    ],
    lacks: || None,
    run: |vector| Ok(run(&Batch::of(&vector.input)?)?.output),
    agrees,
};

/// What a batch must come to: the contract of spec 02 §A, without any concurrency.
pub fn simulated(batch: &Batch) -> Json {
    simulation::output(batch, OURS)
}

/// Whether an output is the expected one: its numbers, its log rows and its body rows, each of the two in order. An
/// expected failure without a code asserts none.
pub fn agrees(got: &Json, expected: &Json) -> bool {
    let numbers = ["concluded", "max_overlap", "finished_at", "refused"];
    numbers.iter().all(|name| got.get(name) == expected.get(name))
        && [true, false].into_iter().all(|log| {
            let (got, expected) = (rows(got, log), rows(expected, log));
            got.len() == expected.len()
                && got.iter().zip(expected).all(|(got, expected)| same_row(got, expected))
        })
}

/// What all our decisions make of a batch, when the original's outcome is the recorded one and this decision alone
/// changes it.
fn ours(vector: &Vector, alone: Decisions) -> Result<Option<Json>, Fault> {
    let batch = Batch::of(&vector.input)?;
    let is_recorded = |decisions| agrees(&simulation::output(&batch, decisions), &vector.output);
    Ok((is_recorded(THEIRS) && !is_recorded(alone)).then(|| simulation::output(&batch, OURS)))
}

fn rows(output: &Json, log: bool) -> Vec<&Json> {
    let rows = output.get("trace").and_then(Json::as_array).unwrap_or_default().iter();
    let is_log =
        |row: &Json| row.get("ev").and_then(Json::as_str).is_some_and(|event| event.starts_with("tool/"));
    rows.filter(|row| is_log(row) == log).collect()
}

fn same_row(got: &Json, expected: &Json) -> bool {
    let silent = expected.get("code").is_none() && expected.get("isError") == Some(&Json::Bool(true));
    match got.as_object() {
        Some(row) if silent => Json::from(without(row, "code")) == *expected,
        Some(_) | None => got == expected,
    }
}
