//! Why an answer ended.

use std::sync::Arc;

use dsh_json::{Json, Object};
use serde::{Deserialize, Serialize};

use crate::shape::{Fields, ShapeError};

/// Why an answer ended: `{"kind":"stop"|"tool-calls"|"max-tokens"|"error"|"aborted", "error"?}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Json", into = "Json")]
pub enum Finish {
    /// The model had said what it wanted.
    Stop,
    /// It waits for its tool calls.
    ToolCalls,
    /// It reached the ceiling; the end of the answer is missing.
    MaxTokens,
    /// It failed.
    Error(ErrorFacts),
    /// It was cancelled.
    Aborted,
}

impl Finish {
    /// The stored form.
    pub fn to_json(&self) -> Json {
        let mut object = Object::with_capacity(2);
        match self {
            Self::Stop => object.insert("kind", "stop"),
            Self::ToolCalls => object.insert("kind", "tool-calls"),
            Self::MaxTokens => object.insert("kind", "max-tokens"),
            Self::Error(_) => object.insert("kind", "error"),
            Self::Aborted => object.insert("kind", "aborted"),
        };
        if let Self::Error(error) = self {
            object.insert("error", error.to_json());
        }
        object.into()
    }

    /// Reads the stored form.
    pub fn from_json(json: &Json) -> Result<Self, ShapeError> {
        let mut fields = Fields::of(json)?;
        let finish = match &*fields.text("kind")? {
            "stop" => Self::Stop,
            "tool-calls" => Self::ToolCalls,
            "max-tokens" => Self::MaxTokens,
            "error" => {
                let error = ErrorFacts::from_json(fields.json("error")?);
                Self::Error(error.map_err(|error| error.within("error"))?)
            }
            "aborted" => Self::Aborted,
            _ => return Err(ShapeError::new("unknown finish").within("kind")),
        };
        fields.end()?;
        Ok(finish)
    }
}

impl From<Finish> for Json {
    fn from(finish: Finish) -> Self {
        finish.to_json()
    }
}

impl TryFrom<Json> for Finish {
    type Error = ShapeError;

    fn try_from(json: Json) -> Result<Self, ShapeError> {
        Self::from_json(&json)
    }
}

/// What is known about a failed request: `{"message","code","status"?,"providerRetryAfterMs"?,"requestId"?}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Json", into = "Json")]
pub struct ErrorFacts {
    /// In words.
    pub message: Arc<str>,
    /// Stable, for programs.
    pub code: Arc<str>,
    /// The HTTP status.
    pub status: Option<u64>,
    /// How long the provider asked to wait.
    pub provider_retry_after_ms: Option<u64>,
    /// The provider's name for the request.
    pub request_id: Option<Arc<str>>,
}

impl ErrorFacts {
    /// A code and a message, nothing more.
    pub fn new(code: impl Into<Arc<str>>, message: impl Into<Arc<str>>) -> Self {
        Self {
            message: message.into(),
            code: code.into(),
            status: None,
            provider_retry_after_ms: None,
            request_id: None,
        }
    }

    /// The stored form.
    pub fn to_json(&self) -> Json {
        let mut object = Object::with_capacity(5);
        object.insert("message", Arc::clone(&self.message));
        object.insert("code", Arc::clone(&self.code));
        if let Some(status) = self.status {
            object.insert("status", status);
        }
        if let Some(wait) = self.provider_retry_after_ms {
            object.insert("providerRetryAfterMs", wait);
        }
        if let Some(id) = &self.request_id {
            object.insert("requestId", Arc::clone(id));
        }
        object.into()
    }

    /// Reads the stored form.
    pub fn from_json(json: &Json) -> Result<Self, ShapeError> {
        let mut fields = Fields::of(json)?;
        let facts = Self {
            message: fields.text("message")?,
            code: fields.text("code")?,
            status: fields.optional_u64("status")?,
            provider_retry_after_ms: fields.optional_u64("providerRetryAfterMs")?,
            request_id: fields.optional_text("requestId")?,
        };
        fields.end()?;
        Ok(facts)
    }
}

impl From<ErrorFacts> for Json {
    fn from(facts: ErrorFacts) -> Self {
        facts.to_json()
    }
}

impl TryFrom<Json> for ErrorFacts {
    type Error = ShapeError;

    fn try_from(json: Json) -> Result<Self, ShapeError> {
        Self::from_json(&json)
    }
}
