//! The agent handle: who acts, what it sees, and where its history goes.
//!
//! An [`Agent`] is a scope key (which tools and listeners count for it, `dsh-scope`) and a session (what happened,
//! `dsh-session`) under one identity. Everything that runs for an agent carries the handle; nothing is looked up by a
//! global.
//!
//! Running calls as a turn of an agent is a port, [`TurnRunner`], that the loop implements: a single call from a
//! program and a front for other agents use it without knowing the loop (design §2).

mod handle;
mod runner;

pub use handle::Agent;
pub use runner::{CallTurn, RequestedCall, TurnError, TurnRunner};
