//! Turns through the public face, with a real session, real tools, scripted models and a paused clock.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod aborts;
mod batch;
mod calls;
mod clock;
mod failures;
mod ids;
mod kit;
mod log;
mod probe;
mod properties;
mod reference;
mod requests;
mod turns;
mod vectors;
