//! The policy of sessions, live, in logs and in what models read (spec 10 §A.1–A.3).
#![expect(clippy::unwrap_used, reason = "a test that can't set up its scene fails")]

mod policies;
mod scene;
mod telling;
