//! Takes authority away from a process that is about to run what nobody trusts, and says how much it took.
//!
//! ```text
//! Confinement::enter   limits       memory, CPU seconds, files of no bytes, no more descriptors, no core dump
//!                      privileges   none to be gained any more
//!                      files        Landlock: no path at all, no TCP port, no signal to others      ┐ Linux
//!                      calls        seccomp: memory, clock, wait, exit, and the one channel         ┘
//!                      → Level      Full, Partial { missing }, None; less than demanded is an error
//! ```
//!
//! A process confines itself, while it has one thread: what is taken is taken from the calling thread and from all that it
//! starts. There is no way back. Everywhere but on Linux the limits are set and the level is `None`.
//!
//! Starting and ending processes is `dsh-worker`'s; what a session may reach is `dsh-sandbox-policy`'s.

mod confinement;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
mod level;
mod limits;
#[cfg(target_os = "linux")]
mod linux;

#[cfg(not(target_os = "linux"))]
use elsewhere as system;
#[cfg(target_os = "linux")]
use linux as system;

pub use confinement::Confinement;
pub use level::{Demand, Level, Part, Short};
pub use limits::Limits;
