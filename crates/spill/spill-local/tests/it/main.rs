//! Texts on a real disk, and what is done to them there.
#![expect(clippy::unwrap_used, reason = "a test that can't set up its scene fails")]

mod begun;
mod hostile;
mod layout;
mod limits;
mod scene;
mod stopped;
mod swept;
