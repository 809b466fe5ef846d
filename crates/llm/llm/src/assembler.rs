//! From chunks to one answer: bounded, and with a defined result for whatever a stream does.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dsh_json::Json;

use crate::chunk::{Chunk, Usage};
use crate::content::{Content, ContentBlock};
use crate::finish::{ErrorFacts, Finish};

/// The code of a stream that contradicts itself.
pub const STREAM_INVALID: &str = "STREAM_INVALID";
/// The code of a stream that ended without a finish.
pub const STREAM_ENDED_EARLY: &str = "STREAM_ENDED_EARLY";
/// The code of an answer over one of the [`AssemblyLimits`].
pub const MODEL_OUTPUT_TOO_LONG: &str = "MODEL_OUTPUT_TOO_LONG";

/// How much of an answer is held at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AssemblyLimits {
    /// Blocks in one answer.
    pub max_blocks: usize,
    /// Bytes of text in all blocks together.
    pub max_bytes: usize,
}

impl Default for AssemblyLimits {
    /// 4,096 blocks, 64 MiB.
    fn default() -> Self {
        Self { max_blocks: 4_096, max_bytes: 64 << 20 }
    }
}

/// Puts an answer together from its chunks (spec 02 C.3).
///
/// - Blocks are ordered by index, however their chunks interleave; a delta for an index that was not started starts it.
/// - A block's end wins over its deltas. Blocks without any text are left out.
/// - A contradiction (a text delta for a tool call, a chunk after its block's end, a second call id, a call without a
///   name, a tool result) ends the answer with [`Finish::Error`] and [`STREAM_INVALID`].
/// - A stream without a finish ends with [`STREAM_ENDED_EARLY`], one over a limit with [`MODEL_OUTPUT_TOO_LONG`].
/// - After the first finish or fault nothing more is taken.
#[derive(Debug, Clone, Default)]
pub struct Assembler {
    limits: AssemblyLimits,
    blocks: BTreeMap<u32, Slot>,
    bytes: usize,
    usage: Option<Usage>,
    end: Option<(Finish, Option<Json>)>,
}

/// One answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Assembled {
    /// The blocks. After [`Finish::MaxTokens`] without tool calls: their arguments may be cut, so none of them may run.
    /// A tool call has a non-empty id; the stream may have used one id twice.
    pub content: Content,
    /// The last usage that was told.
    pub usage: Option<Usage>,
    /// Why it ended.
    pub finish: Finish,
    /// What the provider wants back; absent when it would speak of tool calls that were left out.
    pub replay_state: Option<Json>,
}

