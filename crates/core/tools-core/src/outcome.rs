//! The one truthful result of a call.

use std::sync::Arc;

use dsh_json::Json;
use dsh_llm::{Content, ContentBlock, ShapeError};

use crate::{Execution, ToolError, text};

/// What a call came to.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It has a value that fits the tool's output schema.
    Succeeded {
        /// The true value: what a program sees. It is not logged.
        value: Json,
        /// The tool asked to end the turn with this result.
        concludes: bool,
    },
    /// It failed, for the model to read.
    Failed(ToolError),
}

/// The result of a call: one truth, and what each of its readers sees of it (spec 01 §2.3).
#[derive(Debug, Clone, PartialEq)]
pub struct ToolResult {
    /// What the call came to.
    pub outcome: Outcome,
    /// What the model reads.
    pub content: Content,
    /// What a person's screen is drawn from, also when the log is replayed.
    pub meta: Option<Json>,
    /// Messages that go to the model after the results of the step.
    pub contexts: Vec<Context>,
}

/// A message that rides on a result: it reaches the model at the start of the next step.
#[derive(Debug, Clone, PartialEq)]
pub struct Context {
    /// Who says it.
    pub plugin: Arc<str>,
    /// What kind of message it is, for those who fold them.
    pub form: Option<Arc<str>>,
    /// What it says.
    pub content: Content,
}

impl Context {
    /// Refuses what a log would refuse as a message.
    fn check(&self) -> Result<(), ShapeError> {
        if self.plugin.is_empty() {
            return Err(ShapeError::new("must not be empty").within("plugin"));
        }
        check_content(&self.content)
    }
}

/// Refuses what a log would refuse as content of a result.
fn check_content(content: &Content) -> Result<(), ShapeError> {
    for (index, block) in content.iter().enumerate() {
        let checked = match block {
            ContentBlock::ToolResult { .. } => Err(ShapeError::new("a tool result can't hold a tool result")),
            ContentBlock::Text { .. }
            | ContentBlock::Reasoning { .. }
            | ContentBlock::Image { .. }
            | ContentBlock::ToolCall { .. }
            | ContentBlock::Other(_) => block.check(),
        };
        checked.map_err(|error| error.at(index).within("content"))?;
    }
    Ok(())
}

impl ToolResult {
    /// A failure with the standard text.
    pub fn failed(error: ToolError) -> Self {
        Self {
            content: text::error(&error),
            outcome: Outcome::Failed(error),
            meta: None,
            contexts: Vec::new(),
        }
    }

    /// Without what no log takes, so that a bad block of one renderer or listener fails one call and not the turn.
    pub(crate) fn storable(mut self, call: &Execution) -> Self {
        self.contexts.retain(|context| match context.check() {
            Ok(()) => true,
            Err(error) => {
                tracing::warn!(tool = &*call.name, %error, "a message that rides on a result was left out");
                false
            }
        });
        let Err(error) = check_content(&self.content) else { return self };
        match self.outcome {
            Outcome::Failed(failure) => {
                Self { content: text::error(&failure), outcome: Outcome::Failed(failure), ..self }
            }
            Outcome::Succeeded { .. } => {
                let error = text::unfit_content(&call.name, &error.to_string());
                Self { contexts: self.contexts, ..Self::failed(error) }
            }
        }
    }

    /// Whether the call failed.
    pub fn is_error(&self) -> bool {
        matches!(self.outcome, Outcome::Failed(_))
    }

    /// The failure, if it is one.
    pub fn error(&self) -> Option<&ToolError> {
        match &self.outcome {
            Outcome::Failed(error) => Some(error),
            Outcome::Succeeded { .. } => None,
        }
    }

    /// The value, if it succeeded.
    pub fn value(&self) -> Option<&Json> {
        match &self.outcome {
            Outcome::Succeeded { value, .. } => Some(value),
            Outcome::Failed(_) => None,
        }
    }

    /// Whether it succeeded and asked to end the turn.
    pub fn concludes_turn(&self) -> bool {
        matches!(self.outcome, Outcome::Succeeded { concludes: true, .. })
    }
}
