//! The crate through its public face.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod depth;
mod properties;
mod python;
mod schemas;
mod section;
mod snapshots;
mod tools;
mod typescript;
mod vectors;
