//! One worker in its owner's hands.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::task::Poll;

use dsh_confinement::{Level, Limits};
use tokio::io::Interest;
use tokio::net::unix::pipe::Receiver;
use tokio::time::{Duration, timeout};

use crate::attention::Attention;
use crate::budget::{BudgetWatch, Budgets};
use crate::frame::{Fault, Inbox, Kind, write};
use crate::keeper::Started;
use crate::process::Leash;
use crate::stray::Collector;
use crate::{Ended, WorkerError, WorkerSpec};

/// A child process that waits for its first frame, and is used once.
///
/// Dropping it kills the process, which its keeper reaps. Whoever wants to know how it ended calls [`kill`](Self::kill).
/// All futures may be dropped at any time: what was queued stays queued, what has arrived stays there.
pub struct Worker {
    leash: Leash,
    level: Level,
    channel: UnixStream,
    inbox: Inbox,
    /// What was queued and not written yet. A pipe takes it in small parts, so that its front must go at no cost.
    outbox: VecDeque<u8>,
    /// Whether the worker still reads.
    hears: bool,
    stray: Collector,
    /// A worker has usually something to say soon after it was told something.
    attention: Attention,
    ended: Option<Ended>,
    limits: Limits,
    max_frame_bytes: usize,
    max_queued_bytes: usize,
}

/// How long a worker that has let go of its channel may take to end by itself.
const LEAVE: Duration = Duration::from_millis(100);

impl Worker {
    pub(crate) fn new(started: Started, spec: &WorkerSpec) -> Result<Self, WorkerError> {
        let Started { leash, channel, inbox, stray, level } = started;
        let unavailable = |error: io::Error| WorkerError::Unavailable(format!("its pipes: {error}"));
        channel.set_nonblocking(true).map_err(unavailable)?;
        Ok(Self {
            leash,
            level,
            channel,
            inbox,
            outbox: VecDeque::new(),
            hears: true,
            stray: Collector::new(
                Receiver::from_owned_fd(stray.into()).map_err(unavailable)?,
                spec.max_stray_bytes,
            ),
            attention: Attention::default(),
            ended: None,
            limits: spec.limits,
            max_frame_bytes: spec.max_frame_bytes,
            max_queued_bytes: spec.max_queued_bytes,
        })
    }

    /// How far it is confined.
    pub fn level(&self) -> &Level {
        &self.level
    }

    /// The number of its process.
    pub fn id(&self) -> u32 {
        self.leash.0.id()
    }

    /// Watches its time from now on.
    pub fn watch(&self, budgets: Budgets) -> BudgetWatch {
        BudgetWatch::new(std::sync::Arc::clone(&self.leash.0), budgets)
    }

    /// Queues a frame without waiting; it is written while [`recv`](Self::recv) or [`send`](Self::send) is awaited, and not before. For
    /// a worker that is gone it is lost: `recv` says so.
    ///
    /// # Errors
    /// [`WorkerError::TooLargeToSend`], [`WorkerError::QueueFull`]. The worker lives, and nothing was queued.
    pub fn queue(&mut self, payload: &[u8]) -> Result<(), WorkerError> {
        if self.outbox.len().saturating_add(payload.len()) > self.max_queued_bytes {
            return Err(WorkerError::QueueFull { limit: self.max_queued_bytes });
        }
        if !self.hears {
            return Ok(());
        }
        self.attention.raise();
        write(&mut self.outbox, Kind::Message, payload, self.max_frame_bytes)
            .map_err(|large| WorkerError::TooLargeToSend { bytes: large.bytes, limit: large.limit })
    }

    /// Sends a frame, after what is queued: waits until the worker's pipe has taken all of it. What arrives meanwhile is
    /// kept for [`recv`](Self::recv).
    ///
    /// # Errors
    /// As [`queue`](Self::queue).
    pub async fn send(&mut self, payload: &[u8]) -> Result<(), WorkerError> {
        self.queue(payload)?;
        self.write_out();
        while !self.outbox.is_empty() && self.exchange().await {}
        Ok(())
    }

