//! The place `thread`: an engine in this process, on a thread of its own, at the end of two channels.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::time::Duration;

use dsh_code_runtime::lossless::weight;
use dsh_code_runtime::wire::{Brake, FromEngine, Gone, Link, Port, ToEngine};
use dsh_code_runtime::{Failure, FailureKind, Misuse, Outcome, Terms, drive};
use tokio::sync::mpsc::error::TryRecvError as NotYet;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{Semaphore, oneshot};

use crate::QuickJs;
use crate::engine::{STACK_BYTES, serve};

/// The threads of one provider.
pub(crate) struct Threads {
    /// One permit for each thread that may be there.
    room: Semaphore,
    unstopped: AtomicUsize,
}

impl Threads {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { room: Semaphore::new(QuickJs::MAX_RUNNING), unstopped: AtomicUsize::new(0) })
    }

    /// Threads that were told to stop and have not yet.
    pub(crate) fn unstopped(&self) -> usize {
        self.unstopped.load(Ordering::Acquire)
    }

    pub(crate) async fn run(self: &Arc<Self>, terms: &Terms<'_>) -> Result<Outcome, Misuse> {
        if self.unstopped() >= QuickJs::MAX_UNSTOPPED {
            return Ok(terms.failed(busy(self.unstopped())));
        }
        let Ok(permit) = self.room.acquire().await else { return Err(Misuse::Closed) };
        if terms.closing.is_cancelled() {
            return Err(Misuse::Closed);
        }
        permit.forget();
        let (ended, end) = oneshot::channel();
        let place = Place { threads: Arc::clone(self), ended: Some(ended) };
        let mut watch = Watch { threads: self, end, seen: false };
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
        let outcome = drive(&mut link, terms).await;
        drop(link);
        watch.seen = tokio::time::timeout(QuickJs::GRACE, &mut watch.end).await.is_ok();
        Ok(outcome)
    }

    /// Waits until no thread is left, and lets none start.
    pub(crate) async fn close(&self) {
        let all = u32::try_from(QuickJs::MAX_RUNNING).unwrap_or(u32::MAX);
        // Every thread gives its permit back when it ends, so having all of them means that none is left.
        if self.room.acquire_many(all).await.is_ok() {
            self.room.close();
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

/// The two ends of one run. The queues are bounded by the meters on both sides: of output, of calls, of what they weigh.
fn pair() -> (ThreadLink, ThreadPort) {
    let (to_engine, from_host) = channel();
    let (to_host, from_engine) = unbounded_channel();
    let (brake, backlog) = (Brake::default(), Arc::new(AtomicUsize::new(0)));
    let link = ThreadLink {
        to_engine,
        from_engine,
        backlog: Arc::clone(&backlog),
        brake: brake.clone(),
        answered: false,
    };
    (link, ThreadPort { from_host, to_host, backlog, brake })
}

/// How often an end looks for a message that is due at once before it sleeps. Being woken costs more than that.
const LOOKS: u32 = 200;

struct ThreadLink {
    to_engine: Sender<ToEngine>,
    from_engine: UnboundedReceiver<FromEngine>,
    backlog: Arc<AtomicUsize>,
    brake: Brake,
    /// Whether the engine was just given an answer, after which it has usually something to say within microseconds.
    answered: bool,
}

struct ThreadPort {
    from_host: Receiver<ToEngine>,
    to_host: UnboundedSender<FromEngine>,
    backlog: Arc<AtomicUsize>,
    brake: Brake,
}

/// What a message adds to the backlog.
fn load(message: &ToEngine) -> usize {
    match message {
        ToEngine::Reply { answer: Ok(value), .. } => weight(value),
        ToEngine::Reply { answer: Err(message), .. } => message.len(),
        ToEngine::Run(_) | ToEngine::Cancel => 0,
    }
}

impl Link for ThreadLink {
    fn send(&mut self, message: ToEngine) {
        if message == ToEngine::Cancel {
            self.brake.pull();
        }
        self.answered = true;
        self.backlog.fetch_add(load(&message), Ordering::AcqRel);
        // An engine that is gone needs no message.
        let _gone = self.to_engine.send(message);
    }

    fn backlog(&self) -> usize {
        self.backlog.load(Ordering::Acquire)
    }

    async fn receive(&mut self) -> Result<FromEngine, Failure> {
        if std::mem::take(&mut self.answered) {
            for _ in 0..LOOKS {
                match self.from_engine.try_recv() {
                    Ok(message) => return Ok(message),
                    Err(NotYet::Empty) => std::hint::spin_loop(),
                    Err(NotYet::Disconnected) => break,
                }
            }
        }
        self.from_engine.recv().await.ok_or_else(|| {
            Failure::new(
                FailureKind::WorkerExit,
                "the engine's thread ended without a result, by a fault of its own",
            )
        })
    }
}

impl Drop for ThreadLink {
    /// Whoever drops a run stops its program.
    fn drop(&mut self) {
        self.brake.pull();
    }
}

impl ThreadPort {
    fn next(&mut self, patience: Option<Duration>) -> Result<Option<ToEngine>, Gone> {
        if patience.is_none_or(|patience| !patience.is_zero()) {
            for _ in 0..LOOKS {
                match self.from_host.try_recv() {
                    Ok(message) => return Ok(Some(message)),
                    Err(TryRecvError::Empty) => std::hint::spin_loop(),
                    Err(TryRecvError::Disconnected) => return Err(Gone),
                }
            }
        }
        match patience {
            None => self.from_host.recv().map(Some).map_err(|_| Gone),
            Some(patience) => match self.from_host.recv_timeout(patience) {
                Ok(message) => Ok(Some(message)),
                Err(RecvTimeoutError::Timeout) => Ok(None),
                Err(RecvTimeoutError::Disconnected) => Err(Gone),
            },
        }
    }
}

impl Port for ThreadPort {
    fn send(&mut self, message: FromEngine) -> Result<(), Gone> {
        self.to_host.send(message).map_err(|_| Gone)
    }

    fn receive(&mut self, patience: Option<Duration>) -> Result<Option<ToEngine>, Gone> {
        let message = self.next(patience)?;
        if let Some(message) = &message {
            self.backlog.fetch_sub(load(message), Ordering::AcqRel);
        }
        Ok(message)
    }

    fn brake(&self) -> Brake {
        self.brake.clone()
    }
}
