//! From the program to the lane: a call becomes a submission, and waits for its answer.

use std::sync::Arc;
use std::time::Duration;

use dsh_code_runtime::wire::Call;
use dsh_code_runtime::{BoxFuture, Host};
use dsh_json::Json;
use dsh_lifecycle::Cancel;
use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};

use crate::asking::Asking;
use crate::words;

/// One call on its way to the lane.
pub(crate) struct Submission {
    pub(crate) id: u64,
    pub(crate) name: Arc<str>,
    pub(crate) arguments: Json,
    pub(crate) answer: oneshot::Sender<Result<Json, String>>,
}

/// The program's side of the lane. How many calls may wait is bounded by the runtime, which counts them.
pub(crate) struct Submissions<'a> {
    over: Cancel,
    asking: &'a Asking,
    /// Gone when the program is over, so that the lane's source ends.
    lane: Mutex<Option<mpsc::UnboundedSender<Submission>>>,
}

impl<'a> Submissions<'a> {
    pub(crate) fn new(over: Cancel, asking: &'a Asking) -> (Self, mpsc::UnboundedReceiver<Submission>) {
        let (lane, source) = mpsc::unbounded_channel();
        (Self { over, asking, lane: Mutex::new(Some(lane)) }, source)
    }

    /// No more calls come.
    pub(crate) fn end(&self) {
        self.lane.lock().take();
    }

    fn submit(&self, submission: Submission) -> bool {
        self.lane.lock().as_ref().is_some_and(|lane| lane.send(submission).is_ok())
    }
}

impl Host for Submissions<'_> {
    fn call(&self, call: Call) -> BoxFuture<'_, Result<Json, String>> {
        let Call { id, name, args, .. } = call;
        let (answer, answered) = oneshot::channel();
        // At once, not when the future is first polled: the order of calls is the program's.
        let submission = Submission { id, name: Arc::clone(&name), arguments: args, answer };
        let submitted = !self.over.is_cancelled() && self.submit(submission);
        Box::pin(async move {
            if !submitted {
                return Err(words::abandoned(&name));
            }
            answered.await.unwrap_or_else(|_| Err(words::broken(&name)))
        })
    }

    fn excused(&self) -> Duration {
        self.asking.total()
    }
}