impl Assembler {
    /// An assembler with bounds of its own.
    pub fn new(limits: AssemblyLimits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// Takes the next chunk.
    pub fn push(&mut self, chunk: &Chunk) {
        if self.is_over() {
            return;
        }
        if let Err(facts) = self.take(chunk) {
            self.end = Some((Finish::Error(facts), None));
        }
    }

    /// Whether a finish or a fault was seen, so that the stream needs no more reading.
    pub fn is_over(&self) -> bool {
        self.end.is_some()
    }

    /// The answer.
    pub fn finish(self) -> Assembled {
        let early = || {
            let facts =
                ErrorFacts::new(STREAM_ENDED_EARLY, "the model's answer ended before it was finished");
            (Finish::Error(facts), None)
        };
        let (mut finish, mut replay_state) = self.end.unwrap_or_else(early);
        let mut blocks: Vec<ContentBlock> = self.blocks.into_values().filter_map(Slot::into_block).collect();
        if finish == Finish::MaxTokens {
            let before = blocks.len();
            blocks.retain(|block| !matches!(block, ContentBlock::ToolCall { .. }));
            if blocks.len() < before {
                replay_state = None;
            }
        }
        name_calls(&mut blocks);
        if matches!(finish, Finish::Stop | Finish::ToolCalls) && blocks.iter().any(is_nameless_call) {
            finish = Finish::Error(invalid("a tool call without a name"));
            replay_state = None;
        }
        Assembled { content: blocks.into(), usage: self.usage, finish, replay_state }
    }

    fn take(&mut self, chunk: &Chunk) -> Result<(), ErrorFacts> {
        match chunk {
            Chunk::BlockStart { index, block_type } => {
                if self.blocks.contains_key(index) {
                    return Err(invalid("a block that starts twice"));
                }
                self.grow(block_type.len())?;
                self.slot(*index, Draft::of(block_type)).map(drop)
            }
            Chunk::TextDelta { index, text } => {
                self.grow(text.len())?;
                match self.slot(*index, Draft::Text(String::new()))? {
                    Draft::Text(held) => held.push_str(text),
                    Draft::Reasoning(_) | Draft::Call { .. } | Draft::Foreign => return Err(other_kind()),
                }
                Ok(())
            }
            Chunk::ReasoningDelta { index, text } => {
                self.grow(text.len())?;
                match self.slot(*index, Draft::Reasoning(String::new()))? {
                    Draft::Reasoning(held) => held.push_str(text),
                    Draft::Text(_) | Draft::Call { .. } | Draft::Foreign => return Err(other_kind()),
                }
                Ok(())
            }
            Chunk::ToolCallDelta { index, id, name, arguments_delta } => {
                self.grow(id.len() + name.as_ref().map_or(0, |name| name.len()) + arguments_delta.len())?;
                match self.slot(*index, Draft::call())? {
                    Draft::Call { id: held_id, name: held_name, arguments } => {
                        settle(held_id, id)?;
                        settle(held_name, name.as_deref().unwrap_or_default())?;
                        arguments.push_str(arguments_delta);
                    }
                    Draft::Text(_) | Draft::Reasoning(_) | Draft::Foreign => return Err(other_kind()),
                }
                Ok(())
            }
            Chunk::BlockEnd { index, block } => self.end_block(*index, block),
            Chunk::Usage { usage } => {
                self.usage = Some(*usage);
                Ok(())
            }
            Chunk::Finish { reason, replay_state } => {
                self.end = Some((reason.clone(), replay_state.clone()));
                Ok(())
            }
        }
    }

    fn end_block(&mut self, index: u32, block: &ContentBlock) -> Result<(), ErrorFacts> {
        let fits = match block {
            ContentBlock::ToolResult { .. } => return Err(invalid("a tool result in a model's answer")),
            ContentBlock::Other(_) if block.check().is_err() => {
                return Err(invalid("a block without a type"));
            }
            ContentBlock::Text { .. } => |draft: &Draft| matches!(draft, Draft::Text(_)),
            ContentBlock::Reasoning { .. } => |draft: &Draft| matches!(draft, Draft::Reasoning(_)),
            ContentBlock::ToolCall { .. } => |draft: &Draft| matches!(draft, Draft::Call { .. }),
            ContentBlock::Image { .. } | ContentBlock::Other(_) => {
                |draft: &Draft| matches!(draft, Draft::Foreign)
            }
        };
        let replaced = match self.blocks.get(&index) {
            None => 0,
            Some(Slot::Open(draft)) if fits(draft) => draft.len(),
            Some(Slot::Open(_)) => return Err(other_kind()),
            Some(Slot::Done(_)) => return Err(after_end()),
        };
        self.room_for_block(index)?;
        self.bytes = self.bytes.saturating_sub(replaced);
        self.grow(block_len(block))?;
        self.blocks.insert(index, Slot::Done(block.clone()));
        Ok(())
    }

    /// The open block at `index`, started as `fresh` when it is new.
    fn slot(&mut self, index: u32, fresh: Draft) -> Result<&mut Draft, ErrorFacts> {
        self.room_for_block(index)?;
        match self.blocks.entry(index).or_insert(Slot::Open(fresh)) {
            Slot::Open(draft) => Ok(draft),
            Slot::Done(_) => Err(after_end()),
        }
    }

    fn room_for_block(&self, index: u32) -> Result<(), ErrorFacts> {
        if self.blocks.len() < self.limits.max_blocks || self.blocks.contains_key(&index) {
            return Ok(());
        }
        let limit = self.limits.max_blocks;
        Err(ErrorFacts::new(
            MODEL_OUTPUT_TOO_LONG,
            format!("the model's answer has more than {limit} blocks, the limit"),
        ))
    }

    fn grow(&mut self, by: usize) -> Result<(), ErrorFacts> {
        self.bytes = self.bytes.saturating_add(by);
        if self.bytes <= self.limits.max_bytes {
            return Ok(());
        }
        let limit = self.limits.max_bytes;
        Err(ErrorFacts::new(
            MODEL_OUTPUT_TOO_LONG,
            format!("the model's answer is longer than {limit} bytes, the limit"),
        ))
    }
}

#[derive(Debug, Clone)]
enum Slot {
    Open(Draft),
    Done(ContentBlock),
}

/// A block while it arrives.
#[derive(Debug, Clone)]
enum Draft {
    Text(String),
    Reasoning(String),
    Call {
        id: String,
        name: String,
        arguments: String,
    },
    /// Of a type that has no deltas: only its end can tell what it is.
    Foreign,
}

impl Draft {
    fn of(block_type: &str) -> Self {
        match block_type {
            "text" => Self::Text(String::new()),
            "reasoning" => Self::Reasoning(String::new()),
            "tool-call" => Self::call(),
            _ => Self::Foreign,
        }
    }

