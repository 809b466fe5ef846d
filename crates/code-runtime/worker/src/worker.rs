//! One worker in its owner's hands.

use std::collections::VecDeque;
use std::io;

use dsh_confinement::{Level, Limits};
use tokio::io::Interest;
use tokio::net::UnixStream;
use tokio::net::unix::pipe::Receiver;
use tokio::time::{Duration, timeout};

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
            channel: UnixStream::from_std(channel).map_err(unavailable)?,
            inbox,
            outbox: VecDeque::new(),
            hears: true,
            stray: Collector::new(
                Receiver::from_owned_fd(stray.into()).map_err(unavailable)?,
                spec.max_stray_bytes,
            ),
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

    /// Reads and writes as far as the worker lets it, once; whether there can be more to read.
    async fn exchange(&mut self) -> bool {
        let wants = match (self.inbox.len() > self.max_frame_bytes, self.outbox.is_empty()) {
            (false, true) => Interest::READABLE,
            (false, false) => Interest::READABLE | Interest::WRITABLE,
            // What is there already is a frame that nobody has taken, so more is not read.
            (true, _) => Interest::WRITABLE,
        };
        let ready = tokio::select! {
            ready = self.channel.ready(wants) => ready,
            () = self.stray.collect() => return true,
        };
        let Ok(ready) = ready else { return false };
        if ready.is_writable() && !self.outbox.is_empty() {
            match self.channel.try_write(self.outbox.as_slices().0) {
                Ok(written) => drop(self.outbox.drain(..written)),
                Err(error) if passes(&error) => {}
                Err(_) => {
                    self.hears = false;
                    self.outbox.clear();
                }
            }
        }
        if wants.is_readable() && ready.is_readable() {
            match self.inbox.fill(|room| self.channel.try_read(room)) {
                Ok(0) => return false,
                Ok(_) => {}
                Err(error) => return passes(&error),
            }
        }
        true
    }
}

/// Whether an error says no more than "later".
fn passes(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}
