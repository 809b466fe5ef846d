//! The history as turns that the protocol takes.

use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;

use dsh_json::{Json, Object, object};
use dsh_llm::{ContentBlock, Message, Role, plain_text};

/// One side's words until the other speaks.
#[derive(Debug)]
pub(crate) enum Turn {
    User(Vec<Part>),
    Assistant { text: String, reasoning: String, calls: Vec<Call> },
}

#[derive(Debug)]
pub(crate) enum Part {
    Text(String),
    Image(Arc<str>),
}

#[derive(Debug)]
pub(crate) struct Call {
    id: Arc<str>,
    name: Arc<str>,
    arguments: Arc<str>,
    result: String,
}

/// What a call without a result is answered with.
const NO_RESULT: &str =
    "Error: no result of this call is on record. Whether it ran is unknown: look before you repeat it.";
/// What stands before the words of a result without a call.
const NO_CALL: &str = "A tool answered a call that is not part of this conversation:";

/// The turns of a history, none of them empty.
pub(crate) fn turns(messages: &[Arc<Message>]) -> Vec<Turn> {
    let mut results = Results::of(messages);
    let mut turns = vec![];
    // Whether a result came since the last answer, so that more words are a new one.
    let mut answered = false;
    for message in messages {
        match message.role {
            Role::User => answered |= user(message, &mut results, &mut turns),
            Role::Assistant => {
                let goes_on = matches!(turns.last(), Some(Turn::Assistant { calls, .. }) if calls.is_empty() || !answered);
                if !goes_on {
                    turns.push(Turn::Assistant {
                        text: String::new(),
                        reasoning: String::new(),
                        calls: vec![],
                    });
                }
                answered = false;
                if let Some(turn) = turns.last_mut() {
                    turn.assistant(message, &mut results);
                }
                // Reasoning alone says nothing to anyone.
                turns.pop_if(|turn| matches!(turn, Turn::Assistant { text, calls, .. } if text.is_empty() && calls.is_empty()));
            }
        }
    }
    turns
}

impl Turn {
    fn assistant(&mut self, message: &Message, results: &mut Results<'_>) {
        let Self::Assistant { text, reasoning, calls } = self else { return };
        let (mut said, mut thought) = (String::new(), String::new());
        for block in message.content.iter() {
            match block {
                ContentBlock::Text { text } => line(&mut said, text),
                ContentBlock::Reasoning { text } => line(&mut thought, text),
                ContentBlock::ToolCall { id, name, arguments, .. } => calls.push(Call {
                    id: Arc::clone(id),
                    name: Arc::clone(name),
                    arguments: Arc::clone(arguments),
                    result: results.take(id).map_or_else(|| NO_RESULT.to_owned(), plain_text),
                }),
                ContentBlock::Image { .. } | ContentBlock::ToolResult { .. } | ContentBlock::Other(_) => {}
            }
        }
        paragraph(text, &said);
        paragraph(reasoning, &thought);
    }

    /// Appends the messages of this turn.
    pub(crate) fn write(self, with_reasoning: bool, out: &mut Vec<Json>) {
        match self {
            Self::User(mut parts) => {
                let content = match &mut *parts {
                    [Part::Text(text)] => Json::from(mem::take(text)),
                    _ => parts.into_iter().map(Part::into_json).collect::<Vec<_>>().into(),
                };
                out.push(object! { "role": "user", "content": content });
            }
            Self::Assistant { text, reasoning, calls } => {
                let mut message = Object::with_capacity(4);
                message.insert("role", "assistant");
                message.insert("content", if text.is_empty() { Json::Null } else { text.into() });
                if with_reasoning {
                    message.insert("reasoning_content", reasoning);
                }
                if !calls.is_empty() {
                    message.insert("tool_calls", calls.iter().map(Call::asked).collect::<Vec<_>>());
                }
                out.push(message.into());
                out.extend(calls.into_iter().map(Call::answered));
            }
        }
    }
}

impl Part {
    fn into_json(self) -> Json {
        match self {
            Self::Text(text) => object! { "type": "text", "text": text },
            Self::Image(url) => object! { "type": "image_url", "image_url": object! { "url": url } },
        }
    }
}

impl Call {
    fn asked(&self) -> Json {
        let function = object! { "name": Arc::clone(&self.name), "arguments": Arc::clone(&self.arguments) };
        object! { "id": Arc::clone(&self.id), "type": "function", "function": function }
    }

