//! The events of well-formed answers, each as its bytes on the wire.

use dsh_json::{Json, array, object};

/// An event with this data.
pub fn data(data: &str) -> String {
    format!("data: {data}\n\n")
}

/// A comment, which keeps a connection alive.
pub fn comment(words: &str) -> String {
    format!(": {words}\n\n")
}

/// More text.
pub fn text(words: &str) -> String {
    delta(object! { "content": words })
}

/// More reasoning.
pub fn reasoning(words: &str) -> String {
    delta(object! { "content": Json::Null, "reasoning_content": words })
}

/// The start of a tool call.
pub fn call(index: u32, id: &str, name: &str, arguments: &str) -> String {
    let function = object! { "name": name, "arguments": arguments };
    delta(
        object! { "tool_calls": array![object! { "index": index, "id": id, "type": "function", "function": function }] },
    )
}

/// More arguments of a tool call.
pub fn arguments(index: u32, arguments: &str) -> String {
    let function = object! { "arguments": arguments };
    delta(object! { "tool_calls": array![object! { "index": index, "function": function }] })
}

/// The end of the answer, and why.
pub fn finish(reason: &str) -> String {
    data(&event(array![object! { "index": 0, "delta": object! {}, "finish_reason": reason }]).to_text())
}

/// What it cost.
pub fn usage(prompt: u64, completion: u64) -> String {
    let usage = object! {
        "prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt.saturating_add(completion),
    };
    data(&object! { "id": ID, "object": KIND, "choices": array![], "usage": usage }.to_text())
}

/// A failure within the answer.
pub fn error(message: &str, kind: &str) -> String {
    data(&object! { "error": object! { "message": message, "type": kind } }.to_text())
}

/// The end of the stream.
pub fn done() -> String {
    data("[DONE]")
}

/// A whole answer of this text.
pub fn answer(words: &str) -> String {
    [text(words), finish("stop"), usage(10, 2), done()].concat()
}

/// An event with this delta, an object.
pub fn delta(delta: Json) -> String {
    data(&event(array![object! { "index": 0, "delta": delta, "finish_reason": Json::Null }]).to_text())
}

const ID: &str = "chatcmpl-1";
const KIND: &str = "chat.completion.chunk";

fn event(choices: Json) -> Json {
    object! { "id": ID, "object": KIND, "created": 1_700_000_000, "model": "test-model", "choices": choices }
}
