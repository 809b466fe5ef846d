//! Asks people whether calls may run, and keeps a record of every question (spec 10 §A).
//!
//! ```text
//! a call that needs approval ─→ approval/asked ─→ stopped? ─→ policy `never`? ─→ the answerers, nearest scope first ─→ approval/decided
//!                                                  └ cancelled  └ rejected         └ nobody, a failure, too late: unavailable
//! ```
//!
//! - Nobody to answer means no. There is one answer that allows, [`Approval::AllowedOnce`](dsh_tools_core::Approval), and it
//!   covers the one call that was asked about: nothing is remembered here. Who is to be asked less is an answerer's business.
//! - Each question has two events in the log, with a digest of the arguments that were asked about. What can't be recorded
//!   is not asked, and an answer that can't be recorded does not count.
//! - The policy is looked at here and in no listener, so that nothing that is registered comes before it.
//! - A question whose process died is closed as cancelled when its session is opened again.

mod answerer;
mod approvals;
mod ask;
mod config;
mod events;
mod words;

pub use answerer::{Answer, AnswerError, Answerer, Question};
pub use approvals::{Approvals, MountError};
pub use ask::{APPROVAL_FAILED, ApprovalError, Request, digest};
pub use config::ApprovalConfig;
pub use events::{ApprovalAsked, ApprovalDecided, declare};
pub use words::{acts, covers, covers_once, visible};
