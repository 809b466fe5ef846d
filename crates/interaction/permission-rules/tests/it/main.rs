//! The rules on the registry's one path of a call.
#![expect(clippy::unwrap_used, reason = "a test that can't set up its scene fails")]

mod asking;
mod paths;
mod scene;
mod texts;
