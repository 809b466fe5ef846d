//! When each call starts, commits or is skipped.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::pin::{Pin, pin};
use std::task::Poll;

use futures_util::FutureExt;
use futures_util::stream::{Fuse, FusedStream, Stream, StreamExt};

use crate::pool::Pool;
use crate::{Limits, Mode, Work};

/// Runs the calls of `source` until it has ended and everything is committed or skipped.
///
/// The first error of an ordered stage or of side work is returned, after everything that runs has settled; what had
/// not started by then is dropped without a trace, and what had started stays uncommitted (spec 02 §A.6). A panic in
/// a stage or in a body goes on to the caller in the same way, after the others have settled.
///
/// Cancellation: [`Work::stopped`] is how work is stopped. Dropping the future drops the bodies in it, wherever they
/// are; whoever drives a lane awaits it.
pub async fn run<W: Work>(
    work: &mut W,
    source: impl Stream<Item = W::Call>,
    limits: Limits,
) -> Result<(), W::Error> {
    let mut source = pin!(source.fuse());
    let mut lane =
        Lane::<W> { limits, pool: Pool::new(), waiting: VecDeque::new(), started: VecDeque::new() };
    let driven = AssertUnwindSafe(lane.drive(work, source.as_mut())).catch_unwind().await;
    lane.pool.drain().await;
    match (driven, lane.pool.take_panic()) {
        (Err(panic), _) | (Ok(_), Some(panic)) => resume_unwind(panic),
        (Ok(outcome), None) => outcome.and(lane.pool.take_error().map_or(Ok(()), Err)),
    }
}

struct Lane<W: Work> {
    limits: Limits,
    pool: Pool<W::Body, W::Side, W::Error>,
    waiting: VecDeque<W::Call>,
    /// Started and uncommitted, oldest first; one for each slot of the pool.
    started: VecDeque<(W::Ticket, Mode)>,
}

/// What the lane does next. There is one order for both of its users: commit before start, start before wait.
enum Step<W: Work> {
    Commit(W::Ticket, W::Output),
    Start(W::Call, Mode),
    Skip(W::Call),
    Wait,
    Done,
}

impl<W: Work> Lane<W> {
    async fn drive<S>(&mut self, work: &mut W, mut source: Pin<&mut Fuse<S>>) -> Result<(), W::Error>
    where
        S: Stream<Item = W::Call>,
    {
        loop {
            self.take_arrivals(source.as_mut());
            if let Some(error) = self.pool.take_error() {
                return Err(error);
            }
            if let Some(panic) = self.pool.take_panic() {
                resume_unwind(panic);
            }
            match self.next(work, source.is_terminated()) {
                Step::Commit(ticket, output) => {
                    if let Some(side) = self.pool.meanwhile(work.commit(ticket, output)).await? {
                        self.pool.add_side(side);
                        self.pool.side_at_most(self.limits.side).await;
                    }
                }
                Step::Start(call, mode) => {
                    let (ticket, started) = self.pool.meanwhile(work.start(call)).await?;
                    self.started.push_back((ticket, mode));
                    self.pool.admit(started).await;
                }
                Step::Skip(call) => self.pool.meanwhile(work.skip(call)).await?,
                Step::Wait => self.change(source.as_mut()).await,
                Step::Done => return Ok(()),
            }
        }
    }

    fn next(&mut self, work: &W, source_ended: bool) -> Step<W> {
        if let Some(output) = self.pool.take_head()
            && let Some((ticket, _)) = self.started.pop_front()
        {
            return Step::Commit(ticket, output);
        }
        let stopped = work.stopped();
        if !stopped && let Some(mode) = self.startable(work) {
            return self.waiting.pop_front().map_or(Step::Wait, |call| Step::Start(call, mode));
        }
        if stopped
            && self.started.is_empty()
            && let Some(call) = self.waiting.pop_front()
        {
            return Step::Skip(call);
        }
        if self.started.is_empty() && self.waiting.is_empty() && source_ended {
            Step::Done
        } else {
            Step::Wait
        }
    }

    /// The mode of the first waiting call, if it may start now.
    fn startable(&self, work: &W) -> Option<Mode> {
        let behind_a_barrier = self.started.back().is_some_and(|(_, mode)| *mode == Mode::Exclusive);
        if behind_a_barrier {
            return None;
        }
        let mode = work.mode(self.waiting.front()?);
        let free = match mode {
            Mode::Exclusive => self.started.is_empty(),
            Mode::Parallel => {
                self.pool.running() < self.limits.running.get()
                    && self.started.len() < self.limits.uncommitted.get()
            }
        };
        free.then_some(mode)
    }

    /// Takes what the source has ready, up to the bound.
    fn take_arrivals<S: Stream<Item = W::Call>>(&mut self, mut source: Pin<&mut Fuse<S>>) {
        while self.has_room()
            && let Some(Some(call)) = source.next().now_or_never()
        {
            self.waiting.push_back(call);
        }
    }

    fn has_room(&self) -> bool {
        self.waiting.len() < self.limits.waiting.get()
    }

    /// Waits until one body or one piece of side work settles, or the source moves.
    async fn change<S: Stream<Item = W::Call>>(&mut self, mut source: Pin<&mut Fuse<S>>) {
        let arrival = poll_fn(|cx| {
            if self.pool.poll_one(cx) {
                return Poll::Ready(None);
            }
            if !self.has_room() || source.is_terminated() {
                return Poll::Pending;
            }
            source.as_mut().poll_next(cx)
        });
        let arrival = arrival.await;
        self.waiting.extend(arrival);
    }
}
