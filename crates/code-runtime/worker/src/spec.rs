//! What a pool's workers are.

use std::path::PathBuf;
use std::time::Duration;

use dsh_confinement::{Demand, Limits};

/// What the workers of one pool have in common. [`WorkerSpec::new`] has the defaults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerSpec {
    /// What is started.
    pub entry: Entry,
    /// What the child is asked to be.
    pub role: String,
    /// The bounds that the kernel holds. None.
    pub limits: Limits,
    /// Whether the program may have threads. It may not.
    pub threads: bool,
    /// How much confinement is insisted on. As much as there is.
    pub demand: Demand,
    /// How many wait, started and confined. 1.
    pub idle: usize,
    /// How many may be in use at once; more wait their turn. 64.
    pub max_workers: usize,
    /// How long a child may take until it is ready. 10 s.
    pub start_timeout: Duration,
    /// The longest payload, in both directions. 64 MiB.
    pub max_frame_bytes: usize,
    /// What may be queued for a worker that does not read. 128 MiB.
    pub max_queued_bytes: usize,
    /// How much is kept of what a worker writes past its frames. 64 KiB.
    pub max_stray_bytes: usize,
}

/// The program that becomes a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// This program again. Its `main` has called [`child_main_if_asked`](crate::child_main_if_asked).
    Reexec,
    /// A program whose `main` calls it.
    Binary(PathBuf),
}

impl WorkerSpec {
    /// Workers of this role, with defaults for everything else.
    pub fn new(entry: Entry, role: impl Into<String>) -> Self {
        Self {
            entry,
            role: role.into(),
            limits: Limits::default(),
            threads: false,
            demand: Demand::BestEffort,
            idle: 1,
            max_workers: 64,
            start_timeout: Duration::from_secs(10),
            max_frame_bytes: 64 << 20,
            max_queued_bytes: 128 << 20,
            max_stray_bytes: 64 << 10,
        }
    }
}
