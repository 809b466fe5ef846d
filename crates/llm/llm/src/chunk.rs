//! The pieces in which a model's answer arrives.

use std::sync::Arc;

use dsh_json::{Json, Object};
use serde::{Deserialize, Serialize};

use crate::content::ContentBlock;
use crate::finish::Finish;
use crate::shape::{Fields, ShapeError};

/// One piece of a streamed answer (spec 03 §2). Blocks are told apart by `index` and may interleave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Json", into = "Json")]
pub enum Chunk {
    /// A block begins.
    BlockStart {
        /// Which block.
        index: u32,
        /// Its type, such as `text`.
        block_type: Arc<str>,
    },
    /// More of a text block.
    TextDelta {
        /// Which block.
        index: u32,
        /// The words to add.
        text: Arc<str>,
    },
    /// More of a reasoning block.
    ReasoningDelta {
        /// Which block.
        index: u32,
        /// The words to add.
        text: Arc<str>,
    },
    /// More of a tool call.
    ToolCallDelta {
        /// Which block.
        index: u32,
        /// The call's id; empty when the provider gives none, or gave it before.
        id: Arc<str>,
        /// The tool's name, once known.
        name: Option<Arc<str>>,
        /// The text to add to the arguments.
        arguments_delta: Arc<str>,
    },
    /// A block is complete.
    BlockEnd {
        /// Which block.
        index: u32,
        /// The block as a whole; wins over what the deltas said.
        block: ContentBlock,
    },
    /// What the answer cost so far; the last one counts.
    Usage {
        /// The counts.
        usage: Usage,
    },
    /// The answer is over.
    Finish {
        /// Why.
        reason: Finish,
        /// What the provider wants back with the next request, opaque.
        replay_state: Option<Json>,
    },
}

impl Chunk {
    /// The stored form.
    pub fn to_json(&self) -> Json {
        let mut object = Object::with_capacity(5);
        match self {
            Self::BlockStart { index, block_type } => {
                indexed(&mut object, BLOCK_START, *index);
                object.insert("blockType", Arc::clone(block_type));
            }
            Self::TextDelta { index, text } => {
                indexed(&mut object, TEXT_DELTA, *index);
                object.insert("text", Arc::clone(text));
            }
            Self::ReasoningDelta { index, text } => {
                indexed(&mut object, REASONING_DELTA, *index);
                object.insert("text", Arc::clone(text));
            }
            Self::ToolCallDelta { index, id, name, arguments_delta } => {
                indexed(&mut object, TOOL_CALL_DELTA, *index);
                object.insert("id", Arc::clone(id));
                if let Some(name) = name {
                    object.insert("name", Arc::clone(name));
                }
                object.insert("argumentsDelta", Arc::clone(arguments_delta));
            }
            Self::BlockEnd { index, block } => {
                indexed(&mut object, BLOCK_END, *index);
                object.insert("block", block.to_json());
            }
            Self::Usage { usage } => {
                object.insert("type", USAGE);
                object.insert("usage", usage.to_json());
            }
            Self::Finish { reason, replay_state } => {
                object.insert("type", FINISH);
                object.insert("reason", reason.to_json());
                if let Some(state) = replay_state {
                    object.insert("replayState", state.clone());
                }
            }
        }
        object.into()
    }

    /// Reads the stored form; strings are shared with `json`. An unknown type or field is refused.
    pub fn from_json(json: &Json) -> Result<Self, ShapeError> {
        let mut fields = Fields::of(json)?;
        let chunk = match &*fields.text("type")? {
            BLOCK_START => {
                Self::BlockStart { index: fields.u32("index")?, block_type: fields.name("blockType")? }
            }
            TEXT_DELTA => Self::TextDelta { index: fields.u32("index")?, text: fields.text("text")? },
            REASONING_DELTA => {
                Self::ReasoningDelta { index: fields.u32("index")?, text: fields.text("text")? }
            }
            TOOL_CALL_DELTA => Self::ToolCallDelta {
                index: fields.u32("index")?,
                id: fields.text("id")?,
                name: fields.optional_text("name")?,
                arguments_delta: fields.text("argumentsDelta")?,
            },
            BLOCK_END => Self::BlockEnd {
                index: fields.u32("index")?,
                block: ContentBlock::from_json(fields.json("block")?)
                    .map_err(|error| error.within("block"))?,
            },
            USAGE => Self::Usage {
                usage: Usage::from_json(fields.json("usage")?).map_err(|error| error.within("usage"))?,
            },
            FINISH => Self::Finish {
                reason: Finish::from_json(fields.json("reason")?).map_err(|error| error.within("reason"))?,
                replay_state: fields.optional("replayState").cloned(),
            },
            _ => return Err(ShapeError::new("unknown chunk type").within("type")),
        };
        fields.end()?;
        Ok(chunk)
    }

