//! The request, and the trait that answers it.

use std::sync::Arc;

use dsh_json::Json;
use dsh_lifecycle::Cancel;
use futures_util::stream::BoxStream;
use serde::{Deserialize, Serialize};

use crate::chunk::Chunk;
use crate::message::Message;

/// A tool as the model sees it: `{"name","description","parameters"}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolSchema {
    /// The name that a call uses.
    pub name: Arc<str>,
    /// What it is for, in words written for the model.
    pub description: Arc<str>,
    /// The JSON schema of its arguments, an object schema of the supported subset.
    pub parameters: Json,
}

/// One request to a model. Cheap to clone: everything in it is shared.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ModelRequest {
    /// The system prompt.
    pub system: Option<Arc<str>>,
    /// The history, derived from the log.
    pub messages: Vec<Arc<Message>>,
    /// The tools, in the order in which they are told.
    pub tools: Arc<[ToolSchema]>,
    /// The ceiling for the answer, in tokens; the provider's own when absent.
    pub max_tokens: Option<u64>,
}

/// A model that streams answers.
pub trait Model: Send + Sync {
    /// The provider, such as `deepseek`; never empty.
    fn provider(&self) -> &str;

    /// The model's name at the provider; never empty.
    fn model(&self) -> &str;

    /// Answers `request` as chunks.
    ///
    /// The stream ends after exactly one [`Chunk::Finish`]; a failure is a finish with
    /// [`Finish::Error`](crate::Finish::Error), never a panic or a silent end. Once `cancel` is cancelled the stream
    /// finishes soon with [`Finish::Aborted`](crate::Finish::Aborted); dropping the stream ends the request.
    fn stream(&self, request: ModelRequest, cancel: Cancel) -> BoxStream<'static, Chunk>;
}
