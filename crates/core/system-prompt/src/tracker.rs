//! When the conversation needs a new snapshot of the runtime contexts.

use std::sync::Arc;

use dsh_json::{Json, Object, object};
use dsh_lifecycle::Ids;
use dsh_llm::{ContentBlock, Message, Role, Source, text};

use crate::{AssembledText, ContextSnapshot};

/// The plugin that snapshot messages name as their source.
pub const CONTEXT_PLUGIN: &str = "system-prompt";

/// The form of snapshot messages.
pub const CONTEXT_FORM: &str = "snapshot";

/// What the model was last told about the runtime contexts (spec 11 §A.6).
///
/// It is read off the messages that the model will get, so it holds after a resumed session and after a compaction that
/// took the snapshot away; nothing has to be told to it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContextTracker {
    retained: Option<Arc<str>>,
}

/// What the conversation needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContextUpdate {
    /// Nothing: the model knows.
    Unchanged,
    /// The new snapshot.
    Changed(ContextSnapshot),
    /// One message which says that what was told no longer holds.
    Emptied,
}

impl ContextTracker {
    /// For a conversation whose last snapshot message has this text; `None` when there is none.
    pub fn new(retained: Option<Arc<str>>) -> Self {
        Self { retained }
    }

    /// For this conversation. Looks for its last snapshot message, from the end.
    pub fn from_messages(messages: &[Arc<Message>]) -> Self {
        let last = messages.iter().rev().find(|message| is_snapshot(message));
        Self::new(last.and_then(|message| message.content.first()).map(|block| match block {
            ContentBlock::Text { text } => Arc::clone(text),
            ContentBlock::Reasoning { .. }
            | ContentBlock::Image { .. }
            | ContentBlock::ToolCall { .. }
            | ContentBlock::ToolResult { .. }
            | ContentBlock::Other(_) => "".into(),
        }))
    }

    /// Compares what the model was told with what holds now.
    pub fn update(&self, now: &ContextSnapshot) -> ContextUpdate {
        match (self.retained.as_deref(), &*now.text) {
            (None | Some(CONTEXT_EMPTIED), "") => ContextUpdate::Unchanged,
            (Some(_), "") => ContextUpdate::Emptied,
            (Some(told), holds) if told == holds => ContextUpdate::Unchanged,
            (None | Some(_), _) => ContextUpdate::Changed(now.clone()),
        }
    }
}

impl ContextUpdate {
    /// The message to append, behind the other messages of the step; a fresh id is taken only if there is one.
    pub fn into_message(self, ids: &dyn Ids) -> Option<Message> {
        let (words, sections) = match self {
            Self::Unchanged => return None,
            Self::Changed(snapshot) => (snapshot.text, snapshot.sections),
            Self::Emptied => (CONTEXT_EMPTIED.to_owned(), vec![]),
        };
        let mut details = Object::new();
        details.insert("sections", sections.into_iter().map(section_json).collect::<Vec<Json>>());
        let source =
            Source::Plugin { plugin: CONTEXT_PLUGIN.into(), form: Some(CONTEXT_FORM.into()), details };
        Some(Message { id: ids.fresh(), role: Role::User, content: text(words), source })
    }
}

fn section_json(AssembledText { name, text }: AssembledText) -> Json {
    object! { "name": name, "text": text }
}

fn is_snapshot(message: &Message) -> bool {
    match &message.source {
        Source::Plugin { plugin, form, .. } => {
            &**plugin == CONTEXT_PLUGIN && form.as_deref() == Some(CONTEXT_FORM)
        }
        Source::User | Source::Model { .. } | Source::Tool { .. } | Source::Other(_) => false,
    }
}

/// Told once, when no context is left.
const CONTEXT_EMPTIED: &str = "What earlier messages said about the current state of this session no longer applies. Nothing takes its place.";
