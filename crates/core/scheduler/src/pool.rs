//! What runs: the bodies, the side work, and the outputs that wait for their turn.

use std::any::Any;
use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use futures_util::stream::{FuturesUnordered, StreamExt};

use crate::Started;

/// Bodies and side work in flight. Whoever waits for anything waits through one of its methods, because a body only
/// moves when it is polled.
pub(crate) struct Pool<Body: Future, Side, Error> {
    bodies: FuturesUnordered<Numbered<Body>>,
    side: FuturesUnordered<Side>,
    /// The outputs of started and uncommitted calls, oldest first.
    slots: VecDeque<Option<Body::Output>>,
    /// The number of the call in the first slot.
    first: usize,
    error: Option<Error>,
    panic: Option<Payload>,
}

/// What a panic left behind.
pub(crate) type Payload = Box<dyn Any + Send>;

impl<Body, Side, Error> Pool<Body, Side, Error>
where
    Body: Future + Unpin,
    Side: Future<Output = Result<(), Error>> + Unpin,
{
    pub(crate) fn new() -> Self {
        Self {
            bodies: FuturesUnordered::new(),
            side: FuturesUnordered::new(),
            slots: VecDeque::new(),
            first: 0,
            error: None,
            panic: None,
        }
    }

    /// How many bodies have not settled.
    pub(crate) fn running(&self) -> usize {
        self.bodies.len()
    }

    /// Takes a started call in. Its body is polled once right here, so that it has begun before the next one starts;
    /// what it leaves behind is seen at the next wait at the earliest.
    pub(crate) async fn admit(&mut self, started: Started<Body, Body::Output>) {
        let number = self.first + self.slots.len();
        match started {
            Started::Settled(output) => self.slots.push_back(Some(output)),
            Started::Running(mut body) => {
                let state = match poll_fn(|cx| Poll::Ready(guarded(&mut body, cx))).await {
                    Poll::Ready(ended) => State::Settled(Some(ended)),
                    Poll::Pending => State::Running(body),
                };
                self.bodies.push(Numbered { number, state });
                self.slots.push_back(None);
            }
        }
    }

    pub(crate) fn add_side(&mut self, side: Side) {
        self.side.push(side);
    }

    /// The output of the oldest uncommitted call, if it is there.
    pub(crate) fn take_head(&mut self) -> Option<Body::Output> {
        let output = self.slots.front_mut()?.take()?;
        self.slots.pop_front();
        self.first += 1;
        Some(output)
    }

    /// The first error of side work so far.
    pub(crate) fn take_error(&mut self) -> Option<Error> {
        self.error.take()
    }

    /// The first panic of a body or of side work so far.
    pub(crate) fn take_panic(&mut self) -> Option<Payload> {
        self.panic.take()
    }

    fn panicked(&mut self, panic: Payload) {
        self.panic.get_or_insert(panic);
    }

    /// Waits for an ordered stage while everything else goes on.
    pub(crate) async fn meanwhile<T>(&mut self, stage: impl Future<Output = T>) -> T {
        let mut stage = pin!(stage);
        poll_fn(|cx| {
            let ready = stage.as_mut().poll(cx);
            if ready.is_pending() {
                while self.poll_one(cx) {}
            }
            ready
        })
        .await
    }

    /// Waits until no more than `limit` pieces of side work are unfinished.
    pub(crate) async fn side_at_most(&mut self, limit: usize) {
        self.until(|pool| pool.side.len() <= limit).await;
    }

    /// Waits until nothing runs.
    pub(crate) async fn drain(&mut self) {
        self.until(|pool| pool.bodies.is_empty() && pool.side.is_empty()).await;
    }

    async fn until(&mut self, done: impl Fn(&Self) -> bool) {
        poll_fn(|cx| {
            while !done(self) {
                if !self.poll_one(cx) {
                    return Poll::Pending;
                }
            }
            Poll::Ready(())
        })
        .await;
    }

    /// Lets everything in flight move until one body or one piece of side work has settled. False: none did.
    pub(crate) fn poll_one(&mut self, cx: &mut Context<'_>) -> bool {
        if let Poll::Ready(Some((number, ended))) = self.bodies.poll_next_unpin(cx) {
            match ended {
                Ok(output) => {
                    if let Some(slot) = self.slots.get_mut(number - self.first) {
                        *slot = Some(output);
                    }
                }
                Err(panic) => self.panicked(panic),
            }
            return true;
        }
        match catch_unwind(AssertUnwindSafe(|| self.side.poll_next_unpin(cx))) {
            Ok(Poll::Ready(Some(Ok(())))) => true,
            Ok(Poll::Ready(Some(Err(error)))) => {
                self.error.get_or_insert(error);
                true
            }
            Ok(Poll::Ready(None) | Poll::Pending) => false,
            Err(panic) => {
                self.panicked(panic);
                true
            }
        }
    }
}

/// A body that knows which slot its output belongs to. A panic of it is an output like any other here, so that it
/// cuts no ordered stage short.
struct Numbered<Body: Future> {
    number: usize,
    state: State<Body>,
}

type Ended<Body> = Result<<Body as Future>::Output, Payload>;

enum State<Body: Future> {
    Running(Body),
    Settled(Option<Ended<Body>>),
}

// The output is moved out whole and never pinned.
impl<Body: Future + Unpin> Unpin for Numbered<Body> {}

impl<Body: Future + Unpin> Future for Numbered<Body> {
    type Output = (usize, Ended<Body>);

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let number = self.number;
        let ended = match &mut self.state {
            State::Running(body) => guarded(body, cx),
            State::Settled(ended) => ended.take().map_or(Poll::Pending, Poll::Ready),
        };
        ended.map(|ended| (number, ended))
    }
}

fn guarded<Body: Future + Unpin>(body: &mut Body, cx: &mut Context<'_>) -> Poll<Ended<Body>> {
    match catch_unwind(AssertUnwindSafe(|| Pin::new(body).poll(cx))) {
        Ok(Poll::Ready(output)) => Poll::Ready(Ok(output)),
        Ok(Poll::Pending) => Poll::Pending,
        Err(panic) => Poll::Ready(Err(panic)),
    }
}
