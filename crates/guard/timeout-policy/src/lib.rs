//! Stops tool calls that take longer than their tool declares (spec 09 §B).
//!
//! ```text
//! dispatch ─→ budget? ─ no ─→ the body, untouched
//!                └ yes ─→ the body under a cancellation of its own ─→ settled in time? ─→ its result
//!                            └ time is up: cancelled, waited for ───→ TOOL_TIMEOUT
//!                                 └ grace is over: reported; given up only where that is configured
//! ```
//!
//! A tool that declares a [budget](dsh_tools_core::Definition::timeout) promises to listen to its cancellation. The policy
//! notifies and waits: a body that is told to stop is not dropped in the middle of its work. What ended first counts: a call
//! that its caller stopped before stays aborted, one that its deadline stopped stays timed out.
//!
//! The budget is the body's and that of the wrappers inside this one. Deciding and judging the result have
//! [one of their own](TimeoutConfig::listener_ms) for each stage; how long a person may think is for whoever asks to say.

mod config;
mod listeners;
mod policy;

pub use config::TimeoutConfig;
pub use listeners::LISTENER_TIMEOUT;
pub use policy::{TOOL_TIMEOUT, TOOL_TIMEOUT_ABANDONED, TimeoutPolicy};