    /// The next frame. Nothing is read of a worker whose owner does not ask, so that a worker that says much waits.
    ///
    /// # Errors
    /// [`WorkerError::Ended`] after the last whole frame of a worker that is gone; again and again.
    /// [`WorkerError::FrameTooLarge`] and [`WorkerError::NotAFrame`]: then it was killed.
    pub async fn recv(&mut self) -> Result<Vec<u8>, WorkerError> {
        loop {
            if let Some(ended) = &self.ended {
                return Err(WorkerError::Ended(Box::new(ended.clone())));
            }
            let fault = match self.inbox.take(self.max_frame_bytes) {
                Ok(Some((Kind::Message, payload))) => return Ok(payload),
                Ok(None) => {
                    if !self.exchange().await {
                        // It ends by itself, or not at all: its exit says which.
                        let _ = timeout(LEAVE, self.leash.0.gone()).await;
                        self.end().await;
                    }
                    continue;
                }
                Ok(Some((Kind::Greeting, _))) | Err(Fault::Malformed) => WorkerError::NotAFrame,
                Err(Fault::TooLarge { bytes, limit }) => WorkerError::FrameTooLarge { bytes, limit },
            };
            self.end().await;
            return Err(fault);
        }
    }

    /// How much is queued and was not written yet.
    pub fn queued_bytes(&self) -> usize {
        self.outbox.len()
    }

    /// Kills the process and does not wait. What it has sent before can still be received; then `recv` says how it ended.
    pub fn stop(&self) {
        self.leash.0.kill();
    }

    /// Kills the process and waits until it is reaped.
    pub async fn kill(mut self) -> Ended {
        self.end().await
    }

    async fn end(&mut self) -> Ended {
        if let Some(ended) = &self.ended {
            return ended.clone();
        }
        self.leash.0.kill();
        let exit = self.leash.0.gone().await;
        let ended = Ended::new(exit, self.stray.finish(), &self.limits);
        self.ended = Some(ended.clone());
        ended
    }

    /// Writes and reads as far as the worker lets it, waiting until there is one thing to do; whether there can be more to
    /// read.
    async fn exchange(&mut self) -> bool {
        self.write_out();
        // What is there already and too long is a frame that nobody has taken, so more is not read.
        let reads = self.inbox.len() <= self.max_frame_bytes;
        let wants = match (reads, self.outbox.is_empty()) {
            (true, true) => Interest::READABLE,
            (true, false) => Interest::READABLE | Interest::WRITABLE,
            (false, false) => Interest::WRITABLE,
            (false, true) => return true,
        };
        if reads && let Some(more) = self.look().await {
            return more;
        }
        // The runtime knows of the channel only while somebody sleeps: else it would be woken for what was seen already.
        let channel = self.channel.try_clone().and_then(tokio::net::UnixStream::from_std);
        let Ok(channel) = channel else { return false };
        tokio::select! {
            ready = channel.ready(wants) => ready.is_ok(),
            () = self.stray.collect() => true,
        }
    }

    /// Writes what is queued, without waiting.
    fn write_out(&mut self) {
        while !self.outbox.is_empty() {
            match self.channel.write(self.outbox.as_slices().0) {
                Ok(written) => drop(self.outbox.drain(..written)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => {
                    self.hears = false;
                    self.outbox.clear();
                }
            }
        }
    }

    /// Reads what is there, looking for it again while [`Attention`] lasts; whether there can be more, or `None` when there
    /// was nothing.
    async fn look(&mut self) -> Option<bool> {
        poll_fn(|cx| match self.inbox.fill(|room| self.channel.read(room)) {
            Ok(read) => Poll::Ready(Some(read > 0)),
            Err(error) if !passes(&error) => Poll::Ready(Some(false)),
            // With something to write it may be the worker that waits.
            Err(_) if self.outbox.is_empty() && self.attention.lasts() => {
                // Whatever else this task is for goes on between two looks.
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            Err(_) => Poll::Ready(None),
        })
        .await
    }
}

/// Whether an error says no more than "later".
fn passes(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}
