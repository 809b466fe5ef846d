//! What one event of an answer means.

use std::sync::Arc;

use dsh_json::Json;

use crate::calls::Piece;
use crate::complaint::Complaint;
use crate::usage::usage;

/// What a string of an event is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Effect {
    /// More text.
    Words,
    /// More reasoning.
    Thought,
    /// More of a tool call, whose arguments the string is.
    Call(Piece),
}

impl Effect {
    /// The effect of an event that has one and nothing else, and its string.
    pub(crate) fn only(event: &Json) -> Option<(Self, Arc<str>)> {
        if Complaint::in_event(event).is_some() || event.get("usage").and_then(usage).is_some() {
            return None;
        }
        let [choice] = event.get("choices")?.as_array()? else { return None };
        if !is_first(choice) || finish_reason(choice).is_some() {
            return None;
        }
        let mut found = None;
        let mut is_only = true;
        effects(choice.get("delta")?, |effect, word| {
            is_only &= found.is_none();
            found = word.map(|word| (effect, word));
            is_only &= found.is_some();
        });
        found.filter(|_| is_only)
    }
}

/// Whether this is the choice that is read; a request asks for no others.
pub(crate) fn is_first(choice: &Json) -> bool {
    choice.get("index").and_then(Json::as_u64).unwrap_or(0) == 0
}

/// Why the answer ended, if the choice says so.
pub(crate) fn finish_reason(choice: &Json) -> Option<&str> {
    choice.get("finish_reason").and_then(Json::as_str).filter(|reason| !reason.is_empty())
}

/// Calls `each` with the effects of a delta, in its order, none of them empty. A piece of a call may lack arguments.
pub(crate) fn effects(delta: &Json, mut each: impl FnMut(Effect, Option<Arc<str>>)) {
    let Some(fields) = delta.as_object() else { return };
    for (name, value) in fields {
        match (&**name, value) {
            ("content" | "refusal", Json::String(text)) => word(Effect::Words, text, &mut each),
            // Text in parts.
            ("content", Json::Array(parts)) => {
                for part in parts.iter() {
                    if let Some(Json::String(text)) = part.get("text") {
                        word(Effect::Words, text, &mut each);
                    }
                }
            }
            ("reasoning_content", Json::String(text)) => word(Effect::Thought, text, &mut each),
            // Servers that write both mean the same words.
            ("reasoning", Json::String(text)) if !fields.contains_key("reasoning_content") => {
                word(Effect::Thought, text, &mut each);
            }
            ("tool_calls", Json::Array(pieces)) => {
                for told in pieces.iter() {
                    let wire = told.get("index").and_then(Json::as_i64);
                    call(wire, shared(told.get("id")), told.get("function"), &mut each);
                }
            }
            // The form before there were several calls.
            ("function_call", Json::Object(_)) => call(Some(i64::MIN), None, Some(value), &mut each),
            _ => {}
        }
    }
}

fn word(effect: Effect, text: &Arc<str>, each: &mut impl FnMut(Effect, Option<Arc<str>>)) {
    if !text.is_empty() {
        each(effect, Some(Arc::clone(text)));
    }
}

fn call(
    wire: Option<i64>,
    id: Option<Arc<str>>,
    function: Option<&Json>,
    each: &mut impl FnMut(Effect, Option<Arc<str>>),
) {
    let field = |name| function.and_then(|function| function.get(name));
    let arguments = match field("arguments") {
        // Not of the protocol, but clear.
        Some(object @ Json::Object(_)) => Some(object.to_text().into()),
        told => shared(told),
    };
    each(Effect::Call(Piece { wire, id, name: shared(field("name")) }), arguments);
}

fn shared(value: Option<&Json>) -> Option<Arc<str>> {
    if let Some(Json::String(text)) = value { Some(Arc::clone(text)) } else { None }
}
