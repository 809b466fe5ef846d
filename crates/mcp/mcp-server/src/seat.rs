//! A call that waits for its answer, and what is told of it meanwhile.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use dsh_lifecycle::{Cancel, Cause};
use dsh_session::ToolResult as Logged;
use dsh_tools_core::{Execution, Observer, ToolError, ToolResult};
use parking_lot::Mutex;
use rmcp::model::RequestId;
use tokio::sync::{oneshot, watch};

/// What came of a call.
#[derive(Debug)]
pub(crate) struct Reply {
    /// What the log has.
    pub(crate) logged: Logged,
    /// What only the result has; a call that never started has none.
    pub(crate) published: Option<Arc<ToolResult>>,
}

/// How many calls of a program are done, and which was the last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    pub(crate) done: u64,
    pub(crate) last: Arc<str>,
}

/// A call of a client. Dropping it stops the call.
pub(crate) struct Seat {
    pub(crate) cancel: Cancel,
    pub(crate) reply: oneshot::Receiver<Result<Reply, ToolError>>,
    pub(crate) progress: watch::Receiver<Progress>,
    /// Its request id is in use as long as it is here.
    pub(crate) _place: Place,
}

impl Drop for Seat {
    fn drop(&mut self) {
        // A call that has its answer does not hear it.
        self.cancel.cancel(Cause::User);
    }
}

/// A request id in use, until it is dropped.
pub(crate) struct Place {
    taken: Arc<Mutex<HashSet<RequestId>>>,
    id: RequestId,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.taken.lock().remove(&self.id);
    }
}

/// Which request ids belong to calls without an answer.
#[derive(Default)]
pub(crate) struct Places(Arc<Mutex<HashSet<RequestId>>>);

/// Why there is no place.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NoPlace {
    InUse,
    Full,
}

impl Places {
    pub(crate) fn take(&self, id: &RequestId, limit: usize) -> Result<Place, NoPlace> {
        let mut taken = self.0.lock();
        if taken.contains(id) {
            return Err(NoPlace::InUse);
        }
        if taken.len() >= limit {
            return Err(NoPlace::Full);
        }
        taken.insert(id.clone());
        Ok(Place { taken: Arc::clone(&self.0), id: id.clone() })
    }
}

/// Keeps what is published of calls until it is asked for, by their ids in the log.
#[derive(Default)]
pub(crate) struct Watched(Mutex<HashMap<Arc<str>, Open>>);

struct Open {
    progress: watch::Sender<Progress>,
    published: Option<Arc<ToolResult>>,
}

impl Watched {
    pub(crate) fn open(&self, call_id: &Arc<str>) -> watch::Receiver<Progress> {
        let (progress, receiver) = watch::channel(Progress::default());
        self.0.lock().insert(Arc::clone(call_id), Open { progress, published: None });
        receiver
    }

    pub(crate) fn close(&self, call_id: &str) -> Option<Arc<ToolResult>> {
        self.0.lock().remove(call_id)?.published
    }
}

impl Observer for Watched {
    fn result(&self, call: &Arc<Execution>, result: &Arc<ToolResult>) {
        let mut open = self.0.lock();
        if call.parent.is_none() {
            if let Some(open) = open.get_mut(&call.call_id) {
                open.published = Some(Arc::clone(result));
            }
        } else if let Some(open) = open.get(&call.root_call_id) {
            open.progress.send_modify(|progress| {
                progress.done += 1;
                progress.last = Arc::clone(&call.name);
            });
        }
    }
}
