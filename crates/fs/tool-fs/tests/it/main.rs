//! The file tools through the registry, over the local file system.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that can't set up its scene fails")]
#![expect(clippy::indexing_slicing, reason = "a test of what is missing fails")]

mod calls;
mod edits;
mod escalation;
mod registration;
mod shelf;
mod stored;
mod vectors;
mod world;
