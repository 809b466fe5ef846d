//! TypeScript programs on the `QuickJS` engine.
//!
//! Types are erased in place, so that every line and column stays the model's own; then the program runs as the body of an
//! async function in a world made for it alone.
//!
//! - [`QuickJs`] is the provider: each program in a confined worker process, or on a thread of this process.
//! - [`become_worker`] makes a program its own worker. The binary `dsh-quickjs-worker` is one already.
//! - [`serve`] is the engine's half of a run, for whoever gives it a port.
//!
//! A program has the language (ES2025 without modules), the names of its namespaces, and the globals that
//! `docs/code-mode-language.md` lists: console, timers, texts, URLs, copies. Nothing of it reaches files, network, environment or other programs. `Date` and `Math.random` are
//! the engine's own: programs are not deterministic.

mod check;
mod engine;
mod erase;
mod excerpt;
mod process;
mod provider;
mod thread;

pub use engine::{STACK_BYTES, serve};
pub use process::{become_worker, serve_worker};
pub use provider::QuickJs;

/// The language that programs are written in (spec 06 §7.1).
pub const LANGUAGE: &str = "typescript";
