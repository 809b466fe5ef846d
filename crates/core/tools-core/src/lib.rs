//! What a tool is, which tools an agent sees, and the one path that every call takes.
//!
//! <!-- pipeline-picture -->
//! ```text
//! model text ─parse→  prepare    pre-execute… → decision → guards             ordered, in model order
//!                     dispatch   (ask → approval → guards) → execute… around  overlaps, up to the cap
//!                                the body → value → output schema → render
//!                     finish     post-execute… → finalizeContent → bound      ordered, in model order
//!                     commit     log → publish (results)
//! ```
//!
//! `pipeline.rs` reads as this picture does. [`Tools`] is the registry; [`Tools::execute`] takes a call through all of
//! it, and whoever runs many calls uses its stages [`Tools::prepare`], [`Tools::dispatch`] and [`Tools::finish`].
//! Writing a tool means implementing [`Tool`]; writing a policy means implementing [`Layer`] for one of the stages, or
//! [`Guard`], which can only deny.
//!
//! This crate names no tool, no policy and no engine, and does no I/O.

mod approval;
mod arguments;
mod call;
mod decision;
mod definition;
mod dispatch;
mod error;
mod execution;
mod onion;
mod outcome;
mod pattern;
mod pipeline;
mod presentation;
mod registry;
mod stages;
mod text;
mod transport;
mod typed;
mod view;

pub use approval::{Approval, ApprovalRequest, Approver};
pub use arguments::{Arguments, Malformed};
pub use decision::{Accept, Answer, PostDecision, PreDecision, Ran};
pub use definition::{AnyTool, Definition, DefinitionError, Projection};
pub use dispatch::{Dispatch, DispatchLog, DispatchSettled, DispatchStarted, with_dispatches};
pub use error::{ErrorInfo, ToolError, codes};
pub use execution::{Attempt, CallInput, CallToken, Execution, Post, RunContext};
pub use onion::{Layer, Next};
pub use outcome::{Context, Outcome, ToolResult};
pub use pattern::{Pattern, short_name};
pub use presentation::{
    CallView, FileDiff, FileLocation, FileMatches, Kind, Match, NumberedLine, ReadView, ResultView,
    SearchView, StoredResult, TerminalEnd, WebSource, WebView,
};
pub use registry::{Around, Bound, Guard, Mask, Observer, PostExecute, PreExecute, RegisterError, Tools};
pub use stages::{Finished, Prepared, Ready, Settled};
pub use transport::{NoTransport, Offered, Presentation, RUN_CODE, Transport, UnknownPresentation};
pub use typed::Tool;
pub use view::View;

// What an author of tools and policies needs besides, so that this crate is the only one to depend on.
pub use async_trait::async_trait;
pub use dsh_agent::Agent;
pub use dsh_json::{Json, Limits as JsonLimits, array, object};
pub use dsh_json_schema::{LowerError, Schema};
pub use dsh_lifecycle::{AlreadyProvided, Cancel, Cause, Registration, Registrations, Slot};
pub use dsh_llm::{Content, ContentBlock, ToolSchema, plain_text, text};
pub use dsh_scope::Scope;
pub use futures_util::future::BoxFuture;
