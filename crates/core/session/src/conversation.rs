//! The events of the conversation: what was told, what the model answered, what it called, what came back.

use std::sync::Arc;

use dsh_json::{Json, JsonError, Object};
use dsh_llm::{Chunk, Fields, Message, Role, ShapeError, Source, Usage};
use serde::{Deserialize, Serialize};

use crate::payload::Payload;

/// `user/message`: told to the model, by a person or by a plugin. The data is the message itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Json", into = "Json")]
pub struct UserMessage(pub Message);

/// `assistant/chunk`: a piece of the model's answer, as it came.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Json", into = "Json")]
pub struct AssistantChunk {
    /// The turn.
    pub turn: u32,
    /// The step.
    pub step: u32,
    /// The piece.
    pub chunk: Chunk,
}

/// `assistant/message`: the model's answer, whole; made from the chunks that its provenance names. An empty one is
/// stored, and adds nothing to the history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Json", into = "Json")]
pub struct AssistantMessage {
    /// The turn.
    pub turn: u32,
    /// The step.
    pub step: u32,
    /// The answer.
    pub message: Message,
    /// What it cost.
    pub usage: Option<Usage>,
}

/// `tool/call`: a call is about to run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Json", into = "Json")]
pub struct ToolCall {
    /// The turn.
    pub turn: u32,
    /// The step.
    pub step: u32,
    /// The id of the tool-call block.
    pub call_id: Arc<str>,
    /// The tool's name, as the model wrote it.
    pub name: Arc<str>,
    /// The arguments, as the model wrote them.
    pub arguments: Arc<str>,
}

/// `tool/result`: a call is answered; its provenance names the `tool/call` (spec 02 A.7).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Json", into = "Json")]
pub struct ToolResult {
    /// The turn.
    pub turn: u32,
    /// The step.
    pub step: u32,
    /// The answer: one tool-result block.
    pub message: Message,
    /// The coded failure, if there was one.
    pub error: Option<CodedError>,
    /// What a user interface may show beyond the text.
    pub meta: Option<Json>,
}

/// A failure that policies may route on: `{"name","code"}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CodedError {
    /// The error's class, such as `ToolNotFoundError`.
    pub name: Arc<str>,
    /// The stable code, such as `UNKNOWN_TOOL`.
    pub code: Arc<str>,
}

impl Payload for UserMessage {
    const TYPE: &'static str = "user/message";
    const SURFACE: bool = true;
    const EXACT: bool = true;

    fn check(&self) -> Result<(), ShapeError> {
        self.0.check()?;
        spoken_by(&self.0, Role::User)?;
        if matches!(self.0.source, Source::Tool { .. }) {
            return Err(ShapeError::new("a tool's answer belongs to `tool/result`").within("source"));
        }
        Ok(())
    }

    fn message(&self) -> Option<Arc<Message>> {
        Some(Arc::new(self.0.clone()))
    }

    fn to_json(&self) -> Result<Json, JsonError> {
        Ok(self.stored())
    }

    fn from_json(json: &Json) -> Result<Self, ShapeError> {
        Message::from_json(json).map(Self)
    }
}

impl Payload for AssistantChunk {
    const TYPE: &'static str = "assistant/chunk";
    const EXACT: bool = true;

    fn check(&self) -> Result<(), ShapeError> {
        self.chunk.check().map_err(|error| error.within("chunk"))
    }

    fn to_json(&self) -> Result<Json, JsonError> {
        Ok(self.stored())
    }

    fn from_json(json: &Json) -> Result<Self, ShapeError> {
        let mut fields = Fields::of(json)?;
        let chunk = Self {
            turn: fields.u32("turn")?,
            step: fields.u32("step")?,
            chunk: Chunk::from_json(fields.json("chunk")?).map_err(|error| error.within("chunk"))?,
        };
        fields.end()?;
        Ok(chunk)
    }
}

impl Payload for AssistantMessage {
    const TYPE: &'static str = "assistant/message";
    const SURFACE: bool = true;
    const EXACT: bool = true;

    fn check(&self) -> Result<(), ShapeError> {
        let check = self.message.check().and_then(|()| spoken_by(&self.message, Role::Assistant));
        check.map_err(|error| error.within("message"))
    }

    fn message(&self) -> Option<Arc<Message>> {
        (!self.message.content.is_empty()).then(|| Arc::new(self.message.clone()))
    }

    fn to_json(&self) -> Result<Json, JsonError> {
        Ok(self.stored())
    }

    fn from_json(json: &Json) -> Result<Self, ShapeError> {
        let mut fields = Fields::of(json)?;
        let usage = fields.optional("usage").map(Usage::from_json).transpose();
        let answer = Self {
            turn: fields.u32("turn")?,
            step: fields.u32("step")?,
            message: Message::from_json(fields.json("message")?).map_err(|error| error.within("message"))?,
            usage: usage.map_err(|error| error.within("usage"))?,
        };
        fields.end()?;
        Ok(answer)
    }
}

