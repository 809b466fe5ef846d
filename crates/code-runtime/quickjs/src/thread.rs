//! The place `thread`: an engine in this process, on a thread of its own, at the end of two channels.

use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::time::Duration;

use dsh_code_runtime::lossless::weight;
use dsh_code_runtime::wire::{Brake, FromEngine, Gone, Link, Port, ToEngine};
use dsh_code_runtime::{Failure, FailureKind, Misuse, Outcome, Terms, drive};
use dsh_worker::Attention;
use parking_lot::Mutex;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::QuickJs;
use crate::engine::{STACK_BYTES, serve};

/// The threads of one provider.
pub(crate) struct Threads {
    /// One permit for each program that may be there.
    room: Arc<Semaphore>,
    unstopped: Arc<AtomicUsize>,
    /// A thread whose engine waits for a program, once there was one.
    stock: Mutex<Option<Thread>>,
}

impl Threads {
    pub(crate) fn new() -> Self {
        Self {
            room: Arc::new(Semaphore::new(QuickJs::MAX_RUNNING)),
            unstopped: Arc::default(),
            stock: Mutex::default(),
        }
    }

    /// Threads that were told to stop and have not yet.
    pub(crate) fn unstopped(&self) -> usize {
        self.unstopped.load(Ordering::Acquire)
    }

    pub(crate) async fn run(&self, terms: &Terms<'_>) -> Result<Outcome, Misuse> {
        if self.unstopped() >= QuickJs::MAX_UNSTOPPED {
            return Ok(terms.failed(busy(self.unstopped())));
        }
        let Ok(permit) = Arc::clone(&self.room).acquire_owned().await else { return Err(Misuse::Closed) };
        if terms.closing.is_cancelled() {
            return Err(Misuse::Closed);
        }
        let in_stock = self.stock.lock().take();
        let Thread { mut link, stay, end } = match in_stock.map_or_else(Thread::start, Ok) {
            Ok(thread) => thread,
            Err(error) => {
                let message = format!("no thread could be started for the program: {error}");
                return Ok(terms.failed(Failure::new(FailureKind::Unavailable, message)));
            }
        };
        stay.lock().permit = Some(permit);
        let mut watch = Watch { unstopped: &self.unstopped, stay, over: false };
        let outcome = drive(&mut link, terms).await;
        watch.over = link.done;
        drop(link);
        if !watch.over {
            watch.over = tokio::time::timeout(QuickJs::GRACE, end).await.is_ok();
        }
        drop(watch);
        self.stock_up(terms);
        Ok(outcome)
    }

    /// Has a thread for the next program, started now that this one no longer needs the processors.
    fn stock_up(&self, terms: &Terms<'_>) {
        let mut stock = self.stock.lock();
        if stock.is_none() && !terms.closing.is_cancelled() {
            // Without one the next program tries itself, and says what is wrong.
            *stock = Thread::start().ok();
        }
    }

    /// Waits until no thread is left, and lets none start.
    pub(crate) async fn close(&self) {
        let all = u32::try_from(QuickJs::MAX_RUNNING).unwrap_or(u32::MAX);
        // Every thread gives its permit back when it ends, so having all of them means that none is left.
        if self.room.acquire_many(all).await.is_ok() {
            self.room.close();
        }
        let in_stock = self.stock.lock().take();
        if let Some(Thread { link, end, .. }) = in_stock {
            drop(link);
            // It is there until it is gone, however it goes.
            let _gone = end.await;
        }
    }
}

/// A thread that has its engine, for one program.
struct Thread {
    link: ThreadLink,
    stay: Arc<Mutex<Stay>>,
    /// Resolves when the thread has ended.
    end: oneshot::Receiver<()>,
}

impl Thread {
    /// Starts a thread, whose engine makes its world and waits.
    fn start() -> io::Result<Self> {
        let (ended, end) = oneshot::channel();
        let stay = Arc::new(Mutex::new(Stay { permit: None, ended: false, given_up: None }));
        let leaving = Leaving { stay: Arc::clone(&stay), _ended: ended };
        let (link, port) = pair();
        let thread = std::thread::Builder::new().name("dsh-quickjs".to_owned()).stack_size(STACK_BYTES);
        thread.spawn(move || {
            // The host of a run that is gone has no use for its end.
            let _gone = serve(port);
            drop(leaving);
        })?;
        Ok(Self { link, stay, end })
    }
}

/// A thread's stay, as it and its run know it.
struct Stay {
    /// Its place among the programs that may be there.
    permit: Option<OwnedSemaphorePermit>,
    ended: bool,
    /// The count that it is in, since nobody waits for it any more.
    given_up: Option<Arc<AtomicUsize>>,
}

/// A thread's own end of its stay, let go of when it ends, however it ends.
struct Leaving {
    stay: Arc<Mutex<Stay>>,
    _ended: oneshot::Sender<()>,
}

impl Drop for Leaving {
    fn drop(&mut self) {
        let mut stay = self.stay.lock();
        stay.ended = true;
        if let Some(unstopped) = stay.given_up.take() {
            unstopped.fetch_sub(1, Ordering::AcqRel);
        }
        // Last: who has all permits knows that no thread is there, nor counted.
        stay.permit = None;
    }
}

/// A run's eye on its thread. One whose program is not over when nobody looks any more is counted, and takes itself off the
/// count when it ends.
struct Watch<'a> {
    unstopped: &'a Arc<AtomicUsize>,
    stay: Arc<Mutex<Stay>>,
    over: bool,
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        let mut stay = self.stay.lock();
        if !self.over && !stay.ended {
            self.unstopped.fetch_add(1, Ordering::AcqRel);
            stay.given_up = Some(Arc::clone(self.unstopped));
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
        attention: Attention::default(),
        done: false,
    };
    (link, ThreadPort { from_host, to_host, backlog, brake })
}

struct ThreadLink {
    to_engine: Sender<ToEngine>,
    from_engine: UnboundedReceiver<FromEngine>,
    backlog: Arc<AtomicUsize>,
    brake: Brake,
    /// The engine has usually something to say soon after it was given something.
    attention: Attention,
    /// Whether the program was over by itself.
    done: bool,
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
        self.attention.raise();
        self.backlog.fetch_add(load(&message), Ordering::AcqRel);
        // An engine that is gone needs no message.
        let _gone = self.to_engine.send(message);
    }

    fn backlog(&self) -> usize {
        self.backlog.load(Ordering::Acquire)
    }

    async fn receive(&mut self) -> Result<FromEngine, Failure> {
        let message = poll_fn(|cx| {
            let looked = self.from_engine.poll_recv(cx);
            if looked.is_pending() && self.attention.lasts() {
                // Whatever else this task is for goes on between two looks.
                cx.waker().wake_by_ref();
            }
            looked
        });
        let message = message.await;
        self.done = matches!(message, Some(FromEngine::Done { .. }));
        message.ok_or_else(|| {
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
            let mut attention = Attention::raised();
            loop {
                match self.from_host.try_recv() {
                    Ok(message) => return Ok(Some(message)),
                    Err(TryRecvError::Empty) if attention.lasts() => {}
                    Err(TryRecvError::Empty) => break,
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
