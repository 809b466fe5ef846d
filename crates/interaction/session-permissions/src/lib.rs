//! The two knobs of a session, the sandbox mode and the approval policy, turned together (spec 10 §A.2, §B.1, §C.2).
//!
//! ```text
//! change(session) ─→ set(target) ─→ sandbox/mode     ─┐ only what differs,     ─→ the agent is told, if one lives
//!    one at a time                  approval/policy  ─┘ in the safe order
//! ```
//!
//! - **Order.** The sandbox mode is recorded first. Where the mode gets wider and the policy stricter, the policy comes
//!   first. So a session whose log takes only a part of a change is never wider than it was and wider than it was to be at
//!   the same time.
//! - **One at a time.** Whoever meets another change of the same session is refused and waits for nobody, so that an
//!   observer of the log that wants to change what it is told of can't hang.

mod change;
mod order;
mod permissions;

pub use change::{Change, ChangeError, PLUGIN, Turned};
pub use permissions::{Permissions, Said, SessionPermissions};
