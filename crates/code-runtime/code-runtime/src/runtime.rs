//! The contract: a program, what it may call, and what it came to.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use dsh_json::Json;
use dsh_json_schema::Schema;
use dsh_lifecycle::Cancel;
use thiserror::Error;

use crate::wire::Call;
use crate::{CallRecord, Failure, NameError, Receipt};

/// Runs programs of one language in one place (spec 06 §7).
#[async_trait]
pub trait CodeRuntime: Send + Sync {
    /// The language's name, a lowercase identifier: `typescript`, `python`.
    fn language(&self) -> &str;

    /// Where programs run. A label, not a promise.
    fn isolation(&self) -> Isolation;

    /// Looks at a program without running it: whether it is one, and, as far as the provider can see, whether its calls
    /// can work with these schemas (spec 06 §14.17). A provider that can't tell says nothing. It is quick, linear in the
    /// program's length, and does no I/O.
    ///
    /// # Errors
    /// `syntax` or `check`, with line, column and excerpt. Nothing ran.
    fn check(&self, _program: &str, _namespaces: &[&dyn BindingSchemas]) -> Result<(), Failure> {
        Ok(())
    }

    /// Runs one program in a fresh world, as the body of an async function in strict mode (spec 06 §7.5).
    ///
    /// Whatever the program does is an [`Outcome`]. When the program is over, for whatever reason, `request.cancel` is
    /// cancelled as settled and the calls that still run are awaited; only then this returns. A cancellation stops the
    /// program and gives the outcome `abort`; so does dropping the future, without an outcome.
    ///
    /// # Errors
    /// [`Misuse`], before anything starts.
    async fn run(&self, request: Request, host: &dyn Host) -> Result<Outcome, Misuse>;

    /// Ends the runtime: programs that run fail as `abort`, later runs are refused, and all that ran has stopped
    /// when this returns.
    async fn close(&self);
}

/// What runs of programs are given to call.
pub trait Host: Send + Sync {
    /// Answers one call: with a value, or with the message of the error that the program catches.
    ///
    /// Calls are made in the program's order, and the futures are polled together. When the program is over, the request's
    /// cancellation says so and the futures are awaited, so a call that ignores it holds the run open.
    fn call(&self, call: Call) -> BoxFuture<'_, Result<Json, String>>;

    /// Hears each entry that the program prints, when it prints it. The outcome has them all.
    fn logged(&self, _entry: &str) {}

    /// How much of the time so far does not count against the wall clock, because a person was being asked.
    fn excused(&self) -> Duration {
        Duration::ZERO
    }
}

/// A future that is boxed, since the trait that gives it is used as an object.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// One program to run.
#[derive(Debug, Clone)]
pub struct Request {
    /// The source text, unchanged.
    pub program: Arc<str>,
    /// What it may call.
    pub namespaces: Vec<Namespace>,
    /// The run's own cancellation: give a child of the caller's. It is cancelled when the program is over.
    pub cancel: Cancel,
}

/// Host functions under one global name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Namespace {
    /// The global's name.
    pub global: Arc<str>,
    /// The functions' names: any text, each once.
    pub functions: Vec<Arc<str>>,
    /// How calls fail. Without it they fail with a plain `Error`.
    pub error_class: Option<ErrorClass>,
}

/// The class of the errors that failed calls of a namespace are (spec 06 §7.8).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorClass {
    /// The class's global name.
    pub name: Arc<str>,
    /// The property that holds the called function's name.
    pub member_name_property: Arc<str>,
}

/// What a check may know of one namespace. It is looked up and not copied, so that thousands of functions cost nothing.
pub trait BindingSchemas: Sync {
    /// The namespace's global name.
    fn namespace(&self) -> &str;

    /// What a function's argument must be; `None` when the namespace has no function of this name.
    fn parameters(&self, name: &str) -> Option<&Schema>;

    /// The functions' names. Asked for when a program calls one that there is not.
    fn names(&self) -> Vec<&str>;
}

/// What a run came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// What the program printed, in order.
    pub logs: Vec<String>,
    /// The completion value, `None` when it returned nothing; or why there is none.
    pub result: Result<Option<Json>, Failure>,
    /// Every call that the program made, in order.
    pub calls: Vec<CallRecord>,
    /// What it used.
    pub receipt: Receipt,
}

/// Where programs run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Isolation {
    /// A thread of this process. What the engine can't interrupt is stopped late, or not.
    Thread,
    /// A process of its own, that is killed.
    Process,
    /// A container.
    Container,
}

/// A caller's mistake. No program can cause one.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Misuse {
    /// The namespaces can't be offered to programs.
    #[error(transparent)]
    Names(#[from] NameError),
    /// The runtime was closed.
    #[error("the code runtime is closed: mount another")]
    Closed,
}

impl Isolation {
    /// The label, as configuration spells it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Thread => "thread",
            Self::Process => "process",
            Self::Container => "container",
        }
    }
}

impl fmt::Display for Isolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
