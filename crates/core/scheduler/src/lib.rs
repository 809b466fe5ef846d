//! The lane: calls start in order, their bodies overlap, exclusive calls are barriers, results commit in order.
//!
//! ```text
//!            ┌ start ┐      ┌───────── bodies (overlap, up to the cap) ─────────┐      ┌ commit ┐
//! source ──▶ │ 1 2 3 │ ──▶  │ 1 ▓▓▓▓▓▓▓▓▓▓▓▓    2 ▓▓▓    3 ▓▓▓▓▓▓▓              │ ──▶  │ 1 2 3  │ ──▶ side work
//!            └───────┘      └──────────────────────────────────────────────────┘      └────────┘
//!             ordered                                                                  ordered
//! ```
//!
//! What a call is, how it starts and what committing means is the business of a [`Work`]; [`run`] only decides *when*.
//! A model's step and a running program are two such works, under one contract (spec 02 §A, spec 06 §4):
//!
//! - `start`, `commit` and `skip` never overlap each other: they take `&mut self`.
//! - Only bodies overlap, at most [`Limits::running`] at a time; a place is free again as soon as its body has settled.
//! - An exclusive call starts when nothing before it is uncommitted, and nothing starts behind it until it is committed.
//! - The mode of a call is asked again before each start, so that a change of the registry counts for all who wait.
//! - After a stop nothing starts; what runs is awaited and committed, and the rest is skipped in order.
//! - The first error stops starts and commits, drains what runs, and is returned. Nothing is made up.
//!
//! Nothing is spawned. The lane polls its bodies itself, so they may borrow, and dropping the future of [`run`] is the
//! only way to lose one: its owner awaits it. Bodies that block or compute for long move that work to a thread pool and
//! await it there, since they share one task.

mod lane;
mod pool;
mod work;

pub use lane::run;
pub use work::{Begun, Limits, Mode, Started, Work};
