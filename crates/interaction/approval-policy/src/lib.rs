//! Whether people are asked in a session: a word in its log, of which the last counts (spec 10 §A.1–A.3).
//!
//! | policy | a call that needs approval |
//! |---|---|
//! | `ask` | is put to those who can answer |
//! | `never` | is rejected, and nobody is asked |
//!
//! Who is asked, and how, is the business of whoever asks. Here is what they look at: [`Policies`], which knows the policy
//! of each session, sets it, and tells models which one holds.

mod context;
mod events;
mod policies;
mod policy;

pub use context::{CONTEXT_NAME, CONTEXT_ORDER, standing_rule};
pub use events::{PolicyChanged, PolicySource, declare};
pub use policies::{PLUGIN, Policies, SwitchError};
pub use policy::ApprovalPolicy;
