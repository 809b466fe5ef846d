//! Programs over real tools, in a real engine.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that can't set up its scene fails")]

mod accounts;
mod asking;
mod calls;
mod policies;
mod prompts;
mod results;
mod same_path;
mod section;
mod settling;
mod stage;
