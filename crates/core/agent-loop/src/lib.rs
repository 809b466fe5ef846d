//! Turns and steps: from a prompt to an answer, through a model and the tools that it calls.
//!
//! ```text
//! turn/start
//!   step/start  user messages → request → chunks → assistant message → calls on the lane → results  step/end
//!   step/start  contexts of the results → request → …                                               step/end
//! turn/end      completed · max-tokens · step-limit · aborted · error
//! ```
//!
//! [`AgentLoop`] drives it. What the model sees is derived from the session's log before each request, so results
//! reach it through the log alone (spec 02 §C.3). One step's calls run on the lane of `dsh-scheduler`; what happens to
//! a single call is `dsh-tools-core`'s.
//!
//! The loop spawns nothing. Whoever drives a turn awaits it; dropping its future leaves an open turn in the log, which
//! is closed as interrupted before the agent's next turn, or when the session is opened again.

mod calls;
mod config;
mod driver;
mod ids;
mod parked;
mod request;
mod step;
mod turn;

pub use config::LoopConfig;
pub use driver::{AgentLoop, LoopParts, TurnOutcome};
