//! Presets over real sessions, and agents that are told.
#![expect(clippy::unwrap_used, reason = "a test that can't set up its scene fails")]

mod beginnings;
mod choices;
mod cut_short;
mod failing_logs;
mod living;
mod scene;
mod tables;
