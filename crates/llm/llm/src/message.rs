//! Messages and where they come from.

use std::sync::Arc;

use dsh_json::{Json, Object};
use serde::{Deserialize, Serialize};

use crate::content::{Content, ContentBlock, content_from_json, content_to_json, named};
use crate::shape::{Fields, ShapeError};

/// Who speaks, in the protocol's sense; tool results are the user's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Everything that is told to the model.
    User,
    /// What the model said.
    Assistant,
}

impl Role {
    /// `user` or `assistant`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

/// Where a message comes from (spec 03 §2): who wrote it, not who it is attributed to. An open set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Json", into = "Json")]
pub enum Source {
    /// A person.
    User,
    /// A policy or tool that adds to the conversation.
    Plugin {
        /// Its name; never empty.
        plugin: Arc<str>,
        /// How a user interface may show it, such as `notice`.
        form: Option<Arc<str>>,
        /// Further fields of the plugin's own, such as `summary`.
        details: Object,
    },
    /// A model.
    Model {
        /// The provider that answered; never empty.
        provider: Arc<str>,
        /// The model that answered; never empty.
        model: Arc<str>,
        /// What the provider wants back with the next request, opaque.
        replay_state: Option<Json>,
    },
    /// A tool's answer.
    Tool {
        /// The call that it answers; never empty.
        call_id: Arc<str>,
    },
    /// A source of another kind, kept as it came: an object with a `kind` that this version does not know.
    Other(Json),
}

impl Source {
    /// A plugin's message without form or details.
    pub fn plugin(name: impl Into<Arc<str>>) -> Self {
        Self::Plugin { plugin: name.into(), form: None, details: Object::new() }
    }

    /// A plugin's message in the given form.
    pub fn plugin_form(name: impl Into<Arc<str>>, form: impl Into<Arc<str>>) -> Self {
        Self::Plugin { plugin: name.into(), form: Some(form.into()), details: Object::new() }
    }

    /// The stored form.
    pub fn to_json(&self) -> Json {
        let mut object = Object::with_capacity(4);
        match self {
            Self::User => {
                object.insert("kind", USER);
            }
            Self::Plugin { plugin, form, details } => {
                object.insert("kind", PLUGIN);
                object.insert("plugin", Arc::clone(plugin));
                if let Some(form) = form {
                    object.insert("form", Arc::clone(form));
                }
                for (name, value) in details {
                    object.insert(Arc::clone(name), value.clone());
                }
            }
            Self::Model { provider, model, replay_state } => {
                object.insert("kind", MODEL);
                object.insert("provider", Arc::clone(provider));
                object.insert("model", Arc::clone(model));
                if let Some(state) = replay_state {
                    object.insert("replayState", state.clone());
                }
            }
            Self::Tool { call_id } => {
                object.insert("kind", TOOL);
                object.insert("callId", Arc::clone(call_id));
            }
            Self::Other(json) => return json.clone(),
        }
        object.into()
    }

    /// Reads the stored form. A kind that is known must fit; an unknown one is kept.
    pub fn from_json(json: &Json) -> Result<Self, ShapeError> {
        let mut fields = Fields::of(json)?;
        let source = match &*fields.name("kind")? {
            USER => Self::User,
            PLUGIN => {
                let plugin = fields.name("plugin")?;
                let form = fields.optional_text("form")?;
                let details = fields.rest().map(|(name, value)| (Arc::clone(name), value.clone())).collect();
                return Ok(Self::Plugin { plugin, form, details });
            }
            MODEL => Self::Model {
                provider: fields.name("provider")?,
                model: fields.name("model")?,
                replay_state: fields.optional("replayState").cloned(),
            },
            TOOL => Self::Tool { call_id: fields.name("callId")? },
            _ => return Ok(Self::Other(json.clone())),
        };
        fields.end()?;
        Ok(source)
    }

