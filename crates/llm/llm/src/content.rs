//! Content blocks: what a message holds.

use std::sync::Arc;

use dsh_json::{Json, Object};
use serde::{Deserialize, Serialize};

use crate::shape::{Fields, ShapeError, mismatch};

/// The blocks of a message, in order, shared by everyone who holds the message.
pub type Content = Arc<[ContentBlock]>;

/// One block of content (spec 03 §2). An open set: a block of an unknown type is kept as it came.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Json", into = "Json")]
pub enum ContentBlock {
    /// `{"type":"text","text"}`
    Text {
        /// The words.
        text: Arc<str>,
    },
    /// `{"type":"reasoning","text"}`
    Reasoning {
        /// What the model thought aloud.
        text: Arc<str>,
    },
    /// `{"type":"image","attachment"}`
    Image {
        /// The reference to the picture; its form belongs to the attachment store.
        attachment: Json,
    },
    /// `{"type":"tool-call","id","name","arguments","providerCallId"?}`
    ToolCall {
        /// The id that results answer to; unique in its session.
        id: Arc<str>,
        /// The tool that the model asked for, known or not.
        name: Arc<str>,
        /// The raw text that the model wrote as arguments, well formed or not.
        arguments: Arc<str>,
        /// The id that the model gave, where it had to be replaced because it was already taken (design §5).
        provider_call_id: Option<Arc<str>>,
    },
    /// `{"type":"tool-result","toolCallId","content","isError"}`
    ToolResult {
        /// The call that this answers.
        tool_call_id: Arc<str>,
        /// What the model reads; holds no further tool result.
        content: Content,
        /// Whether the call failed.
        is_error: bool,
    },
    /// A block of another type, kept as it came: an object with a `type` that this version does not know.
    Other(Json),
}

impl ContentBlock {
    /// The words of a text block.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text { text } => Some(text),
            Self::Reasoning { .. }
            | Self::Image { .. }
            | Self::ToolCall { .. }
            | Self::ToolResult { .. }
            | Self::Other(_) => None,
        }
    }

    /// The block's `type`.
    pub fn block_type(&self) -> &str {
        match self {
            Self::Text { .. } => TEXT,
            Self::Reasoning { .. } => REASONING,
            Self::Image { .. } => IMAGE,
            Self::ToolCall { .. } => TOOL_CALL,
            Self::ToolResult { .. } => TOOL_RESULT,
            Self::Other(json) => json.get("type").and_then(Json::as_str).unwrap_or("unknown"),
        }
    }

    /// Refuses what [`from_json`](Self::from_json) would not read back as the same block: an empty call id, a tool
    /// result inside a tool result, an [`Other`](Self::Other) without a type or with one that is known here.
    pub fn check(&self) -> Result<(), ShapeError> {
        match self {
            Self::Text { .. } | Self::Reasoning { .. } | Self::Image { .. } => Ok(()),
            Self::ToolCall { id, .. } => named(id, "id"),
            Self::ToolResult { tool_call_id, content, .. } => {
                named(tool_call_id, "toolCallId")?;
                for (index, block) in content.iter().enumerate() {
                    block.check_inner().map_err(|error| error.at(index).within("content"))?;
                }
                Ok(())
            }
            Self::Other(json) => {
                let name = Fields::of(json)?.name("type")?;
                if is_known(&name) {
                    return Err(ShapeError::new("a known type kept as unknown").within("type"));
                }
                Ok(())
            }
        }
    }

    /// The stored form.
    pub fn to_json(&self) -> Json {
        let mut object;
        match self {
            Self::Text { text } => {
                object = typed(TEXT, 2);
                object.insert("text", Arc::clone(text));
            }
            Self::Reasoning { text } => {
                object = typed(REASONING, 2);
                object.insert("text", Arc::clone(text));
            }
            Self::Image { attachment } => {
                object = typed(IMAGE, 2);
                object.insert("attachment", attachment.clone());
            }
            Self::ToolCall { id, name, arguments, provider_call_id } => {
                object = typed(TOOL_CALL, 5);
                object.insert("id", Arc::clone(id));
                object.insert("name", Arc::clone(name));
                object.insert("arguments", Arc::clone(arguments));
                if let Some(id) = provider_call_id {
                    object.insert("providerCallId", Arc::clone(id));
                }
            }
            Self::ToolResult { tool_call_id, content, is_error } => {
                object = typed(TOOL_RESULT, 4);
                object.insert("toolCallId", Arc::clone(tool_call_id));
                object.insert("content", content_to_json(content));
                object.insert("isError", *is_error);
            }
            Self::Other(json) => return json.clone(),
        }
        object.into()
    }

    /// Reads the stored form; strings are shared with `json`. A type that is known must fit exactly, an unknown one is
    /// kept. Depth is bounded: a tool result inside a tool result is refused.
    pub fn from_json(json: &Json) -> Result<Self, ShapeError> {
        Self::read(json, false)
    }

    fn read(json: &Json, inside_result: bool) -> Result<Self, ShapeError> {
        let mut fields = Fields::of(json)?;
        let block_type = fields.name("type")?;
        let block = match &*block_type {
            TEXT => Self::Text { text: fields.text("text")? },
            REASONING => Self::Reasoning { text: fields.text("text")? },
            IMAGE => Self::Image { attachment: fields.json("attachment")?.clone() },
            TOOL_CALL => Self::ToolCall {
                id: fields.name("id")?,
                name: fields.text("name")?,
                arguments: fields.text("arguments")?,
                provider_call_id: fields.optional_text("providerCallId")?,
            },
            TOOL_RESULT if inside_result => return Err(nested_result()),
            TOOL_RESULT => Self::ToolResult {
                tool_call_id: fields.name("toolCallId")?,
                content: blocks(fields.json("content")?, true).map_err(|error| error.within("content"))?,
                is_error: fields.optional_bool("isError")?.unwrap_or(false),
            },
            _ => return Ok(Self::Other(json.clone())),
        };
        fields.end()?;
        Ok(block)
    }

    fn check_inner(&self) -> Result<(), ShapeError> {
        match self {
            Self::ToolResult { .. } => Err(nested_result()),
            Self::Text { .. }
            | Self::Reasoning { .. }
            | Self::Image { .. }
            | Self::ToolCall { .. }
            | Self::Other(_) => self.check(),
        }
    }
}

