//! TypeScript programs on the `QuickJS` engine.
//!
//! Types are erased in place, so that every line and column stays the model's own; then the program runs as the body of an
//! async function in a world made for it alone.
//!
//! - [`QuickJs`] is the provider for programs on threads of this process.
//! - [`serve`] is the engine's half of a run, for whoever gives it a port: this provider, or a worker process.
//!
//! A program has the language (ES2025 without modules), the names of its namespaces, and what `globals` lists: `console`,
//! timers, a stub of `process`. Nothing of it reaches files, network, environment or other programs. `Date` and `Math.random` are
//! the engine's own: programs are not deterministic.

mod engine;
mod erase;
mod excerpt;
mod provider;
mod thread;

pub use engine::{STACK_BYTES, serve};
pub use provider::QuickJs;
