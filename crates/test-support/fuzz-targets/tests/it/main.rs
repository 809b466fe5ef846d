//! Every seed through its target, and the package that fuzzes them.
#![expect(clippy::unwrap_used, reason = "a test that can't set up its scene fails")]

mod package;
mod replay;
