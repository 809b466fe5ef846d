//! The place `process`: an engine in a confined child of this process, at the other end of a pipe.

use std::pin::Pin;
use std::sync::OnceLock;
use std::time::Duration;

use dsh_code_runtime::wire::{Brake, FromEngine, Gone, Link, Port, ToEngine};
use dsh_code_runtime::{Failure, FailureKind, Limits, Misuse, Outcome, Terms, drive};
use dsh_worker::{
    Budgets, Channel, Ended, Entry, Expired, Hint, Start, Worker, WorkerError, WorkerPool, WorkerSpec,
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::engine::{busy_too_long, out_of_memory, serve_within};

/// The role that workers for TypeScript programs have.
const ROLE: &str = "typescript";

/// Becomes a worker for TypeScript programs, if this process was started as one; else returns at once.
///
/// To be called first in `main`, as [`dsh_worker::child_main_if_asked`] says, which is also what a program with workers of
/// several roles calls, with [`serve_worker`] for [the role](crate::QuickJs::worker_spec) of this crate.
pub fn become_worker() {
    dsh_worker::child_main_if_asked(|role, start| match role {
        ROLE => serve_worker(start),
        _ => start.refuse(&format!("this program has no role `{role}`, only `{ROLE}`")),
    });
}

/// Confines this process and runs one program for its host. Returns when the program is over, or the host is gone.
pub fn serve_worker(start: Start) {
    if let Err(why) = room_for_the_stack() {
        start.refuse(&why);
    }
    // A host that is gone has no use for the end of its run.
    let _gone = serve_within(WORKER_STACK_BYTES, ChannelPort(start.confine()));
}

/// The stack of a worker. There is no second thread to read a long program on, and what is not used costs nothing.
const WORKER_STACK_BYTES: usize = 64 << 20;

/// A process begins with the stack that its session allows, which grows on demand; the engine's own bound has to come first.
fn room_for_the_stack() -> Result<(), String> {
    let least = WORKER_STACK_BYTES as u64;
    let bound = getrlimit(Resource::Stack);
    if bound.current.is_none_or(|current| current >= least) {
        return Ok(());
    }
    if bound.maximum.is_some_and(|maximum| maximum < least) {
        return Err(format!("an engine needs {least} bytes of stack: raise the hard limit (ulimit -Hs)"));
    }
    setrlimit(Resource::Stack, Rlimit { current: Some(least), maximum: bound.maximum })
        .map_err(|error| format!("an engine needs {least} bytes of stack: {error}"))
}

/// The child's end.
struct ChannelPort(Channel);

impl Port for ChannelPort {
    fn send(&mut self, message: FromEngine) -> Result<(), Gone> {
        // Nothing that the meters let through is longer than a frame may be.
        self.0.send(message.encode().as_bytes()).map_err(|_| Gone)
    }

    fn receive(&mut self, patience: Option<Duration>) -> Result<Option<ToEngine>, Gone> {
        let Some(frame) = self.0.recv(patience).map_err(|_| Gone)? else { return Ok(None) };
        let message = std::str::from_utf8(&frame).ok().and_then(ToEngine::decode);
        message.map(Some).ok_or(Gone)
    }

    fn brake(&self) -> Brake {
        // Who wants this process to stop kills it.
        Brake::default()
    }
}

/// The workers of one provider. There are none before the first program.
pub(crate) struct Workers {
    spec: WorkerSpec,
    pool: OnceLock<WorkerPool>,
}

/// How much later than the engine the host ends a program that is busy for too long: the engine can say more about it.
const ENGINE_FIRST: Duration = Duration::from_millis(40);
/// What is in a frame beside the value.
const ENVELOPE: usize = 64 << 10;

impl Workers {
    pub(crate) fn spec(entry: Entry, limits: &Limits) -> WorkerSpec {
        let memory = u64::try_from(limits.max_memory_bytes).unwrap_or(u64::MAX);
        let frame = limits.max_in_flight_bytes.max(limits.max_output_bytes).saturating_add(ENVELOPE);
        WorkerSpec {
            limits: dsh_worker::Limits {
                // The engine's own bound comes first. This is on everything: stack, frames, values on their way.
                max_memory_bytes: Some(memory.saturating_mul(2).max(LEAST_MEMORY)),
                max_cpu_seconds: Some(limits.max_compute.as_secs().saturating_add(3)),
            },
            max_workers: crate::QuickJs::MAX_RUNNING,
            max_frame_bytes: frame,
            max_queued_bytes: frame.saturating_mul(2),
            ..WorkerSpec::new(entry, ROLE)
        }
    }

    pub(crate) fn new(spec: WorkerSpec) -> Self {
        Self { spec, pool: OnceLock::new() }
    }

    pub(crate) async fn run(&self, terms: &Terms<'_>) -> Result<Outcome, Misuse> {
        let taken = tokio::select! {
            biased;
            () = terms.request.cancel.cancelled() => None,
            () = terms.closing.cancelled() => None,
            taken = self.pool().take() => Some(taken),
        };
        let worker = match taken {
            Some(Ok(worker)) => worker,
            Some(Err(WorkerError::Closed)) => return Err(Misuse::Closed),
            Some(Err(error)) => return Ok(terms.failed(unavailable(&error))),
            None => return terms.admit()?.ok_or(Misuse::Closed),
        };
        let mut link = WorkerLink::new(worker, terms.limits);
        let mut outcome = drive(&mut link, terms).await;
        if link.done {
            // It has nothing left to say: letting go of it kills it, and the next program need not wait for that.
            return Ok(outcome);
        }
        let ended = link.worker.kill().await;
        // It did not live to say what it used.
        outcome.receipt.busy = outcome.receipt.busy.or(ended.exit.cpu);
        Ok(outcome)
    }

    pub(crate) async fn close(&self) {
        // Who has started none will start none: the runtime is closing.
        if let Some(pool) = self.pool.get() {
            pool.close().await;
        }
    }

    fn pool(&self) -> &WorkerPool {
        self.pool.get_or_init(|| WorkerPool::new(self.spec.clone()))
    }
}

/// A worker needs that much beside the values of its program.
const LEAST_MEMORY: u64 = 16 << 20;

/// The host's end.
struct WorkerLink<'a> {
    worker: Worker,
    expired: Pin<Box<dyn Future<Output = Expired> + Send>>,
    limits: &'a Limits,
    /// Whether the program was over by itself.
    done: bool,
    /// Why the run can't go on, when that was found while something was sent.
    fault: Option<Failure>,
}

