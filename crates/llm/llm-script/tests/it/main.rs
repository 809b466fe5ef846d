//! The models through the trait that the loop uses.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a failed expectation of a test is a panic")]

mod demo;
mod scripted;