    fn check(&self) -> Result<(), ShapeError> {
        match self {
            Self::User => Ok(()),
            Self::Plugin { plugin, details, .. } => {
                named(plugin, "plugin")?;
                match ["kind", "plugin", "form"].into_iter().find(|name| details.contains_key(name)) {
                    None => Ok(()),
                    Some(name) => Err(ShapeError::new("a detail can't replace this field").within(name)),
                }
            }
            Self::Model { provider, model, .. } => {
                named(provider, "provider")?;
                named(model, "model")
            }
            Self::Tool { call_id } => named(call_id, "callId"),
            Self::Other(json) => {
                let kind = Fields::of(json)?.name("kind")?;
                if [USER, PLUGIN, MODEL, TOOL].contains(&&*kind) {
                    return Err(ShapeError::new("a known kind kept as unknown").within("kind"));
                }
                Ok(())
            }
        }
    }
}

impl From<Source> for Json {
    fn from(source: Source) -> Self {
        source.to_json()
    }
}

impl TryFrom<Json> for Source {
    type Error = ShapeError;

    fn try_from(json: Json) -> Result<Self, ShapeError> {
        Self::from_json(&json)
    }
}

/// One message of a conversation: `{"id","role","content","source"}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Json", into = "Json")]
pub struct Message {
    /// Unique in its session; never empty.
    pub id: Arc<str>,
    /// Who speaks.
    pub role: Role,
    /// What is said; may be empty.
    pub content: Content,
    /// Where it comes from.
    pub source: Source,
}

impl Message {
    /// The tool-call blocks, in the order in which the model wrote them.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ContentBlock> {
        self.content.iter().filter(|block| matches!(block, ContentBlock::ToolCall { .. }))
    }

    /// The rules of message shape (spec 03 §5): an id; an assistant's source is a model with provider and model, and no
    /// one else's is; a tool's answer holds exactly one tool-result block, for the call that its source names.
    /// [`from_json`](Self::from_json) applies them too.
    pub fn check(&self) -> Result<(), ShapeError> {
        named(&self.id, "id")?;
        self.source.check().map_err(|error| error.within("source"))?;
        for (index, block) in self.content.iter().enumerate() {
            block.check().map_err(|error| error.at(index).within("content"))?;
        }
        self.check_relations()
    }

    /// The stored form.
    pub fn to_json(&self) -> Json {
        let mut object = Object::with_capacity(4);
        object.insert("id", Arc::clone(&self.id));
        object.insert("role", self.role.as_str());
        object.insert("content", content_to_json(&self.content));
        object.insert("source", self.source.to_json());
        object.into()
    }

    /// Reads the stored form; strings are shared with `json`. Refuses exactly what [`check`](Self::check) refuses, and
    /// values that are no message at all.
    pub fn from_json(json: &Json) -> Result<Self, ShapeError> {
        let mut fields = Fields::of(json)?;
        let id = fields.name("id")?;
        let role = match &*fields.text("role")? {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            _ => return Err(ShapeError::new("expected `user` or `assistant`").within("role")),
        };
        let content = content_from_json(fields.json("content")?).map_err(|error| error.within("content"))?;
        let source = Source::from_json(fields.json("source")?).map_err(|error| error.within("source"))?;
        fields.end()?;
        let message = Self { id, role, content, source };
        message.check_relations()?;
        Ok(message)
    }

    fn check_relations(&self) -> Result<(), ShapeError> {
        let by_model = matches!(self.source, Source::Model { .. });
        if by_model != (self.role == Role::Assistant) {
            return Err(ShapeError::new("`model` is the source of assistant messages, and of no others")
                .within("source"));
        }
        let Source::Tool { call_id } = &self.source else { return Ok(()) };
        match &*self.content {
            [ContentBlock::ToolResult { tool_call_id, .. }] if tool_call_id == call_id => Ok(()),
            _ => Err(ShapeError::new("expected one tool-result block for the call that the source names")
                .within("content")),
        }
    }
}

impl From<Message> for Json {
    fn from(message: Message) -> Self {
        message.to_json()
    }
}

impl TryFrom<Json> for Message {
    type Error = ShapeError;

    fn try_from(json: Json) -> Result<Self, ShapeError> {
        Self::from_json(&json)
    }
}

const USER: &str = "user";
const PLUGIN: &str = "plugin";
const MODEL: &str = "model";
const TOOL: &str = "tool";

#[cfg(test)]
mod tests;
