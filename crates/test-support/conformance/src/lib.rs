//! Runs vector files (spec 12 §4): recorded inputs, with what the original implementation made of them.
//!
//! ```text
//! file → vectors → [rule? our own expected value : the recorded one] ⇄ what we make of the input → report
//! ```
//!
//! A [`Kind`] knows how to run the vectors of one kind, when an output agrees with an expected one, and which [`Rule`]s
//! hold for it: decisions of ours that change recorded outcomes, each with a predicate over vectors, a reason and our own
//! expected value. Nothing here knows a single vector: other files of the same kinds run as well. A vector that is
//! malformed, panics or does not end is a failure with its reason.
//!
//! This crate is the one home of the runners. `cargo xtask conformance` runs the program; the crates whose behaviour was
//! recorded run their kinds in their own tests, by [`recorded`].
//!
//! ```
//! let report = dsh_conformance::recorded(&["validate"]);
//! assert!(report.is_clean(), "{report}");
//! ```

#[cfg(any(feature = "canonicalize", feature = "spill"))]
mod agents;
#[cfg(feature = "canonicalize")]
mod canonicalize;
mod contain;
mod fault;
mod file;
#[cfg(feature = "files")]
mod files;
mod kind;
mod oddities;
mod report;
mod rule;
mod run;
#[cfg(feature = "scheduler")]
pub mod scheduler;
#[cfg(feature = "schema")]
pub mod schema;
#[cfg(feature = "sdk")]
mod sdk;
#[cfg(feature = "spill")]
mod spill;
mod text;
#[cfg(test)]
mod trial;

pub use fault::Fault;
pub use kind::{KINDS, Kind};
pub use report::{Failure, Report};
pub use rule::Rule;
pub use run::{RunError, recorded, run};
