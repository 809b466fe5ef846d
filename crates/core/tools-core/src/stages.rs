//! A call between the stages of `pipeline.rs`: each stage takes one of these and makes the next.

use std::sync::Arc;

use dsh_lifecycle::contain;

use crate::call::Call;
use crate::view::View;
use crate::{Execution, ToolResult};

/// A call after [`Tools::prepare`](crate::Tools::prepare).
#[must_use = "a call that was begun owes a result"]
pub enum Prepared {
    /// It may run.
    Ready(Ready),
    /// It has its result already.
    Settled(Settled),
}

/// A call that may run, once it is approved if it has to be.
#[must_use = "a call that was begun owes a result"]
pub struct Ready {
    pub(crate) call: Call,
    pub(crate) question: Option<Question>,
}

impl Ready {
    /// Whether somebody is asked first.
    pub fn asks(&self) -> bool {
        self.question.is_some()
    }
}

/// A person is asked before the call runs, for this reason.
pub(crate) struct Question {
    pub(crate) reason: Option<Arc<str>>,
}

/// A call with a result that nobody has seen: `post-execute` and what follows are still owed.
#[must_use = "a call that was begun owes a result"]
pub struct Settled {
    pub(crate) call: Call,
    pub(crate) result: ToolResult,
    pub(crate) post: bool,
}

/// A call with its final result. Whoever keeps a log appends the result first, and then publishes.
#[must_use = "observers have not been told"]
#[derive(Debug)]
pub struct Finished {
    pub(crate) execution: Arc<Execution>,
    pub(crate) result: Arc<ToolResult>,
    pub(crate) view: Arc<View>,
}

impl Finished {
    /// The call.
    pub fn execution(&self) -> &Arc<Execution> {
        &self.execution
    }

    /// Its final result.
    pub fn result(&self) -> &Arc<ToolResult> {
        &self.result
    }

    /// Tells the observers, once, and returns the result. One that panics is reported and stops nobody.
    pub fn publish(self) -> Arc<ToolResult> {
        for observer in &self.view.observers {
            if let Err(panic) = contain(|| observer.result(&self.execution, &self.result)) {
                tracing::warn!(tool = &*self.execution.name, %panic, "an observer of results panicked");
            }
        }
        self.result
    }
}
