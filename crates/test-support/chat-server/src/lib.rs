//! A server on this machine that speaks the chat-completions protocol as a test tells it to, mistakes included.
//!
//! - [`ChatServer`] listens on a real socket, answers the n-th request with the n-th [`Reply`], and records what was asked
//!   and who hung up.
//! - [`Reply`] is a status, headers, and a body in pieces, with waits, stalls and broken connections between them.
//! - [`sse`] writes the events of well-formed answers.
//!
//! ```no_run
//! use dsh_chat_server::{ChatServer, Reply, sse};
//!
//! # async fn example() -> std::io::Result<()> {
//! let hello = [sse::text("Hel"), sse::text("lo"), sse::finish("stop"), sse::done()].concat();
//! let server = ChatServer::start([Reply::stream().send_cut(hello, 3)]).await?;
//! let url = server.url();
//! # Ok(())
//! # }
//! ```

mod http;
mod reply;
mod server;
pub mod sse;

pub use http::Request;
pub use reply::Reply;
pub use server::ChatServer;
