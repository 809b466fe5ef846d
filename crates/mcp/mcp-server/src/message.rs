//! From a line to a message, or to what is wrong with it.
//!
//! The envelope is read shallowly; what stands in `params.arguments` of a call is kept as text and never read here.

use std::borrow::Cow;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{ErrorData, RequestId};
use rmcp::service::RxJsonRpcMessage;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::recover::id_around;
use crate::words;

/// A message of a client.
pub(crate) type Message = RxJsonRpcMessage<RoleServer>;

/// What a line holds.
#[derive(Debug)]
pub(crate) enum Read {
    /// A message; of a call without its arguments.
    Message(Message),
    /// A call: the message without arguments, and its parts.
    Call(Message, Call),
    /// An error to answer with, with the id where it can be told.
    Refused(Option<RequestId>, ErrorData),
    /// White space.
    Nothing,
}

/// What is called.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) id: RequestId,
    pub(crate) name: Arc<str>,
    /// JSON text.
    pub(crate) arguments: Arc<str>,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

/// `null` is there, too.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    Deserialize::deserialize(deserializer).map(Some)
}

#[derive(Deserialize)]
struct CallParams<'a> {
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow, rename = "_meta")]
    meta: Option<&'a RawValue>,
}

/// Reads a line, without its end.
pub(crate) fn read(line: &[u8]) -> Read {
    let text = match std::str::from_utf8(line) {
        Ok(text) => text.strip_prefix('\u{feff}').unwrap_or(text).trim(),
        Err(error) => {
            let (head, tail) = line.split_at_checked(error.valid_up_to()).unwrap_or_default();
            let words = words::not_utf8(head.len() + 1);
            return Read::Refused(id_around(head, tail), ErrorData::parse_error(words, None));
        }
    };
    if text.is_empty() {
        return Read::Nothing;
    }
    if text.starts_with('[') {
        return refused(None, words::BATCH);
    }
    let envelope = match serde_json::from_str::<Envelope<'_>>(text) {
        Ok(envelope) => envelope,
        Err(error) => return unread(text, &error),
    };
    let id = match envelope.id.map(|id| serde_json::from_str::<RequestId>(id.get())) {
        None => None,
        Some(Ok(id)) => Some(id),
        Some(Err(_)) => return refused(None, words::BAD_ID),
    };
    match (&envelope.method, &id) {
        (Some(method), Some(id)) if method == "tools/call" => call(id, envelope.params),
        (None, _) if envelope.result.is_none() && envelope.error.is_none() => refused(id, words::NO_METHOD),
        _ => match serde_json::from_str(text) {
            Ok(message) => Read::Message(message),
            Err(error) => refused(id, format!("the message can't be read: {error}")),
        },
    }
}

fn call(id: &RequestId, params: Option<&RawValue>) -> Read {
    let invalid =
        |words: &'static str| Read::Refused(Some(id.clone()), ErrorData::invalid_params(words, None));
    let Some(Ok(params)) = params.map(|params| serde_json::from_str::<CallParams<'_>>(params.get())) else {
        return invalid(words::NO_PARAMS);
    };
    let Some(Ok(name)) = params.name.map(|name| serde_json::from_str::<Cow<'_, str>>(name.get())) else {
        return invalid(words::NO_NAME);
    };
    let bare =
        serde_json::json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": name } });
    let mut bare = bare;
    if let Some(meta) = params.meta.filter(|meta| meta.get() != "null") {
        let Ok(meta) = serde_json::from_str::<serde_json::Map<_, _>>(meta.get()) else {
            return invalid(words::BAD_META);
        };
        if let Some(params) = bare.get_mut("params").and_then(serde_json::Value::as_object_mut) {
            params.insert("_meta".to_owned(), meta.into());
        }
    }
    match serde_json::from_value(bare) {
        Ok(message) => {
            // Some clients write `null` for none.
            let arguments =
                params.arguments.map(RawValue::get).filter(|text| *text != "null").unwrap_or("{}");
            let call = Call { id: id.clone(), name: name.into(), arguments: arguments.into() };
            Read::Call(message, call)
        }
        Err(_) => invalid(words::BAD_META),
    }
}

fn unread(text: &str, error: &serde_json::Error) -> Read {
    let id = id_around(text.as_bytes(), text.as_bytes());
    if error.is_data() {
        refused(id, format!("the message can't be read: {error}"))
    } else {
        Read::Refused(id, ErrorData::parse_error(format!("the message is not JSON: {error}"), None))
    }
}

fn refused(id: Option<RequestId>, words: impl Into<Cow<'static, str>>) -> Read {
    Read::Refused(id, ErrorData::invalid_request(words, None))
}

#[cfg(test)]
mod tests;
