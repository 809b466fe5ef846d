//! The policy behind the file tools, over the local file system.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that can't set up its scene fails")]

mod guarded;
mod unguarded;
mod vectors;
mod world;
