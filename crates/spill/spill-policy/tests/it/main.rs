//! The policy on the registry's one path of a call, over stores that keep, refuse, hang, break and lie.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that can't set up its scene fails")]

mod beside;
mod bounds;
mod engine;
mod log;
mod previews;
mod programs;
mod read_on;
mod scene;
mod shelf;
mod stores;
mod texts;
mod vectors;
