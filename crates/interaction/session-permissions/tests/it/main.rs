//! The two knobs of a session, live and in its log (spec 10 §A.2, §B.1, §C.2).
#![expect(clippy::unwrap_used, reason = "a test that can't set up its scene fails")]

mod changes;
mod scene;
