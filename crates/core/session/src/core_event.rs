//! The events that this crate owns, as one closed set.

use crate::conversation::{AssistantChunk, AssistantMessage, ToolCall, ToolResult, UserMessage};
use crate::event::Event;
use crate::payload::Payload;
use crate::request::{RequestContext, RequestHeader};
use crate::turn::{EndSeed, StepEnd, StepStart, TurnEnd, TurnStart};

/// An event of this crate, read.
pub(crate) enum CoreEvent {
    TurnStart(TurnStart),
    TurnEnd(TurnEnd),
    StepStart(StepStart),
    StepEnd(StepEnd),
    User,
    Chunk(AssistantChunk),
    Assistant(AssistantMessage),
    Call(ToolCall),
    Result(ToolResult),
    Request,
    EndSeed,
}

impl CoreEvent {
    /// `None` for an event of another crate, and for one that does not fit its type.
    pub(crate) fn read(event: &Event) -> Option<Self> {
        let data = &event.data;
        match &*event.kind {
            TurnStart::TYPE => TurnStart::from_json(data).ok().map(Self::TurnStart),
            TurnEnd::TYPE => TurnEnd::from_json(data).ok().map(Self::TurnEnd),
            StepStart::TYPE => StepStart::from_json(data).ok().map(Self::StepStart),
            StepEnd::TYPE => StepEnd::from_json(data).ok().map(Self::StepEnd),
            UserMessage::TYPE => Some(Self::User),
            AssistantChunk::TYPE => AssistantChunk::from_json(data).ok().map(Self::Chunk),
            AssistantMessage::TYPE => AssistantMessage::from_json(data).ok().map(Self::Assistant),
            ToolCall::TYPE => ToolCall::from_json(data).ok().map(Self::Call),
            ToolResult::TYPE => ToolResult::from_json(data).ok().map(Self::Result),
            RequestHeader::TYPE | RequestContext::TYPE => Some(Self::Request),
            EndSeed::TYPE => Some(Self::EndSeed),
            _ => None,
        }
    }
}
