//! The provider: TypeScript programs, each in a fresh engine.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use dsh_code_runtime::{
    CodeRuntime, Failure, FailureKind, Host, Isolation, Limits, Misuse, Outcome, Request, Terms, drive,
};
use dsh_lifecycle::{Cancel, Cause};
use tokio::sync::{Semaphore, oneshot};

use crate::engine::{STACK_BYTES, serve};
use crate::thread::pair;

/// Runs TypeScript programs on threads of this process (spec 06 §8, design §4.10).
///
/// A program is stopped where the engine looks up: loops, calls and regular expressions do; a single long operation of
/// the engine itself (sorting numbers, searching a long text) does not. Such a program is waited for, for a
/// [grace](Self::GRACE); then its outcome is given, its thread goes on by itself until the operation ends, and is counted by
/// [`unstopped`](Self::unstopped). While [`MAX_UNSTOPPED`](Self::MAX_UNSTOPPED) of them go on, no program is started. Who
/// needs more than that runs programs in a worker process.
pub struct QuickJs {
    limits: Limits,
    closing: Cancel,
    threads: Arc<Threads>,
}

/// The threads of one provider.
struct Threads {
    /// One permit for each thread that may be there.
    room: Semaphore,
    unstopped: AtomicUsize,
}

impl QuickJs {
    /// How long a program that was told to stop is waited for.
    pub const GRACE: Duration = Duration::from_secs(2);
    /// Threads that did not stop, beyond which no program is started.
    pub const MAX_UNSTOPPED: usize = 2;
    /// Programs that may run at once; more wait their turn.
    pub const MAX_RUNNING: usize = 64;

    /// A provider with these bounds on each run.
    pub fn new(limits: Limits) -> Self {
        let threads = Threads { room: Semaphore::new(Self::MAX_RUNNING), unstopped: AtomicUsize::new(0) };
        Self { limits, closing: Cancel::new(), threads: Arc::new(threads) }
    }

    /// Threads of programs that were told to stop and have not yet.
    pub fn unstopped(&self) -> usize {
        self.threads.unstopped.load(Ordering::Acquire)
    }
}

#[async_trait]
impl CodeRuntime for QuickJs {
    fn language(&self) -> &'static str {
        "typescript"
    }

    fn isolation(&self) -> Isolation {
        Isolation::Thread
    }

    async fn run(&self, request: Request, host: &dyn Host) -> Result<Outcome, Misuse> {
        let terms = Terms { request: &request, host, limits: &self.limits, closing: &self.closing };
        if let Some(outcome) = terms.admit()? {
            return Ok(outcome);
        }
        if self.unstopped() >= Self::MAX_UNSTOPPED {
            return Ok(terms.failed(busy(self.unstopped())));
        }
        let Ok(permit) = self.threads.room.acquire().await else { return Err(Misuse::Closed) };
        if self.closing.is_cancelled() {
            return Err(Misuse::Closed);
        }
        permit.forget();
        let (ended, end) = oneshot::channel();
        let place = Place { threads: Arc::clone(&self.threads), ended: Some(ended) };
        let mut watch = Watch { threads: &self.threads, end, seen: false };
        let (mut link, port) = pair();
        let thread = std::thread::Builder::new().name("dsh-quickjs".to_owned()).stack_size(STACK_BYTES);
        let spawned = thread.spawn(move || {
            // The host of a run that is gone has no use for its end.
            let _gone = serve(port);
            drop(place);
        });
        if let Err(error) = spawned {
            let message = format!("no thread could be started for the program: {error}");
            return Ok(terms.failed(Failure::new(FailureKind::Unavailable, message)));
        }
        let outcome = drive(&mut link, &terms).await;
        drop(link);
        watch.seen = tokio::time::timeout(Self::GRACE, &mut watch.end).await.is_ok();
        Ok(outcome)
    }

    async fn close(&self) {
        self.closing.cancel(Cause::Disposed);
        let all = u32::try_from(Self::MAX_RUNNING).unwrap_or(u32::MAX);
        // Every thread gives its permit back when it ends, so having all of them means that none is left.
        if self.threads.room.acquire_many(all).await.is_ok() {
            self.threads.room.close();
        }
    }
}

/// A thread's place among the others, given back when it ends, however it ends.
struct Place {
    threads: Arc<Threads>,
    ended: Option<oneshot::Sender<()>>,
}

impl Drop for Place {
    fn drop(&mut self) {
        let heard = self.ended.take().is_some_and(|ended| ended.send(()).is_ok());
        if !heard {
            self.threads.unstopped.fetch_sub(1, Ordering::AcqRel);
        }
        self.threads.room.add_permits(1);
    }
}

/// A run's eye on its thread. A thread that has not ended when nobody looks any more is counted, and takes itself off the
/// count when it does.
struct Watch<'a> {
    threads: &'a Threads,
    end: oneshot::Receiver<()>,
    seen: bool,
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        if self.seen {
            return;
        }
        self.threads.unstopped.fetch_add(1, Ordering::AcqRel);
        self.end.close();
        if self.end.try_recv().is_ok() {
            // It ended just now, and was heard.
            self.threads.unstopped.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

fn busy(unstopped: usize) -> Failure {
    let message = format!(
        "{unstopped} earlier programs were told to stop and are still inside one long operation: wait until they end, \
         and work on less at once"
    );
    Failure::new(FailureKind::Unavailable, message)
}
