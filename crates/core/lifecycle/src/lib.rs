//! What has a beginning and an end: cancellations, registrations, services, time and names.
//!
//! Five small things that every other room builds on, and nothing else:
//!
//! - [`Cancel`]: a cancellation with a cause. A child hears its parent, a parent never hears its child.
//! - [`Registration`] and [`Registrations`]: what was added is taken away again by dropping the value.
//! - [`contain`]: a panic of code that is not ours becomes a value.
//! - [`Slot`]: a service that may be absent or change, looked up when it is used.
//! - [`Clock`] and [`Ids`]: time and fresh names come in as values, so that the same input gives the same bytes.
//!
//! There is no runtime, no I/O and no global state here.
//!
//! ```
//! use dsh_lifecycle::{Cancel, Cause};
//!
//! let turn = Cancel::new();
//! let deadline = turn.child();
//! deadline.cancel(Cause::Deadline);
//! assert!(!turn.is_cancelled());
//!
//! turn.cancel(Cause::User);
//! assert_eq!(turn.child().cause(), Some(Cause::User));
//! ```

mod cancel;
mod clock;
mod contain;
mod registration;
mod slot;

pub use cancel::{Cancel, Cause};
pub use clock::{Clock, Ids, SeededIds, SteppingClock};
pub use contain::{Panic, contain, contain_async};
pub use registration::{Registration, Registrations};
pub use slot::{AlreadyProvided, Slot};
