//! Tells a model that it makes the same call again and again (spec 09 §C).
//!
//! ```text
//! a call's result ─→ the same as the last one? ─→ count ─→ a threshold? ─→ a message that rides on the result
//!                         └ no: from 1                        └ no: nothing
//! ```
//!
//! It advises: nothing is blocked, delayed or rewritten, unless there is a count from which on calls are
//! [denied](RepeatConfig::deny_at). Calls are the same when tool and arguments are, whatever the order of keys. Refused calls,
//! malformed ones and those of unknown tools count: what a model tries again without success is what it should be told of.
//!
//! - Each agent has two chains, one of its own calls and one of the calls that its programs make. So the same program again
//!   is noticed, whatever its calls are, and so is the same call within a program or in one program after the other.
//! - Several calls that are made in turn, round by round, are counted by [their rounds](RepeatConfig::max_period).
//! - Where [results count, too](RepeatConfig::same_results), a call that gave something else is progress.
//! - A chain begins anew when a person says something.
//! - A tool that is called again and again by its nature [says so](dsh_tools_core::Definition::polling), or is excluded by
//!   its name; it neither counts nor breaks a chain.
//!
//! State is in memory, of live agents only. What an agent called in an earlier life of its session is read from the log, once.

mod chain;
mod chains;
mod config;
mod past;
mod reminder;
mod words;

pub use config::{ConfigError, RepeatConfig};
pub use reminder::{PLUGIN, RepeatReminder};
