//! Running a program that a model wrote: the contract between who runs it and who answers its calls.
//!
//! A program is the body of an async function. It calls host functions, prints, and returns a value; what comes of it is
//! always an [`Outcome`] (spec 06 §7), and never an error of ours.
//!
//! ```text
//! consumer                provider                                    engine, in a thread or a worker
//!   CodeRuntime::run ──→    admit · drive  ←── Link ═══ Port ──→       the program
//!   Host::call       ←──    calls, ledger, wall clock, cancellation    values, timers, busy time, memory
//! ```
//!
//! - [`CodeRuntime`] is what consumers use, [`Host`] what they supply.
//! - [`wire`] is what engine and host say to each other; [`drive`] is the host's half, the same for every engine.
//! - [`Ledger`] bounds the output to the byte, [`CallMeter`] the calls, [`check_names`] what programs may be offered; a
//!   [`Receipt`] says what a run used;
//!   [`lossless`] has the words for values that do not cross.
//! - `contract` (feature `contract-tests`) is what every provider has to pass.
//!
//! Nothing here knows a language or an engine, does I/O, or spawns.

mod calls;
#[cfg(feature = "contract-tests")]
pub mod contract;
mod drive;
mod failure;
mod ledger;
mod limits;
pub mod lossless;
mod names;
mod receipt;
mod runtime;
pub mod wire;

pub use calls::{CallEnd, CallMeter, CallRecord, unfinished};
pub use drive::{Terms, drive};
pub use failure::{Failure, FailureKind};
pub use ledger::{Entry, Ledger, Meter, json_bytes, string_bytes};
pub use limits::Limits;
pub use names::{NameError, check_names};
pub use receipt::{Receipt, Stopwatch, Used};
pub use runtime::{
    BindingSchemas, BoxFuture, CodeRuntime, ErrorClass, Host, Isolation, Misuse, Namespace, Outcome, Request,
};
