//! What is fuzzed: promises about any bytes, as ordinary functions that panic where one is broken.
//!
//! ```text
//! seeds ──▶ tests of this crate                    every seed through its target, in each test run
//!    └────▶ cargo xtask fuzz ──▶ fuzz/ ──▶ here    libFuzzer goes on from there
//! ```
//!
//! A [`Target`] takes bytes and says whether they got past its first check ([`Met`]); those that do not are no failure. The
//! targets reach what other crates may use, and nothing else. What they promise stands at each of them.
//!
//! ```
//! dsh_fuzz_targets::run("json", br#"{"a": [1, -0]}"#);
//! ```
#![expect(clippy::panic, reason = "a promise that is broken panics: that is what is looked for")]

mod erase;
mod hostile;
mod import;
mod json;
mod judge;
mod log_file;
mod python;
mod recorded;
mod schema;
mod sdk;
mod seeds;
mod session_log;
mod target;
mod typescript;
mod validation;
mod violations;
mod wire;

pub use seeds::{Seed, SeedError, seeds};
pub use target::{Met, TARGETS, Target, run};