impl Payload for ToolCall {
    const TYPE: &'static str = "tool/call";
    const EXACT: bool = true;

    fn check(&self) -> Result<(), ShapeError> {
        if self.call_id.is_empty() {
            return Err(ShapeError::new("must not be empty").within("callId"));
        }
        Ok(())
    }

    fn to_json(&self) -> Result<Json, JsonError> {
        Ok(self.stored())
    }

    fn from_json(json: &Json) -> Result<Self, ShapeError> {
        let mut fields = Fields::of(json)?;
        let call = Self {
            turn: fields.u32("turn")?,
            step: fields.u32("step")?,
            call_id: fields.name("callId")?,
            name: fields.text("name")?,
            arguments: fields.text("arguments")?,
        };
        fields.end()?;
        Ok(call)
    }
}

impl Payload for ToolResult {
    const TYPE: &'static str = "tool/result";
    const SURFACE: bool = true;
    const EXACT: bool = true;

    fn check(&self) -> Result<(), ShapeError> {
        let check = self.message.check().and_then(|()| match self.message.source {
            Source::Tool { .. } => spoken_by(&self.message, Role::User),
            Source::User | Source::Plugin { .. } | Source::Model { .. } | Source::Other(_) => {
                Err(ShapeError::new("expected the source `tool`").within("source"))
            }
        });
        check.map_err(|error| error.within("message"))
    }

    fn message(&self) -> Option<Arc<Message>> {
        Some(Arc::new(self.message.clone()))
    }

    fn to_json(&self) -> Result<Json, JsonError> {
        Ok(self.stored())
    }

    fn from_json(json: &Json) -> Result<Self, ShapeError> {
        let mut fields = Fields::of(json)?;
        let error = fields.optional("error").map(CodedError::from_json).transpose();
        let result = Self {
            turn: fields.u32("turn")?,
            step: fields.u32("step")?,
            message: Message::from_json(fields.json("message")?).map_err(|error| error.within("message"))?,
            error: error.map_err(|error| error.within("error"))?,
            meta: fields.optional("meta").cloned(),
        };
        fields.end()?;
        Ok(result)
    }
}

impl UserMessage {
    fn stored(&self) -> Json {
        self.0.to_json()
    }
}

impl AssistantChunk {
    fn stored(&self) -> Json {
        let mut object = in_step(self.turn, self.step, 3);
        object.insert("chunk", self.chunk.to_json());
        object.into()
    }
}

impl AssistantMessage {
    fn stored(&self) -> Json {
        let mut object = in_step(self.turn, self.step, 4);
        object.insert("message", self.message.to_json());
        if let Some(usage) = self.usage {
            object.insert("usage", usage.to_json());
        }
        object.into()
    }
}

impl ToolCall {
    fn stored(&self) -> Json {
        let mut object = in_step(self.turn, self.step, 5);
        object.insert("callId", Arc::clone(&self.call_id));
        object.insert("name", Arc::clone(&self.name));
        object.insert("arguments", Arc::clone(&self.arguments));
        object.into()
    }
}

impl ToolResult {
    /// The call that is answered; `None` only in a result that [`check`](Payload::check) refuses.
    pub fn call_id(&self) -> Option<&Arc<str>> {
        match &self.message.source {
            Source::Tool { call_id } => Some(call_id),
            Source::User | Source::Plugin { .. } | Source::Model { .. } | Source::Other(_) => None,
        }
    }

    fn stored(&self) -> Json {
        let mut object = in_step(self.turn, self.step, 5);
        object.insert("message", self.message.to_json());
        if let Some(error) = &self.error {
            object.insert("error", error.to_json());
        }
        if let Some(meta) = &self.meta {
            object.insert("meta", meta.clone());
        }
        object.into()
    }
}

impl CodedError {
    fn to_json(&self) -> Json {
        let mut object = Object::with_capacity(2);
        object.insert("name", Arc::clone(&self.name));
        object.insert("code", Arc::clone(&self.code));
        object.into()
    }

    fn from_json(json: &Json) -> Result<Self, ShapeError> {
        let mut fields = Fields::of(json)?;
        let error = Self { name: fields.text("name")?, code: fields.text("code")? };
        fields.end()?;
        Ok(error)
    }
}

payloads_as_json!(UserMessage, AssistantChunk, AssistantMessage, ToolCall, ToolResult);

fn in_step(turn: u32, step: u32, fields: usize) -> Object {
    let mut object = Object::with_capacity(fields);
    object.insert("turn", turn);
    object.insert("step", step);
    object
}

fn spoken_by(message: &Message, role: Role) -> Result<(), ShapeError> {
    if message.role == role {
        return Ok(());
    }
    Err(ShapeError::new(format!("expected `{}`", role.as_str())).within("role"))
}

#[cfg(test)]
mod tests;
