//! The conversation as the demonstration sees it: its calls since a person last spoke, each with its answer.

use std::collections::BTreeMap;
use std::sync::Arc;

use dsh_json::Json;
use dsh_llm::{ContentBlock, Message, Role, Source, plain_text};

use super::programs::unfolded;

/// What happened since a person last spoke.
pub(super) struct Turn {
    /// How many times the model has answered.
    pub(super) rounds: usize,
    /// The tool calls, in the order in which they were made; also those that were made through a program.
    pub(super) calls: Vec<Called>,
    /// How many tool calls there are in the whole conversation, so that new ids are new.
    pub(super) earlier_calls: usize,
}

/// What a tool call brought.
pub(super) enum Answer {
    /// What a model reads.
    Text(String),
    /// What a program gets, cut to what it returned.
    Value(Json),
}

/// One tool call.
pub(super) struct Called {
    pub(super) name: Arc<str>,
    pub(super) arguments: Json,
    /// `Err` for a failed call; absent when it was never answered.
    pub(super) answer: Option<Result<Answer, String>>,
}

impl Turn {
    pub(super) fn of(messages: &[Arc<Message>]) -> Self {
        let spoken = messages.iter().rposition(|message| message.source == Source::User);
        let recent = messages.get(spoken.map_or(0, |at| at + 1)..).unwrap_or_default();
        let mut answers = answers(recent);
        let by_model = || recent.iter().filter(|message| message.role == Role::Assistant);
        let calls = by_model().flat_map(|message| message.tool_calls()).filter_map(|block| match block {
            ContentBlock::ToolCall { id, name, arguments, .. } => Some(Called {
                name: Arc::clone(name),
                // Its own calls are well formed; those of another model say nothing to it.
                arguments: Json::parse(arguments).unwrap_or(Json::Null),
                answer: answers.remove(id),
            }),
            ContentBlock::Text { .. }
            | ContentBlock::Reasoning { .. }
            | ContentBlock::Image { .. }
            | ContentBlock::ToolResult { .. }
            | ContentBlock::Other(_) => None,
        });
        Self {
            calls: calls.flat_map(unfolded).collect(),
            rounds: by_model().count(),
            earlier_calls: messages.iter().map(|message| message.tool_calls().count()).sum(),
        }
    }
}

impl Answer {
    /// The value that it is, or that its text begins with.
    pub(super) fn value(&self) -> Option<Json> {
        match self {
            Self::Text(text) => {
                // Notes may follow on lines of their own.
                let end = text.rfind("\n}").max(text.rfind("\n]")).map_or(text.len(), |end| end + 2);
                Json::parse(text.get(..end)?).ok()
            }
            Self::Value(value) => Some(value.clone()),
        }
    }
}

impl Called {
    pub(super) fn argument(&self, name: &str) -> Option<&str> {
        self.arguments.get(name).and_then(Json::as_str)
    }
}

fn answers(messages: &[Arc<Message>]) -> BTreeMap<&Arc<str>, Result<Answer, String>> {
    let blocks = messages.iter().flat_map(|message| message.content.iter());
    blocks
        .filter_map(|block| match block {
            ContentBlock::ToolResult { tool_call_id, content, is_error } => {
                let text = plain_text(content);
                Some((tool_call_id, if *is_error { Err(text) } else { Ok(Answer::Text(text)) }))
            }
            ContentBlock::Text { .. }
            | ContentBlock::Reasoning { .. }
            | ContentBlock::Image { .. }
            | ContentBlock::ToolCall { .. }
            | ContentBlock::Other(_) => None,
        })
        .collect()
}
