//! The prompt registry through its public face.
#![expect(clippy::unwrap_used, reason = "a failed expectation of a test is a panic")]

mod config;
mod contexts;
mod entries;
mod listeners;
mod support;
mod tools;
mod variables;
