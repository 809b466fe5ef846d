//! Models behind the OpenAI-compatible chat-completions protocol, streaming (spec 12 §2).
//!
//! ```text
//! ModelRequest ─ request_body → POST …/chat/completions ─ tries, waits → bytes ─ Decoder → chunks, one finish
//! ```
//!
//! - [`OpenAi`] is the model: one request, at most a few tries, one answer. Whatever happens ends as a chunk
//!   [`Finish`](dsh_llm::Finish): failures as facts with one of the codes below, a cancellation as aborted.
//! - [`request_body`] is what is sent, a pure function of the request.
//! - [`Decoder`] is what is understood: bytes in pieces that are cut anywhere, chunks out.
//!
//! A request is tried again only before the first byte of its answer: after connection failures, statuses 408, 409, 429
//! and 5xx. Every bound is a field of [`OpenAiConfig`]. The key ([`ApiKey`]) is shown by nothing. The environment, the
//! clock and the proxies come in as values ([`Access`]).

mod answering;
mod calls;
mod client;
mod codes;
mod complaint;
mod config;
mod decoder;
mod endpoint;
mod event;
mod failure;
mod history;
mod key;
mod model;
mod request;
mod retry;
mod sse;
mod surrogates;
mod template;
mod usage;

pub use codes::{
    MODEL_AUTH, MODEL_CONFIG, MODEL_CONTENT_FILTERED, MODEL_CONTEXT_LENGTH, MODEL_HTTP, MODEL_NO_KEY,
    MODEL_OVERLOADED, MODEL_PROTOCOL, MODEL_PROVIDER_ERROR, MODEL_QUOTA, MODEL_RATE_LIMITED,
    MODEL_RESPONSE_TOO_LARGE, MODEL_TIMEOUT_IDLE, MODEL_TIMEOUT_TOTAL, MODEL_UNREACHABLE,
};
pub use config::{Access, OpenAiConfig, Provider, Proxy, SetupError};
pub use decoder::Decoder;
pub use key::ApiKey;
pub use model::OpenAi;
pub use request::{Dialect, MaxTokensField, request_body};
