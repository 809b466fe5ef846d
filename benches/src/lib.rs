//! What the measurements have in common: a tool that does nothing, listeners that pass everything on, an agent whose
//! log is in memory, and a runtime of one thread.
//!
//! A file below `benches/` answers one question. `cargo bench -p dsh-benches --bench call_path` measures; with
//! `-- --test` each runs once, to show that it works.

mod agent;
mod listeners;
mod median;
mod noop;
mod records;
mod runtime;

pub use agent::agent;
pub use listeners::three_listeners;
pub use median::median;
pub use noop::{Noop, others};
pub use records::{record_schema, records};
pub use runtime::{criterion, one_thread};
