//! The body of a request.

use std::sync::Arc;

use dsh_json::{Json, Object, object};
use dsh_llm::ModelRequest;
use serde::Deserialize;

use crate::history::{Turn, turns};

/// How the protocol is spoken with one server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Dialect {
    /// How the ceiling for an answer is spelt.
    pub max_tokens_field: MaxTokensField,
    /// Whether assistant messages carry `reasoning_content` in conversations with tools. `DeepSeek`'s thinking models
    /// refuse a request in which one lacks it, even an empty one, and ignore it otherwise.
    pub send_reasoning: bool,
}

/// The field for the ceiling of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MaxTokensField {
    /// `max_tokens`
    #[default]
    MaxTokens,
    /// `max_completion_tokens`
    MaxCompletionTokens,
}

/// The JSON text that is sent. A pure function: the same request gives the same bytes.
///
/// Whatever the history holds, the result is valid for the protocol:
///
/// - Messages of one role in a row become one, joined by an empty line.
/// - Results follow the message that called, in the order of its calls. A call without a result gets one that says so; a
///   result without a call is told as the user's words.
/// - Arguments are passed on as the model wrote them; an error's text stays.
/// - Reasoning is left out, unless the dialect wants it. Of other blocks a user's message keeps a marker such as `[image]`,
///   an assistant's nothing; an image whose attachment is a `data:` URL, or an object with one as `url`, is sent.
/// - Messages with nothing left in them are left out.
pub fn request_body(request: &ModelRequest, model: &str, dialect: Dialect) -> String {
    let mut body = Object::with_capacity(6);
    body.insert("model", model);
    body.insert("messages", messages(request, dialect));
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            object! {
                "type": "function",
                "function": object! {
                    "name": Arc::clone(&tool.name),
                    "description": Arc::clone(&tool.description),
                    "parameters": tool.parameters.clone(),
                },
            }
        });
        body.insert("tools", tools.collect::<Vec<Json>>());
    }
    if let Some(ceiling) = request.max_tokens {
        let field = match dialect.max_tokens_field {
            MaxTokensField::MaxTokens => "max_tokens",
            MaxTokensField::MaxCompletionTokens => "max_completion_tokens",
        };
        body.insert(field, ceiling);
    }
    body.insert("stream", true);
    body.insert("stream_options", object! { "include_usage": true });
    Json::from(body).to_text()
}

fn messages(request: &ModelRequest, dialect: Dialect) -> Json {
    let turns = turns(&request.messages);
    let calls = turns.iter().any(|turn| matches!(turn, Turn::Assistant { calls, .. } if !calls.is_empty()));
    let with_reasoning = dialect.send_reasoning && (calls || !request.tools.is_empty());
    let mut out = vec![];
    if let Some(system) = request.system.as_ref().filter(|system| !system.is_empty()) {
        out.push(object! { "role": "system", "content": Arc::clone(system) });
    }
    for turn in turns {
        turn.write(with_reasoning, &mut out);
    }
    out.into()
}
#[cfg(test)]
mod tests;
