//! One queue of calls, and the turns that they become.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use dsh_agent::{Agent, ArrivingCall, CallOrigin, RequestedCall, TurnError, TurnRunner};
use dsh_lifecycle::{Cancel, Cause, Ids, contain_async};
use dsh_llm::ErrorFacts;
use dsh_session::{ToolResult as Logged, TurnEndReason};
use dsh_tools_core::ToolError;
use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, Stream, StreamExt};
use tokio::sync::{mpsc, oneshot};

use crate::message::Call;
use crate::seat::{NoPlace, Places, Reply, Seat, Watched};
use crate::{McpServerConfig, words};

/// Where calls are left, in the order in which they are to start.
pub(crate) struct Desk {
    queue: mpsc::UnboundedSender<Queued>,
    places: Places,
    watched: Arc<Watched>,
    ids: Arc<dyn Ids>,
    limit: usize,
}

/// A call that no turn has taken yet. The queue has no bound of its own, since places have.
pub(crate) struct Queued {
    call: RequestedCall,
    cancel: Cancel,
    reply: oneshot::Sender<Result<Reply, ToolError>>,
}

impl Desk {
    pub(crate) fn new(
        watched: Arc<Watched>,
        ids: Arc<dyn Ids>,
        config: &McpServerConfig,
    ) -> (Self, mpsc::UnboundedReceiver<Queued>) {
        let (queue, calls) = mpsc::unbounded_channel();
        let limit = config.max_calls_in_flight.get();
        (Self { queue, places: Places::default(), watched, ids, limit }, calls)
    }

    /// Leaves a call.
    pub(crate) fn leave(&self, call: Call) -> Result<Seat, NoPlace> {
        let place = self.places.take(&call.id, self.limit)?;
        let (cancel, (reply, answer), id) = (Cancel::new(), oneshot::channel(), self.ids.fresh());
        let seat =
            Seat { cancel: cancel.clone(), reply: answer, progress: self.watched.open(&id), _place: place };
        let call = RequestedCall { id, name: call.name, arguments: call.arguments };
        if let Err(mpsc::error::SendError(queued)) = self.queue.send(Queued { call, cancel, reply }) {
            queued.refuse(&self.watched);
        }
        Ok(seat)
    }

    pub(crate) fn limit(&self) -> usize {
        self.limit
    }
}

impl Queued {
    fn refuse(self, watched: &Watched) {
        watched.close(&self.call.id);
        // A client that is gone needs no answer.
        let _ = self.reply.send(Err(words::closing()));
    }
}

/// Makes turns of the calls that are left at a desk.
pub(crate) struct Clerk {
    pub(crate) agent: Agent,
    pub(crate) turns: Arc<dyn TurnRunner>,
    pub(crate) watched: Arc<Watched>,
    pub(crate) per_turn: usize,
}

impl Clerk {
    /// Works until `stop` is cancelled; every call that was left is answered then. An `Err` is a log that can't be
    /// written.
    pub(crate) async fn work(
        &self,
        mut queue: mpsc::UnboundedReceiver<Queued>,
        stop: &Cancel,
    ) -> Result<(), TurnError> {
        let mut worked = Ok(());
        while worked.is_ok() {
            let first = tokio::select! {
                biased;
                () = stop.cancelled() => break,
                first = queue.recv() => first,
            };
            let Some(first) = first else { break };
            worked = self.turn(first, &mut queue, stop).await;
        }
        stop.cancel(Cause::Disposed);
        queue.close();
        while let Some(left) = queue.recv().await {
            left.refuse(&self.watched);
        }
        worked
    }

    async fn turn(
        &self,
        first: Queued,
        queue: &mut mpsc::UnboundedReceiver<Queued>,
        stop: &Cancel,
    ) -> Result<(), TurnError> {
        let calls = Arrivals {
            first: Some(first),
            queue,
            left: self.per_turn,
            open: FuturesUnordered::new(),
            replies: HashMap::new(),
            watched: &self.watched,
        };
        let origin = CallOrigin { origin: words::ORIGIN.into(), note: words::NOTE.into() };
        match contain_async(self.turns.run_arriving(&self.agent, origin, calls.boxed(), stop)).await {
            Ok(ended) => ended.map(drop),
            Err(panic) => {
                tracing::error!(%panic, "a turn was stopped by an internal error");
                let error = ErrorFacts::new("PANICKED", "the turn was stopped by an internal error");
                self.agent.session().close_open(TurnEndReason::Error { error })?;
                self.agent.session().flush().await.map_err(TurnError::Flush)
            }
        }
    }
}

/// The calls of one turn: the first, and those that come while one is open. It ends when none is.
struct Arrivals<'a> {
    first: Option<Queued>,
    queue: &'a mut mpsc::UnboundedReceiver<Queued>,
    /// How many more the turn takes.
    left: usize,
    open: FuturesUnordered<BoxFuture<'static, (Arc<str>, Option<Logged>)>>,
    replies: HashMap<Arc<str>, oneshot::Sender<Result<Reply, ToolError>>>,
    watched: &'a Watched,
}

impl Arrivals<'_> {
    fn next_queued(&mut self, cx: &mut Context<'_>) -> Option<Queued> {
        if self.left == 0 {
            return None;
        }
        let next = self.first.take().or_else(|| match self.queue.poll_recv(cx) {
            Poll::Ready(next) => next,
            Poll::Pending => None,
        })?;
        self.left -= 1;
        Some(next)
    }

    fn begin(&mut self, Queued { call, cancel, reply }: Queued) -> ArrivingCall {
        let (settle, settled) = oneshot::channel();
        let id = Arc::clone(&call.id);
        self.replies.insert(Arc::clone(&id), reply);
        self.open.push(Box::pin(async move { (id, settled.await.ok()) }));
        ArrivingCall { call, cancel, settled: settle }
    }

    fn settle(&mut self, id: &Arc<str>, logged: Option<Logged>) {
        let published = self.watched.close(id);
        let Some(reply) = self.replies.remove(id) else { return };
        // A client that is gone needs no answer; a result that is lost is told by the lost reply.
        if let Some(logged) = logged {
            let _ = reply.send(Ok(Reply { logged, published }));
        }
    }
}

impl Stream for Arrivals<'_> {
    type Item = ArrivingCall;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<ArrivingCall>> {
        while let Poll::Ready(Some((id, logged))) = self.open.poll_next_unpin(cx) {
            self.settle(&id, logged);
        }
        if let Some(next) = self.next_queued(cx) {
            return Poll::Ready(Some(self.begin(next)));
        }
        if self.open.is_empty() { Poll::Ready(None) } else { Poll::Pending }
    }
}

impl Drop for Arrivals<'_> {
    fn drop(&mut self) {
        // What the turn answered after it was asked for the last time: a stopped one asks no more.
        let mut cx = Context::from_waker(std::task::Waker::noop());
        while let Poll::Ready(Some((id, logged))) = self.open.poll_next_unpin(&mut cx) {
            self.settle(&id, logged);
        }
        let open: Vec<_> = self.replies.keys().cloned().collect();
        for id in open {
            self.settle(&id, None);
        }
        if let Some(first) = self.first.take() {
            first.refuse(self.watched);
        }
    }
}
