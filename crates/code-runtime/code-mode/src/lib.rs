//! Code Mode: the model writes one program that calls the tools, in place of many round trips (spec 06).
//!
//! ```text
//! run_code ─→ CodeRuntime::run ── the program
//!                 │ calls in the program's order          answers in the same order
//!                 ▼                                        ▲
//!               lane (dsh-scheduler) ─ start: log, prepare ─ body: dispatch ─ commit: finish ─┤
//!                                                                                            └─ side: log, publish
//! ```
//!
//! - [`CodeMode`] is what is mounted: the transport behind the reserved name, and the sections of the prompt.
//! - A program's calls take the one path of `dsh-tools-core`, under the contract of the one lane: they start in order,
//!   bodies overlap, an exclusive call is a barrier, and answers reach the program in the order of its calls.
//! - Only what the program prints or returns goes back to the model. Each call is in the log under its own id.
//! - When the program is over, calls that did not start never do, and those that run are awaited: nothing is orphaned.
//!
//! It knows no engine: a runtime is looked up in a slot, for each program.

mod account;
mod asking;
mod config;
mod failed;
mod host;
mod lane;
mod mount;
mod render;
mod run_code;
mod sdk;
mod words;

pub use config::CodeModeConfig;
pub use failed::FailedRun;
pub use mount::{CodeMode, CodeModeError};
pub use sdk::{SdkSection, declarations};
