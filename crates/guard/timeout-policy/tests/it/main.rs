//! Deadlines on the registry's one path of a call, with a clock that stands still.
#![expect(clippy::unwrap_used, reason = "a test that can't set up its scene fails")]

mod deadlines;
mod listeners;
mod scene;
