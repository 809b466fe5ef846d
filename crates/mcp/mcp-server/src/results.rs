//! What came of a call, as MCP says it.

use dsh_json::{Json, object};
use dsh_llm::ContentBlock as Block;
use dsh_tools_core::{ToolError, ToolResult};
use rmcp::model::{CallToolResult, ContentBlock, MetaObject};

use crate::seat::Reply;
use crate::words;

/// How deep a value may be: clients read it with parsers that recurse.
const MAX_DEPTH: usize = 100;

/// The result of a call. Text and pictures are content, anything else is content as JSON text; the true value is
/// `structuredContent` if it is an object, as MCP wants it.
pub(crate) fn result(reply: &Reply) -> CallToolResult {
    let [Block::ToolResult { content, is_error, .. }] = &*reply.logged.message.content else {
        return failed(&words::outcome_unknown());
    };
    let blocks = content.iter().map(block).collect();
    if *is_error {
        let error =
            reply.logged.error.as_ref().map(|error| object! { "name": &error.name, "code": &error.code });
        return CallToolResult::error(blocks).with_meta(error.as_ref().and_then(meta));
    }
    let mut result = CallToolResult::success(blocks);
    let value = reply.published.as_deref().and_then(ToolResult::value);
    if let Some(value) = value.filter(|value| value.as_object().is_some()) {
        if value.depth() > MAX_DEPTH {
            return failed(&words::too_deep(value.depth(), MAX_DEPTH));
        }
        result.structured_content = serde_json::to_value(value).ok();
    }
    result
}

/// A failure that the pipeline knows nothing of, in the same form.
pub(crate) fn failed(error: &ToolError) -> CallToolResult {
    let content = vec![ContentBlock::text(format!("Error: {}", error.message))];
    let info = error.info.as_ref();
    let info = info.map(|info| object! { "name": &*info.name, "code": &*info.code });
    CallToolResult::error(content).with_meta(info.as_ref().and_then(meta))
}

fn meta(error: &Json) -> Option<MetaObject> {
    let mut all = serde_json::Map::new();
    all.insert("dsh/error".to_owned(), serde_json::to_value(error).ok()?);
    Some(MetaObject(all))
}

fn block(block: &Block) -> ContentBlock {
    match block {
        Block::Text { text } | Block::Reasoning { text } => ContentBlock::text(&**text),
        Block::Image { attachment } => {
            let part = |name: &str| attachment.get(name).and_then(Json::as_str);
            match (part("data"), part("mimeType")) {
                (Some(data), Some(kind)) => ContentBlock::image(data, kind),
                _ => as_text(block),
            }
        }
        Block::ToolCall { .. } | Block::ToolResult { .. } | Block::Other(_) => as_text(block),
    }
}

fn as_text(block: &Block) -> ContentBlock {
    let json = dsh_llm::content_to_json(&std::sync::Arc::from([block.clone()]));
    ContentBlock::text(json.to_text())
}
