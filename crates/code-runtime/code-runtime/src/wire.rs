//! What an engine and its host say to each other: a handful of messages, the same in this process and across a pipe.
//!
//! ```text
//! host                                   engine
//!   Run(job)            ───────────────→            first, exactly once
//!                       ←───────────────  Call { id, namespace, name, args }
//!                       ←───────────────  Log { text }
//!   Reply { id, … }     ───────────────→            at most once for an id, in any order
//!   Cancel              ───────────────→            what the engine says from now on does not count
//!                       ←───────────────  Done { … }  last, exactly once
//! ```
//!
//! The engine's half speaks through a [`Port`], which blocks: an engine has a thread or a process to itself. The
//! host's half is [`drive`](crate::drive), which speaks through a [`Link`], which does not. A place where programs run is
//! a pair of the two: two channels for a thread, a frame protocol over a pipe for a worker.
//!
//! As a frame a message is one JSON text: [`ToEngine::encode`] and [`FromEngine::encode`] write it, `decode` reads it. The
//! host treats whatever arrives as forged (spec 06 §8.12): a message is rebuilt field by field, and what has not
//! exactly the shape below is no message. Frames carry their length before them; the bound on it is the transport's.
//!
//! | frame | fields |
//! |---|---|
//! | `run` | `program`, `namespaces: [{global, functions: [name], errorClass?: {name, memberNameProperty}}]`, `limits` ([`Limits`]'s names) |
//! | `reply` | `id`, and `value` or `message` |
//! | `cancel` | – |
//! | `call` | `id`, `namespace`, `name`, `args` |
//! | `log` | `text` |
//! | `done` | nothing, or `value`, or `error: {kind, message}`; and `used?: {busyMs, peakMemoryBytes, replies}` |

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dsh_json::Json;

use crate::{Failure, Limits, Namespace, Used};

mod codec;

/// What a host tells an engine.
#[derive(Debug, Clone, PartialEq)]
pub enum ToEngine {
    /// Start this. First, exactly once.
    Run(Job),
    /// What a call came to: its value, or the message of the error that the program gets.
    Reply {
        /// The call's own id.
        id: u64,
        /// The value, or the message.
        answer: Result<Json, String>,
    },
    /// Stop: the host has an outcome already.
    Cancel,
}

/// What an engine tells its host.
#[derive(Debug, Clone, PartialEq)]
pub enum FromEngine {
    /// The program called a host function.
    Call(Call),
    /// The program printed an entry.
    Log {
        /// The entry.
        text: String,
    },
    /// The program is over. Last, exactly once.
    Done {
        /// The completion value, `None` when it returned nothing; or why there is none.
        result: Result<Option<Json>, Failure>,
        /// What it used, if the engine can tell.
        used: Option<Used>,
    },
}

/// One use of a host function by a program.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Counts the program's calls, from 1.
    pub id: u64,
    /// The namespace's global name.
    pub namespace: Arc<str>,
    /// The function's name in its namespace.
    pub name: Arc<str>,
    /// The arguments: one value.
    pub args: Json,
}

/// What an engine needs to run one program.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// The program, as the model wrote it.
    pub program: Arc<str>,
    /// What the program may call.
    pub namespaces: Vec<Namespace>,
    /// What it may use. The wall clock is the host's to watch, the rest is the engine's, and the host counts again.
    pub limits: Limits,
}

/// The other side is gone. Nothing can be said any more, so the run is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the host of this run is gone")]
pub struct Gone;

/// An engine's way to its host. It blocks, and belongs to the engine's thread.
pub trait Port {
    /// Hands over one message, in order.
    ///
    /// # Errors
    /// [`Gone`] when the host is.
    fn send(&mut self, message: FromEngine) -> Result<(), Gone>;

    /// Takes the next message; `None` when `patience` (forever, if there is none) passed without one.
    ///
    /// # Errors
    /// [`Gone`] when the host is, and no message is left.
    fn receive(&mut self, patience: Option<Duration>) -> Result<Option<ToEngine>, Gone>;

    /// Raised from outside when the engine shall stop at once. An engine looks at it while it is busy, and need not
    /// answer any more. A worker that its owner kills returns one that is never raised.
    fn brake(&self) -> Brake;
}

/// A request to stop that a busy engine can look at from its own thread.
#[derive(Debug, Clone, Default)]
pub struct Brake(Arc<AtomicBool>);

impl Brake {
    /// Asks for the stop; asking again changes nothing.
    pub fn pull(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether a stop was asked for.
    pub fn is_pulled(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// A host's way to an engine.
pub trait Link: Send {
    /// Queues one message, in order, without waiting. To an engine that is gone it is lost, rightly.
    fn send(&mut self, message: ToEngine);

    /// What the replies weigh that were sent and that the engine has not taken yet, about.
    fn backlog(&self) -> usize;

    /// The next message. Dropping the future loses none.
    ///
    /// # Errors
    /// When the engine is gone without a `Done`: what that means for the run, with the exit status if there was a
    /// process (`worker-exit`, `memory-limit`, `unavailable`). Everything that it sent before has been received by then.
    fn receive(&mut self) -> impl Future<Output = Result<FromEngine, Failure>> + Send;
}
