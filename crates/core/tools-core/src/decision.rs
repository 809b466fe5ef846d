//! What the listeners of each stage may answer.

use std::sync::Arc;

use dsh_json::Json;
use dsh_llm::Content;

use crate::{CallToken, Context, ToolError, ToolResult};

/// The answer of `pre-execute`. There is none that changes the arguments: the call is logged and shown already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PreDecision {
    /// Go on.
    Allow,
    /// Don't run it, for this reason.
    Deny(String),
    /// Ask a person first, for this reason.
    Ask(Option<Arc<str>>),
}

/// The answer of an `execute` wrapper.
#[derive(Debug)]
pub enum Answer {
    /// What the body came to, failures included. Only the body makes one.
    Ran(Ran),
    /// A value in place of the body's. It is checked and rendered like the body's own.
    Value {
        /// The value.
        value: Json,
        /// Messages that go along.
        contexts: Vec<Context>,
    },
    /// A failure in place of the body's result.
    Failed {
        /// Why.
        error: ToolError,
        /// What a person's screen is drawn from.
        meta: Option<Json>,
        /// Messages that go along.
        contexts: Vec<Context>,
    },
}

impl Answer {
    /// A failure with nothing beside it.
    pub fn failed(error: ToolError) -> Self {
        Self::Failed { error, meta: None, contexts: Vec::new() }
    }
}

/// What the body of one call came to.
#[derive(Debug)]
pub struct Ran {
    pub(crate) token: CallToken,
    pub(crate) result: ToolResult,
}

impl Ran {
    /// The result.
    pub fn result(&self) -> &ToolResult {
        &self.result
    }

    /// Sends a message along.
    pub fn add_context(&mut self, context: Context) {
        self.result.contexts.push(context);
    }
}

/// The answer of `post-execute`.
#[derive(Debug)]
pub enum PostDecision {
    /// Let it through.
    Accept(Accept, Vec<Context>),
    /// Withhold it: a failure whose text is this feedback. Messages of the tool itself are withheld, too.
    Block(Content, Vec<Context>),
}

impl PostDecision {
    /// Let it through as it is.
    pub const KEEP: Self = Self::Accept(Accept::Keep, Vec::new());
}

/// How a result is let through.
#[derive(Debug)]
pub enum Accept {
    /// As it is.
    Keep,
    /// With other text for the model; value, meta and failure stay.
    Content(Content),
    /// With another value, which is checked and rendered like the tool's own. Only a success has one to replace.
    Value(Json),
}