impl<'a> WorkerLink<'a> {
    fn new(worker: Worker, limits: &'a Limits) -> Self {
        let budgets = Budgets { max_wall: None, max_compute: Some(limits.max_compute + ENGINE_FIRST) };
        let watch = worker.watch(budgets);
        Self {
            worker,
            expired: Box::pin(async move { watch.expired().await }),
            limits,
            done: false,
            fault: None,
        }
    }
}

impl Link for WorkerLink<'_> {
    fn send(&mut self, message: ToEngine) {
        if message == ToEngine::Cancel {
            return self.worker.stop();
        }
        if let Err(error) = self.worker.queue(message.encode().as_bytes()) {
            self.fault.get_or_insert_with(|| Failure::new(FailureKind::CallLimit, error.to_string()));
        }
    }

    fn backlog(&self) -> usize {
        self.worker.queued_bytes()
    }

    async fn receive(&mut self) -> Result<FromEngine, Failure> {
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        let frame = tokio::select! {
            biased;
            frame = self.worker.recv() => frame,
            expired = &mut self.expired => {
                return Err(busy_too_long(expired.used, self.limits.max_compute));
            }
        };
        let frame = frame.map_err(|error| ended(error, self.limits))?;
        let message = std::str::from_utf8(&frame).ok().and_then(FromEngine::decode);
        self.done = matches!(message, Some(FromEngine::Done { .. }));
        message.ok_or_else(|| {
            self.worker.stop();
            Failure::new(FailureKind::WorkerExit, "the engine sent what is no message, and was killed")
        })
    }
}

fn unavailable(error: &WorkerError) -> Failure {
    Failure::new(FailureKind::Unavailable, format!("{}: {error}", error.code()))
}

/// What the end of a worker means for the run.
fn ended(error: WorkerError, limits: &Limits) -> Failure {
    let WorkerError::Ended(ended) = error else {
        return Failure::new(FailureKind::WorkerExit, format!("{error}, and was killed"));
    };
    let Ended { exit, stray, hint } = *ended;
    match hint {
        Some(Hint::OutOfMemory) => out_of_memory(limits.max_memory_bytes),
        Some(Hint::OutOfCpu) => busy_too_long(exit.cpu.unwrap_or(limits.max_compute), limits.max_compute),
        None => {
            let said = stray.to_string();
            let line = said.lines().find(|line| !line.trim().is_empty());
            let said = line.map(|line| format!("; it said: {line}")).unwrap_or_default();
            let message = format!("the engine's process ended without a result ({exit}){said}");
            Failure::new(FailureKind::WorkerExit, message)
        }
    }
}
