//! Turns through the public face, with a real session, real tools, scripted models and a paused clock.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod aborts;
mod calls;
mod failures;
mod ids;
mod kit;
mod log;
mod probe;
mod properties;
mod requests;
mod turns;
mod vectors;
