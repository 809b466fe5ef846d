//! Stores that hang, fail and panic, with a clock that stands still.
#![expect(clippy::unwrap_used, reason = "a test that can't set up its scene fails")]

mod hostile;
mod reading;
mod waiting;
