//! A confined child process that runs one program for its owner, and is killed and reaped whatever it does.
//!
//! ```text
//! host                                              child: the same program again, or a binary that is named
//!   WorkerPool ── keeper thread ── spawn ─────────→ child_main_if_asked, first in `main`
//!      idle                   ←──── ready ────────    descriptors closed, `Start::confine`, waiting
//!   WorkerPool::take
//!   Worker::send, recv      ←─── frames ──────────→ Channel::send, recv
//!   BudgetWatch: wall and CPU time, every 25 ms
//!   Worker::kill, or dropping it ── SIGKILL ──────→ gone, and reaped by its keeper
//! ```
//!
//! A frame is a `u32` in little-endian (how many bytes follow), one byte of kind, and the payload; what payloads mean is the
//! role's own affair. A worker is used once: nothing of one program is there for the next.
//!
//! - A worker starts with no environment, in `/`, in a process group of its own, with three open descriptors: its channel as
//!   standard input, and one pipe as output and error, which is collected.
//! - It dies with the process that started it, also when that is killed.
//! - Its keeper, a thread of the host, waits for it from start to end. So there is no zombie, with or without a runtime.
//! - Where there is no worker to be had, the answer is `WORKER_UNAVAILABLE`, and nothing else is tried.
//!
//! How a process is confined is `dsh-confinement`'s; what an engine and its host say is `dsh-code-runtime`'s.

mod attention;
mod budget;
mod child;
mod ended;
mod entry;
mod error;
mod frame;
mod greeting;
mod keeper;
mod pool;
mod process;
mod spec;
mod stray;
mod worker;

pub use attention::Attention;
pub use budget::{Budget, BudgetWatch, Budgets, Expired};
pub use child::{Channel, ChannelError, Start, child_main_if_asked};
pub use dsh_confinement::{Demand, Level, Limits};
pub use ended::{Ended, Exit, Hint, How};
pub use error::WorkerError;
pub use pool::WorkerPool;
pub use spec::{Entry, WorkerSpec};
pub use stray::Stray;
pub use worker::Worker;