    /// Refuses what [`from_json`](Self::from_json) would not read back as the same chunk.
    pub fn check(&self) -> Result<(), ShapeError> {
        match self {
            Self::BlockStart { block_type, .. } => crate::content::named(block_type, "blockType"),
            Self::BlockEnd { block, .. } => block.check().map_err(|error| error.within("block")),
            Self::TextDelta { .. }
            | Self::ReasoningDelta { .. }
            | Self::ToolCallDelta { .. }
            | Self::Usage { .. }
            | Self::Finish { .. } => Ok(()),
        }
    }
}

impl From<Chunk> for Json {
    fn from(chunk: Chunk) -> Self {
        chunk.to_json()
    }
}

impl TryFrom<Json> for Chunk {
    type Error = ShapeError;

    fn try_from(json: Json) -> Result<Self, ShapeError> {
        Self::from_json(&json)
    }
}

/// Tokens of one answer; the counts are disjoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "Json", into = "Json")]
pub struct Usage {
    /// Read, and not from a cache.
    pub input_tokens: u64,
    /// Written, and not reasoning.
    pub output_tokens: u64,
    /// Read from the provider's cache.
    pub cache_read_tokens: Option<u64>,
    /// Stored in the provider's cache.
    pub cache_write_tokens: Option<u64>,
    /// Thought.
    pub reasoning_tokens: Option<u64>,
}

impl Usage {
    /// The stored form.
    pub fn to_json(self) -> Json {
        let mut object = Object::with_capacity(5);
        object.insert("inputTokens", self.input_tokens);
        object.insert("outputTokens", self.output_tokens);
        let optional = [
            ("cacheReadTokens", self.cache_read_tokens),
            ("cacheWriteTokens", self.cache_write_tokens),
            ("reasoningTokens", self.reasoning_tokens),
        ];
        for (name, count) in optional {
            if let Some(count) = count {
                object.insert(name, count);
            }
        }
        object.into()
    }

    /// Reads the stored form.
    pub fn from_json(json: &Json) -> Result<Self, ShapeError> {
        let mut fields = Fields::of(json)?;
        let usage = Self {
            input_tokens: fields.u64("inputTokens")?,
            output_tokens: fields.u64("outputTokens")?,
            cache_read_tokens: fields.optional_u64("cacheReadTokens")?,
            cache_write_tokens: fields.optional_u64("cacheWriteTokens")?,
            reasoning_tokens: fields.optional_u64("reasoningTokens")?,
        };
        fields.end()?;
        Ok(usage)
    }
}

impl From<Usage> for Json {
    fn from(usage: Usage) -> Self {
        usage.to_json()
    }
}

impl TryFrom<Json> for Usage {
    type Error = ShapeError;

    fn try_from(json: Json) -> Result<Self, ShapeError> {
        Self::from_json(&json)
    }
}

const BLOCK_START: &str = "block-start";
const TEXT_DELTA: &str = "text-delta";
const REASONING_DELTA: &str = "reasoning-delta";
const TOOL_CALL_DELTA: &str = "tool-call-delta";
const BLOCK_END: &str = "block-end";
const USAGE: &str = "usage";
const FINISH: &str = "finish";

fn indexed(object: &mut Object, chunk_type: &'static str, index: u32) {
    object.insert("type", chunk_type);
    object.insert("index", index);
}

#[cfg(test)]
mod tests;
