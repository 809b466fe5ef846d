//! A step as a stream of chunks.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;
use std::{iter, mem, vec};

use dsh_lifecycle::Cancel;
use dsh_llm::{Chunk, ContentBlock, Finish};
use futures_util::stream::{self, BoxStream, StreamExt as _};
use tokio::time::timeout;

use crate::{Step, ToolCall};

/// Streams a step: its delay, its blocks, its finish. The cancellation is looked at before every chunk and during the
/// delay; then the stream ends as aborted.
pub(crate) fn play(step: Step, cancel: Cancel) -> BoxStream<'static, Chunk> {
    let playing = Playing { delay: step.delay, rest: chunks(step).into_iter(), cancel, over: false };
    stream::unfold(playing, |mut playing| async move {
        let chunk = playing.next().await?;
        Some((chunk, playing))
    })
    .boxed()
}

struct Playing {
    delay: Duration,
    rest: vec::IntoIter<Chunk>,
    cancel: Cancel,
    over: bool,
}

impl Playing {
    async fn next(&mut self) -> Option<Chunk> {
        if self.over {
            return None;
        }
        let chunk = if self.stopped().await { finish(Finish::Aborted) } else { self.rest.next()? };
        self.over = matches!(chunk, Chunk::Finish { .. });
        Some(chunk)
    }

    /// Waits for the delay, if there still is one. Whether the cancellation came first, or is there already.
    async fn stopped(&mut self) -> bool {
        let delay = mem::take(&mut self.delay);
        if delay.is_zero() {
            return self.cancel.is_cancelled();
        }
        timeout(delay, self.cancel.cancelled()).await.is_ok()
    }
}

fn chunks(step: Step) -> Vec<Chunk> {
    let Step { reasoning, text, tool_calls, finish: reason, delay: _, chunks: count } = step;
    let mut out = vec![];
    let reasoning = reasoning.map(|text| ContentBlock::Reasoning { text });
    let text = text.map(|text| ContentBlock::Text { text });
    let calls = tool_calls.into_iter().map(|ToolCall { id, name, arguments }| ContentBlock::ToolCall {
        id,
        name,
        arguments,
        provider_call_id: None,
    });
    for (index, block) in (0..).zip(reasoning.into_iter().chain(text).chain(calls)) {
        out.push(Chunk::BlockStart { index, block_type: block.block_type().into() });
        deltas(index, &block, count, &mut out);
        out.push(Chunk::BlockEnd { index, block });
    }
    if reason == Finish::MaxTokens {
        out.pop();
    }
    out.push(finish(reason));
    out
}

fn deltas(index: u32, block: &ContentBlock, count: NonZeroUsize, out: &mut Vec<Chunk>) {
    match block {
        ContentBlock::Text { text } => {
            out.extend(pieces(text, count).into_iter().map(|text| Chunk::TextDelta { index, text }));
        }
        ContentBlock::Reasoning { text } => {
            out.extend(pieces(text, count).into_iter().map(|text| Chunk::ReasoningDelta { index, text }));
        }
        ContentBlock::ToolCall { id, name, arguments, .. } => {
            let delta = |name, arguments_delta| Chunk::ToolCallDelta {
                index,
                id: Arc::clone(id),
                name,
                arguments_delta,
            };
            let names = iter::once(Some(Arc::clone(name))).chain(iter::repeat(None));
            out.extend(names.zip(pieces(arguments, count)).map(|(name, piece)| delta(name, piece)));
        }
        // A step has no other blocks.
        ContentBlock::Image { .. } | ContentBlock::ToolResult { .. } | ContentBlock::Other(_) => {}
    }
}

/// The text in `count` pieces of about the same number of characters; in fewer when it has fewer characters.
fn pieces(text: &Arc<str>, count: NonZeroUsize) -> Vec<Arc<str>> {
    if count == NonZeroUsize::MIN || text.is_empty() {
        return vec![Arc::clone(text)];
    }
    let characters = text.chars().count();
    let count = count.get().min(characters);
    let (length, longer) = (characters / count, characters % count);
    let mut rest = &**text;
    let cut = |piece| {
        let length = length + usize::from(piece < longer);
        let end = rest.char_indices().nth(length).map_or(rest.len(), |(at, _)| at);
        let (head, tail) = rest.split_at(end);
        rest = tail;
        Arc::from(head)
    };
    (0..count).map(cut).collect()
}

fn finish(reason: Finish) -> Chunk {
    Chunk::Finish { reason, replay_state: None }
}

#[cfg(test)]
mod tests;
