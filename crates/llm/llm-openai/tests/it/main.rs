//! The model against a server on this machine: real sockets, hostile answers.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that can't set up its scene fails")]

mod answers;
mod failures;
mod link;
mod secrets;
mod setup;
mod stops;
mod tls;
mod world;
