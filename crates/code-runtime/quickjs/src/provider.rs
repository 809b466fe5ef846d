//! The provider: TypeScript programs, each in a fresh engine.

use std::time::Duration;

use async_trait::async_trait;
use dsh_code_runtime::{
    BindingSchemas, CodeRuntime, Failure, Host, Isolation, Limits, Misuse, Outcome, Request, Terms,
};
use dsh_lifecycle::{Cancel, Cause};
use dsh_worker::{Entry, WorkerSpec};

use crate::check::check;
use crate::process::Workers;
use crate::thread::Threads;

/// Runs TypeScript programs (spec 06 §8, design §4.10): each in a [worker](Self::in_workers) of its own, or on a
/// [thread](Self::on_threads) of this process. Programs behave the same in both; what differs is what can be promised about
/// programs that misbehave.
pub struct QuickJs {
    limits: Limits,
    closing: Cancel,
    place: Place,
}

/// Where programs run.
enum Place {
    Threads(Threads),
    Workers(Workers),
}

impl QuickJs {
    /// How long a program on a thread that was told to stop is waited for.
    pub const GRACE: Duration = Duration::from_secs(2);
    /// Threads that did not stop, beyond which no program is started on a thread.
    pub const MAX_UNSTOPPED: usize = 2;
    /// Programs that may run at once; more wait their turn.
    pub const MAX_RUNNING: usize = 64;

    /// Programs in confined processes, which hold no authority and are killed (`isolation = "process"`).
    ///
    /// Whatever a program does, it is gone soon after a limit is hit or its run is dropped, and the host unharmed. `spec` is
    /// what [`worker_spec`](Self::worker_spec) gave, perhaps with another stock, which is there after the first run. A run is
    /// awaited in a runtime of tokio with I/O and time.
    ///
    /// A worker that can't be started is the outcome `unavailable`, with `WORKER_UNAVAILABLE`; programs are never run anywhere
    /// else instead.
    pub fn in_workers(limits: Limits, spec: WorkerSpec) -> Self {
        Self { limits, closing: Cancel::new(), place: Place::Workers(Workers::new(spec)) }
    }

    /// What workers for programs with these limits are: the role, the kernel's bounds, which stand behind the engine's own,
    /// and the longest frame. `entry` is this program again, if its `main` begins with [`become_worker`](crate::become_worker),
    /// or a binary whose `main` does, such as this crate's `dsh-quickjs-worker`.
    pub fn worker_spec(entry: Entry, limits: &Limits) -> WorkerSpec {
        Workers::spec(entry, limits)
    }

    /// Programs on threads of this process, for those who trust their programs (`isolation = "thread"`).
    ///
    /// A program is stopped where the engine looks up: loops, calls and regular expressions do; a single long operation of
    /// the engine itself (sorting numbers, searching a long text) does not. Such a program is waited for, for a
    /// [grace](Self::GRACE); then its outcome is given, its thread goes on by itself until the operation ends, and is counted
    /// by [`unstopped`](Self::unstopped). While [`MAX_UNSTOPPED`](Self::MAX_UNSTOPPED) of them go on, no program is started.
    pub fn on_threads(limits: Limits) -> Self {
        Self { limits, closing: Cancel::new(), place: Place::Threads(Threads::new()) }
    }

    /// Threads of programs that were told to stop and have not yet. Workers are killed, so there are none.
    pub fn unstopped(&self) -> usize {
        match &self.place {
            Place::Threads(threads) => threads.unstopped(),
            Place::Workers(_) => 0,
        }
    }
}

#[async_trait]
impl CodeRuntime for QuickJs {
    fn language(&self) -> &'static str {
        crate::LANGUAGE
    }

    fn isolation(&self) -> Isolation {
        match &self.place {
            Place::Threads(_) => Isolation::Thread,
            Place::Workers(_) => Isolation::Process,
        }
    }

    fn check(&self, program: &str, namespaces: &[&dyn BindingSchemas]) -> Result<(), Failure> {
        check(program, namespaces)
    }

    async fn run(&self, request: Request, host: &dyn Host) -> Result<Outcome, Misuse> {
        let terms = Terms { request: &request, host, limits: &self.limits, closing: &self.closing };
        if let Some(outcome) = terms.admit()? {
            return Ok(outcome);
        }
        match &self.place {
            Place::Threads(threads) => threads.run(&terms).await,
            Place::Workers(workers) => workers.run(&terms).await,
        }
    }

    async fn close(&self) {
        self.closing.cancel(Cause::Disposed);
        match &self.place {
            Place::Threads(threads) => threads.close().await,
            Place::Workers(workers) => workers.close().await,
        }
    }
}
