//! Turns through the public face, with a real session, real tools, scripted models and a paused clock.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod aborts;
mod arriving;
mod budgets;
mod calls;
mod cancels;
mod drives;
mod everywhere;
mod failures;
mod hooks;
mod ids;
mod kit;
mod log;
mod probe;
mod properties;
mod requests;
mod settings;
mod steering;
mod turns;
mod vectors;
