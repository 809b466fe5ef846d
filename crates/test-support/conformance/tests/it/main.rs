//! The runner and its program, on the recorded files and on others.
#![expect(clippy::unwrap_used, reason = "a test that can't set up its scene fails")]

mod program;
mod recorded;