    fn answered(self) -> Json {
        object! { "role": "tool", "tool_call_id": self.id, "content": self.result }
    }
}

/// Adds a message to the user's turn. Whether it had results that stand with their calls.
fn user(message: &Message, results: &mut Results<'_>, turns: &mut Vec<Turn>) -> bool {
    let mut answered = false;
    let mut parts = vec![];
    let mut text = String::new();
    for block in message.content.iter() {
        match block {
            ContentBlock::Text { text: words } => line(&mut text, words),
            ContentBlock::Image { attachment } => match data_url(attachment) {
                None => line(&mut text, "[image]"),
                Some(url) => {
                    parts.extend((!text.is_empty()).then(|| Part::Text(mem::take(&mut text))));
                    parts.push(Part::Image(url));
                }
            },
            ContentBlock::ToolResult { tool_call_id, .. } if results.was_taken(tool_call_id) => {
                answered = true;
            }
            ContentBlock::ToolResult { content, .. } => {
                line(&mut text, &format!("{NO_CALL}\n{}", plain_text(content)));
            }
            ContentBlock::Reasoning { .. } | ContentBlock::ToolCall { .. } | ContentBlock::Other(_) => {
                line(&mut text, &format!("[{}]", block.block_type()));
            }
        }
    }
    parts.extend((!text.is_empty()).then_some(Part::Text(text)));
    if parts.is_empty() {
        return answered;
    }
    let Some(Turn::User(held)) = turns.last_mut() else {
        turns.push(Turn::User(parts));
        return answered;
    };
    for part in parts {
        match (held.last_mut(), part) {
            (Some(Part::Text(last)), Part::Text(text)) => paragraph(last, &text),
            (_, part) => held.push(part),
        }
    }
    answered
}

/// The results of a history, each given to one call before it.
struct Results<'a> {
    /// By call, the latest first.
    waiting: BTreeMap<&'a str, Vec<&'a [ContentBlock]>>,
    /// How many were taken and have not been met in the history.
    taken: BTreeMap<&'a str, usize>,
}

impl<'a> Results<'a> {
    fn of(messages: &'a [Arc<Message>]) -> Self {
        let mut waiting: BTreeMap<&str, Vec<_>> = BTreeMap::new();
        let mut open: BTreeMap<&str, usize> = BTreeMap::new();
        for block in messages.iter().flat_map(|message| message.content.iter()) {
            match block {
                ContentBlock::ToolCall { id, .. } => *open.entry(id).or_default() += 1,
                ContentBlock::ToolResult { tool_call_id, content, .. } => {
                    if let Some(open) = open.get_mut(&**tool_call_id).filter(|open| **open > 0) {
                        *open -= 1;
                        waiting.entry(tool_call_id).or_default().push(&**content);
                    }
                }
                ContentBlock::Text { .. }
                | ContentBlock::Reasoning { .. }
                | ContentBlock::Image { .. }
                | ContentBlock::Other(_) => {}
            }
        }
        for results in waiting.values_mut() {
            results.reverse();
        }
        Self { waiting, taken: BTreeMap::new() }
    }

    fn take(&mut self, id: &'_ str) -> Option<&'a [ContentBlock]> {
        let (key, waiting) =
            self.waiting.get_key_value(id).map(|(key, _)| *key).zip(self.waiting.get_mut(id))?;
        let result = waiting.pop()?;
        *self.taken.entry(key).or_default() += 1;
        Some(result)
    }

    /// Whether the next result of this call stands with it already.
    fn was_taken(&mut self, id: &str) -> bool {
        let Some(taken) = self.taken.get_mut(id).filter(|taken| **taken > 0) else { return false };
        *taken -= 1;
        true
    }
}

fn data_url(attachment: &Json) -> Option<Arc<str>> {
    match attachment.get("url").unwrap_or(attachment) {
        Json::String(url) if url.starts_with("data:image/") => Some(Arc::clone(url)),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_) | Json::Object(_) => {
            None
        }
    }
}

fn line(text: &mut String, more: &str) {
    join(text, "\n", more);
}

fn paragraph(text: &mut String, more: &str) {
    join(text, "\n\n", more);
}

fn join(text: &mut String, between: &str, more: &str) {
    if !text.is_empty() && !more.is_empty() {
        text.push_str(between);
    }
    text.push_str(more);
}