impl From<ContentBlock> for Json {
    fn from(block: ContentBlock) -> Self {
        block.to_json()
    }
}

impl TryFrom<Json> for ContentBlock {
    type Error = ShapeError;

    fn try_from(json: Json) -> Result<Self, ShapeError> {
        Self::from_json(&json)
    }
}

/// Content of one text block.
pub fn text(text: impl Into<Arc<str>>) -> Content {
    Arc::new([ContentBlock::Text { text: text.into() }])
}

/// Content as plain text: text blocks as they are, any other block as a marker such as `[image]`, one below the other.
pub fn plain_text(content: &[ContentBlock]) -> String {
    let mut out = String::new();
    for (index, block) in content.iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        if let Some(text) = block.as_text() {
            out.push_str(text);
        } else {
            out.push('[');
            out.push_str(block.block_type());
            out.push(']');
        }
    }
    out
}

/// The stored form of content: an array of blocks.
pub fn content_to_json(content: &[ContentBlock]) -> Json {
    content.iter().map(ContentBlock::to_json).collect::<Vec<Json>>().into()
}

/// Reads an array of blocks; the error names the place.
pub fn content_from_json(json: &Json) -> Result<Content, ShapeError> {
    blocks(json, false)
}

pub(crate) fn named(text: &str, field: &str) -> Result<(), ShapeError> {
    if text.is_empty() { Err(ShapeError::new("must not be empty").within(field)) } else { Ok(()) }
}

const TEXT: &str = "text";
const REASONING: &str = "reasoning";
const IMAGE: &str = "image";
const TOOL_CALL: &str = "tool-call";
const TOOL_RESULT: &str = "tool-result";

fn is_known(block_type: &str) -> bool {
    [TEXT, REASONING, IMAGE, TOOL_CALL, TOOL_RESULT].contains(&block_type)
}

fn typed(block_type: &'static str, fields: usize) -> Object {
    let mut object = Object::with_capacity(fields);
    object.insert("type", block_type);
    object
}

fn blocks(json: &Json, inside_result: bool) -> Result<Content, ShapeError> {
    let items = json.as_array().ok_or_else(|| mismatch("an array of content blocks", json))?;
    let read = |(index, item)| ContentBlock::read(item, inside_result).map_err(|error| error.at(index));
    items.iter().enumerate().map(read).collect()
}

fn nested_result() -> ShapeError {
    ShapeError::new("a tool result can't hold another tool result")
}

#[cfg(test)]
mod tests;
