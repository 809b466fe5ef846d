//! Steps, and the file that holds them (spec 12 §2).

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use dsh_json::{Json, JsonError};
use dsh_llm::{ErrorFacts, Fields, Finish, ShapeError};

/// What a model says in answer to one request.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// What it thinks aloud, first.
    pub reasoning: Option<Arc<str>>,
    /// What it says.
    pub text: Option<Arc<str>>,
    /// The tools that it calls, last.
    pub tool_calls: Vec<ToolCall>,
    /// Why the answer ends. After [`Finish::MaxTokens`] the last block stays open, as if it had been cut off.
    pub finish: Finish,
    /// How long it takes before the first word.
    pub delay: Duration,
    /// In how many pieces each block is streamed, at least one character each.
    pub chunks: NonZeroUsize,
}

/// One tool call of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// The call's id.
    pub id: Arc<str>,
    /// The tool.
    pub name: Arc<str>,
    /// The arguments as the model writes them, well formed or not.
    pub arguments: Arc<str>,
}

/// A scripted conversation: the answers to one request after the other.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Script {
    /// The steps, in order.
    pub steps: Vec<Step>,
}

/// Why a text is not a script.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// It is not JSON.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// It is JSON of another shape: an unknown key, a missing one, a value of the wrong type or out of range. The error
    /// has the path, such as `$.steps[2].toolCalls[0].arguments`.
    #[error(transparent)]
    Shape(#[from] ShapeError),
}

impl Step {
    /// A step that says this, without calls. An empty text says nothing at all.
    pub fn text(text: impl Into<Arc<str>>) -> Self {
        let text = Some(text.into()).filter(|text| !text.is_empty());
        Self {
            reasoning: None,
            text,
            tool_calls: vec![],
            finish: Finish::Stop,
            delay: Duration::ZERO,
            chunks: NonZeroUsize::MIN,
        }
    }

    /// A step that says this and calls these tools.
    pub fn calls(text: impl Into<Arc<str>>, tool_calls: Vec<ToolCall>) -> Self {
        Self { tool_calls, finish: Finish::ToolCalls, ..Self::text(text) }
    }
}

impl Script {
    /// Reads a script from the text of its file.
    pub fn from_text(text: &str) -> Result<Self, ScriptError> {
        Self::from_json(&Json::parse(text)?)
    }

    /// Reads a script. Every key is checked; the defaults are those of spec 12 §2.
    pub fn from_json(json: &Json) -> Result<Self, ScriptError> {
        let mut fields = Fields::of(json)?;
        // Counts the calls of all steps, for the ids that the script leaves out.
        let mut calls = 0;
        let steps = each(fields.json("steps")?, "steps", |step| read_step(step, &mut calls))?;
        fields.end()?;
        Ok(Self { steps })
    }
}

fn read_step(json: &Json, calls: &mut usize) -> Result<Step, ShapeError> {
    let mut fields = Fields::of(json)?;
    let tool_calls = match fields.optional("toolCalls") {
        None => vec![],
        Some(listed) => each(listed, "toolCalls", |call| {
            *calls += 1;
            read_call(call, *calls)
        })?,
    };
    let finish = match fields.optional_text("finish")?.as_deref() {
        None if tool_calls.is_empty() => Finish::Stop,
        None | Some("tool-calls") => Finish::ToolCalls,
        Some("stop") => Finish::Stop,
        Some("max-tokens") => Finish::MaxTokens,
        Some("error") => {
            Finish::Error(ErrorFacts::new(SCRIPTED_ERROR, "the script ends this answer with an error"))
        }
        Some(_) => {
            let problem = "expected `stop`, `tool-calls`, `max-tokens` or `error`";
            return Err(ShapeError::new(problem).within("finish"));
        }
    };
    let chunks = match fields.optional_u64("chunks")? {
        None => NonZeroUsize::MIN,
        Some(count) => usize::try_from(count)
            .ok()
            .and_then(NonZeroUsize::new)
            .ok_or_else(|| ShapeError::new("must be at least 1").within("chunks"))?,
    };
    let step = Step {
        reasoning: fields.optional_text("reasoning")?,
        text: fields.optional_text("text")?,
        tool_calls,
        finish,
        delay: Duration::from_millis(fields.optional_u64("delayMs")?.unwrap_or(0)),
        chunks,
    };
    fields.end()?;
    Ok(step)
}

fn read_call(json: &Json, number: usize) -> Result<ToolCall, ShapeError> {
    let mut fields = Fields::of(json)?;
    let id = match fields.optional_text("id")? {
        None => format!("call-{number}").into(),
        Some(id) if id.is_empty() => return Err(ShapeError::new("must not be empty").within("id")),
        Some(id) => id,
    };
    let name = fields.text("name")?;
    let arguments = match fields.json("arguments")? {
        Json::String(raw) => Arc::clone(raw),
        object @ Json::Object(_) => object.to_text().into(),
        other @ (Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_)) => {
            let problem = format!("expected an object or a string, found {}", other.kind());
            return Err(ShapeError::new(problem).within("arguments"));
        }
    };
    fields.end()?;
    Ok(ToolCall { id, name, arguments })
}

/// Reads every item of a list, naming the place of the one that fails.
fn each<T>(
    list: &Json,
    name: &str,
    mut read: impl FnMut(&Json) -> Result<T, ShapeError>,
) -> Result<Vec<T>, ShapeError> {
    let Some(items) = list.as_array() else {
        return Err(ShapeError::new(format!("expected an array, found {}", list.kind())).within(name));
    };
    let place = |(index, item)| read(item).map_err(|error| error.at(index).within(name));
    items.iter().enumerate().map(place).collect()
}

/// The code of a step that a script ends with an error.
const SCRIPTED_ERROR: &str = "SCRIPTED_ERROR";

#[cfg(test)]
mod tests;
