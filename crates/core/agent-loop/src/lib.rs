//! Turns and steps: from a prompt to an answer, through a model and the tools that it calls.
//!
//! ```text
//! turn/start
//!   claim  step/start  user messages → request → chunks → assistant message → calls on the lane → results  step/end
//!   claim  step/start  contexts of the results, steering → request → …                                     step/end
//! turn/end             completed · max-tokens · step-limit · blocked · aborted · error
//! ```
//!
//! [`AgentLoop`] drives it: [`run_turn`](AgentLoop::run_turn) for one prompt, [`drive`](AgentLoop::drive) for all that
//! comes into an agent's inbox. What the model sees is derived from the session's log before each request, so results
//! reach it through the log alone (spec 02 §C.3). One step's calls run on the lane of `dsh-scheduler`; what happens to
//! a single call is `dsh-tools-core`'s.
//!
//! What a step is given leaves the inbox when the step begins, or when a hook refuses it: a turn that is cancelled
//! before, or that fails before, takes nothing with it (spec 02 §E.11).
//!
//! The loop spawns nothing. Whoever drives a turn awaits it; dropping its future leaves an open turn in the log, which
//! is closed as interrupted before the agent's next turn, or when the session is opened again.

mod arrival;
mod calls;
mod config;
mod driver;
mod enter;
mod ids;
mod listen;
mod program;
mod request;
mod settings;
mod step;
mod turn;
mod watch;

pub use config::LoopConfig;
pub use driver::{AgentLoop, LoopParts, TurnOutcome};
pub use settings::{LoopSettings, SettingsError};
