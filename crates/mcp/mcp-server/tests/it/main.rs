//! A server and a client over a pair of pipes, with tools of all kinds, a session in memory and a paused clock.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod calls;
mod lists;
mod progress;
mod questions;
mod stage;
mod stops;
