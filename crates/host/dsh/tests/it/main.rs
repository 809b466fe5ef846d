//! The program as a process: its streams, its exit codes, its files.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that can't set up its scene fails")]

mod approvals;
mod calls;
mod closed_streams;
mod demonstration;
mod forks;
mod interrupts;
mod kills;
mod listings;
mod logs;
mod mcp;
mod network;
mod programs;
mod readme;
mod refusals;
mod rounds;
mod running;
mod storms;
mod turns;
mod world;
