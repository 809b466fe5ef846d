//! Configuration and rows in, a running harness out, on real files.
#![expect(clippy::unwrap_used, reason = "a test that can't set up its scene fails")]
#![expect(clippy::panic, reason = "some of what is contained here are panics")]

mod bypass;
mod configuration;
mod escapes;
mod many_tools;
mod models;
mod mounting;
mod network;
mod own_store;
mod policies;
mod programs;
mod prompts;
mod reach;
mod session_mode;
mod sessions;
mod turns;
mod world;
