//! Agents through the public face: a real session, a store that can fail, and notes of what observers are told.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod activity;
mod hooks;
mod inbox;
mod kit;
mod properties;
