//! The visible tools as a Model Context Protocol server.
//!
//! ```text
//! client ──line──▶ lines ─read──▶ message ──┬─ tools/call ─▶ desk: one queue ─▶ TurnRunner::run_arriving ─▶ log
//!                    ▲                      │                                        │
//!                    │                      └─ everything else ─▶ handler            └─ results, progress ─┐
//!                    └──────────────────── answers ◀──────────── handler ◀────────────────────────────────┘
//! ```
//!
//! - [`McpServer::serve`] serves one client over two streams until one of them ends.
//! - A call takes the whole pipeline and stands in the session's log. The first one opens a turn, calls that arrive
//!   meanwhile join its step, and both close when nothing is open (design §2).
//! - Arguments never pass through a foreign parser: their text goes to the pipeline as a model's would, so positions,
//!   duplicate keys, big integers and depth are what they are everywhere.
//! - A call that needs approval is put to the client's user, where the client can ask ([`Elicitation`]). Whether it
//!   can is in the first thing that it says ([`Greeting`]), so that tools can be made for it.
//! - A call that fails is a result with `isError`, the model's text, and `name` and `code` in `_meta` under `dsh/error`.
//!   Protocol errors are for messages that are none.
//!
//! The protocol itself is `rmcp`'s. This crate does no I/O of its own: the streams come in.

mod config;
mod desk;
mod elicitation;
mod greeting;
mod handler;
mod lines;
mod listing;
mod message;
mod question;
mod recover;
mod results;
mod seat;
mod server;
mod words;

pub use config::McpServerConfig;
pub use elicitation::Elicitation;
pub use greeting::Greeting;
pub use server::{McpParts, McpServer, SdkText};
