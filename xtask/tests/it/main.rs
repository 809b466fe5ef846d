//! The tasks as they are typed: each rule passes on a sound workspace and fails on a planted violation.
#![expect(clippy::unwrap_used, reason = "a test that cannot set its scene has failed")]

mod check;
mod conformance;
mod e2e;
mod generate;
mod hooks;
mod layers;
mod parity;
mod planted;
mod repository;
mod testing;
mod tidy;
