//! The reminder on the registry's one path of a call.
#![expect(clippy::unwrap_used, reason = "a test that can't set up its scene fails")]

mod chains;
mod configuration;
mod cycles;
mod folding;
mod levels;
mod past;
mod scene;
