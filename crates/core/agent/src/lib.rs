//! The agent handle: who acts, what it sees, where its history goes, what waits for it, and who runs it.
//!
//! An [`Agent`] is a scope key (which tools and hooks count for it, `dsh-scope`), a session (what happened,
//! `dsh-session`), an [`Inbox`] and a place for one who runs its turns, under one identity. Everything that runs for an
//! agent carries the handle; nothing is looked up by a global. A session has one agent: it is made once and cloned.
//!
//! ```text
//! followup ─┐                 wake         said          turn/start … step/start … turn/end
//! steer    ─┼→ inbox, durable ───→ driver ──────→ turn                                       → next turn, or idle
//! inject   ─┘                               hooks: pre-step · request · request-error · turn-stopping
//! ```
//!
//! - The [`Inbox`] has two lists, `next-turn` and `next-step`. Each change is an event of the log first (spec 02 §B);
//!   what a step says leaves with its `user/message`.
//! - [`Hooks`] are the places where policies take part in turns, registered per scope layer.
//! - [`Running`] is the right to run turns, held by one at a time; [`Driving`] waits for input and is given that right
//!   by the message that wakes it (spec 02 §C.1). Running turns itself is the loop's.
//! - [`TurnRunner`] is the port through which calls become a turn, without knowing the loop (design §2).

mod activity;
mod handle;
mod hooks;
mod inbox;
mod notice;
mod runner;
mod running;
mod state;

pub use activity::Queued;
pub use handle::{Agent, AgentParts};
pub use hooks::{
    AfterError, Entry, HookError, HookFailure, Hooks, PreStep, Request, RequestDraft, RequestError,
    StepContext, TurnStopping,
};
pub use inbox::{Inbox, InboxError, InboxLimits, InboxSpliced, Splice, SpliceOutcome, Target, declare};
pub use notice::{AgentObserver, Notice, SessionSource, Status};
pub use runner::{ArrivingCall, CallOrigin, CallTurn, RequestedCall, TurnError, TurnRunner};
pub use running::{Driving, Running};
