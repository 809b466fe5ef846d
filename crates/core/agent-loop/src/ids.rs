//! Call ids: one for each call of a session, whatever the model wrote.

use std::collections::HashSet;
use std::sync::Arc;

use dsh_lifecycle::Ids;
use dsh_llm::{Chunk, Content, ContentBlock};
use dsh_session::Session;

/// Gives a fresh id to each call whose id is empty, repeated in the message, or used in the session before. What the
/// provider called it is kept beside it (design §5).
pub(crate) fn unique_call_ids(content: Content, session: &Session, ids: &dyn Ids) -> Content {
    let mut seen: HashSet<Arc<str>> = HashSet::new();
    let mut clean = true;
    for block in content.iter() {
        if let ContentBlock::ToolCall { id, .. } = block {
            clean &= is_new(id, session) && seen.insert(Arc::clone(id));
        }
    }
    if clean {
        return content;
    }
    seen.clear();
    let renamed = content.iter().map(|block| {
        let ContentBlock::ToolCall { id, name, arguments, .. } = block else { return block.clone() };
        if is_new(id, session) && seen.insert(Arc::clone(id)) {
            return block.clone();
        }
        ContentBlock::ToolCall {
            id: ids.fresh(),
            name: Arc::clone(name),
            arguments: Arc::clone(arguments),
            provider_call_id: Some(Arc::clone(id)).filter(|id| !id.is_empty()),
        }
    });
    renamed.collect()
}

/// The same chunk; if it ends a call that the provider gave no id, then with a fresh one, since a log holds no call
/// without.
pub(crate) fn with_call_id(mut chunk: Chunk, ids: &dyn Ids) -> Chunk {
    if let Chunk::BlockEnd { block: ContentBlock::ToolCall { id, .. }, .. } = &mut chunk
        && id.is_empty()
    {
        *id = ids.fresh();
    }
    chunk
}

fn is_new(id: &str, session: &Session) -> bool {
    !id.is_empty() && !session.call_id_used(id)
}