    fn call() -> Self {
        Self::Call { id: String::new(), name: String::new(), arguments: String::new() }
    }

    fn len(&self) -> usize {
        match self {
            Self::Text(text) | Self::Reasoning(text) => text.len(),
            Self::Call { id, name, arguments } => id.len() + name.len() + arguments.len(),
            Self::Foreign => 0,
        }
    }
}

impl Slot {
    /// The block that it became; `None` when nothing was said.
    fn into_block(self) -> Option<ContentBlock> {
        let block = match self {
            Self::Done(block) => block,
            Self::Open(Draft::Foreign) => return None,
            Self::Open(Draft::Text(text)) => ContentBlock::Text { text: text.into() },
            Self::Open(Draft::Reasoning(text)) => ContentBlock::Reasoning { text: text.into() },
            Self::Open(Draft::Call { id, name, arguments }) => ContentBlock::ToolCall {
                id: id.into(),
                name: name.into(),
                arguments: arguments.into(),
                provider_call_id: None,
            },
        };
        match &block {
            ContentBlock::Text { text } | ContentBlock::Reasoning { text } if text.is_empty() => None,
            ContentBlock::Text { .. }
            | ContentBlock::Reasoning { .. }
            | ContentBlock::Image { .. }
            | ContentBlock::ToolCall { .. }
            | ContentBlock::ToolResult { .. }
            | ContentBlock::Other(_) => Some(block),
        }
    }
}

/// Gives each call without an id one that no other call of the answer has.
fn name_calls(blocks: &mut [ContentBlock]) {
    let mut taken: BTreeSet<Arc<str>> = blocks.iter().filter_map(call_id).cloned().collect();
    let mut number = 0_usize;
    for block in blocks {
        let ContentBlock::ToolCall { id, .. } = block else { continue };
        while id.is_empty() {
            let candidate: Arc<str> = format!("call-{number}").into();
            number += 1;
            if taken.insert(Arc::clone(&candidate)) {
                *id = candidate;
            }
        }
    }
}

fn call_id(block: &ContentBlock) -> Option<&Arc<str>> {
    match block {
        ContentBlock::ToolCall { id, .. } => Some(id),
        ContentBlock::Text { .. }
        | ContentBlock::Reasoning { .. }
        | ContentBlock::Image { .. }
        | ContentBlock::ToolResult { .. }
        | ContentBlock::Other(_) => None,
    }
}

fn is_nameless_call(block: &ContentBlock) -> bool {
    matches!(block, ContentBlock::ToolCall { name, .. } if name.is_empty())
}

/// A name that arrives once, and may be repeated as it was.
fn settle(held: &mut String, told: &str) -> Result<(), ErrorFacts> {
    if held.is_empty() {
        held.push_str(told);
    } else if !told.is_empty() && held != told {
        return Err(invalid("a tool call that changes its id or name"));
    }
    Ok(())
}

fn block_len(block: &ContentBlock) -> usize {
    match block {
        ContentBlock::Text { text } | ContentBlock::Reasoning { text } => text.len(),
        ContentBlock::ToolCall { id, name, arguments, .. } => id.len() + name.len() + arguments.len(),
        ContentBlock::Image { .. } | ContentBlock::ToolResult { .. } | ContentBlock::Other(_) => {
            block.to_json().to_text().len()
        }
    }
}

fn other_kind() -> ErrorFacts {
    invalid("a block that changes its type")
}

fn after_end() -> ErrorFacts {
    invalid("a chunk for a block that had ended")
}

fn invalid(what: &str) -> ErrorFacts {
    ErrorFacts::new(STREAM_INVALID, format!("the model's stream can't be understood: {what}"))
}

#[cfg(test)]
mod tests;
