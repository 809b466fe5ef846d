//! Where programs run, and what they may use: the table `[code-mode]` (spec 12 §3).

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use dsh_code_mode::CodeModeConfig;
use dsh_code_runtime::{CodeRuntime, Isolation, Limits};
use dsh_quickjs::QuickJs;
use dsh_worker::{Entry, WorkerSpec};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

/// Becomes a worker for programs, if this process was started as one; else returns at once.
///
/// A program that embeds a harness calls it first in `main`: before there is a second thread, a runtime or an open file.
/// Then programs run in processes of their own. Who can't do that names a binary that does
/// ([`HarnessBuilder::worker`](crate::HarnessBuilder::worker)), or configures `isolation = "thread"`; else programs fail with
/// `WORKER_UNAVAILABLE`.
pub fn become_worker() {
    dsh_quickjs::become_worker();
}

/// The configuration of programs: how their calls are scheduled, what each may use, and where it runs.
pub(crate) struct CodeConfig {
    calls: CodeModeConfig,
    limits: Limits,
    isolation: Isolation,
    workers: Workers,
}

/// The stock of worker processes.
#[derive(Clone, Copy)]
struct Workers {
    idle: usize,
    most: usize,
}

impl CodeConfig {
    /// What Code Mode is configured to, and the runtime.
    pub(crate) fn runtime(self, worker: &Entry) -> (CodeModeConfig, Arc<dyn CodeRuntime>) {
        let Self { calls, limits, isolation, workers } = self;
        let runtime = match isolation {
            Isolation::Thread => QuickJs::on_threads(limits),
            Isolation::Process | Isolation::Container => {
                let spec = QuickJs::worker_spec(worker.clone(), &limits);
                QuickJs::in_workers(
                    limits,
                    WorkerSpec { idle: workers.idle, max_workers: workers.most, ..spec },
                )
            }
        };
        (calls, Arc::new(runtime))
    }
}

impl<'de> Deserialize<'de> for CodeConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = Written::deserialize(deserializer)?;
        let limits = Limits {
            max_wall: Duration::from_millis(written.max_wall_ms),
            max_compute: Duration::from_millis(written.max_compute_ms),
            max_memory_bytes: written.max_memory_bytes,
            max_output_bytes: written.max_output_bytes,
            max_sub_calls: written.max_sub_calls,
            max_in_flight_bytes: written.max_in_flight_bytes,
        };
        let calls = CodeModeConfig {
            max_parallel_sub_calls: written.max_parallel_sub_calls,
            max_uncommitted_sub_calls: written.max_uncommitted_sub_calls,
            max_sdk_bytes: written.max_sdk_bytes,
        };
        let isolation = match written.isolation {
            Place::Process => Isolation::Process,
            Place::Thread => Isolation::Thread,
        };
        let workers = Workers { idle: written.idle_workers, most: written.max_workers.get() };
        Ok(Self { calls, limits: limits.checked().map_err(D::Error::custom)?, isolation, workers })
    }
}

/// The table as it is written.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Written {
    max_parallel_sub_calls: NonZeroUsize,
    max_uncommitted_sub_calls: NonZeroUsize,
    max_sdk_bytes: NonZeroUsize,
    max_wall_ms: u64,
    max_compute_ms: u64,
    max_memory_bytes: usize,
    max_output_bytes: usize,
    max_sub_calls: u64,
    max_in_flight_bytes: usize,
    isolation: Place,
    /// Workers that wait, once a program has run.
    idle_workers: usize,
    /// Programs that run at once in workers.
    max_workers: NonZeroUsize,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Place {
    Process,
    Thread,
}

impl Default for Written {
    fn default() -> Self {
        let (calls, limits) = (CodeModeConfig::default(), Limits::default());
        let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Self {
            max_parallel_sub_calls: calls.max_parallel_sub_calls,
            max_uncommitted_sub_calls: calls.max_uncommitted_sub_calls,
            max_sdk_bytes: calls.max_sdk_bytes,
            max_wall_ms: milliseconds(limits.max_wall),
            max_compute_ms: milliseconds(limits.max_compute),
            max_memory_bytes: limits.max_memory_bytes,
            max_output_bytes: limits.max_output_bytes,
            max_sub_calls: limits.max_sub_calls,
            max_in_flight_bytes: limits.max_in_flight_bytes,
            isolation: Place::Process,
            idle_workers: 1,
            max_workers: NonZeroUsize::new(QuickJs::MAX_RUNNING).unwrap_or(NonZeroUsize::MIN),
        }
    }
}
