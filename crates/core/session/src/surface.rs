//! The model-visible order (spec 03 §3).

use std::num::NonZeroUsize;
use std::sync::Arc;

use dsh_llm::{ContentBlock, Message};

use crate::conversation::{AssistantMessage, ToolResult};
use crate::event::{Event, SurfaceOp};
use crate::payload::Payload;
use crate::refusal::Refusal;

/// The surface events in the order in which the model sees them, each with what it adds to the history.
#[derive(Debug, Clone, Default)]
pub(crate) struct Surface {
    nodes: Vec<Node>,
    positions: Positions,
    generation: u64,
}

/// Where the node of a seq is: a list by seq, as every event has one.
#[derive(Debug, Clone, Default)]
struct Positions(Vec<Option<NonZeroUsize>>);

#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) event: Arc<Event>,
    pub(crate) message: Option<Arc<Message>>,
}

/// What an event will do, checked and not yet done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(crate) enum Plan {
    Nothing,
    Push,
    Replace { from: usize, to: usize },
}

impl Surface {
    /// Checks provenance and range of an event whose fields fit its type; changes nothing.
    pub(crate) fn plan(&self, event: &Event) -> Result<Plan, Refusal> {
        let Some(op) = event.surface_op else { return Ok(Plan::Nothing) };
        check_sources(event)?;
        match op {
            SurfaceOp::Append => Ok(Plan::Push),
            SurfaceOp::Replace { start, end } => self.plan_replacement(event, start, end),
        }
    }

    pub(crate) fn apply(&mut self, event: &Arc<Event>, message: Option<Arc<Message>>, plan: Plan) {
        let node = Node { event: Arc::clone(event), message };
        match plan {
            Plan::Nothing => {}
            Plan::Push => {
                self.positions.insert(event.seq, self.nodes.len());
                self.nodes.push(node);
            }
            Plan::Replace { from, to } => {
                let width = to - from;
                for shadowed in self.nodes.splice(from..=to, [node]) {
                    self.positions.remove(shadowed.event.seq);
                }
                self.positions.insert(event.seq, from);
                if width > 0 {
                    for (position, node) in self.nodes.iter().enumerate().skip(from) {
                        self.positions.insert(node.event.seq, position);
                    }
                }
                self.generation += 1;
            }
        }
    }

    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    pub(crate) fn messages(&self) -> impl Iterator<Item = &Arc<Message>> {
        self.nodes.iter().filter_map(|node| node.message.as_ref())
    }

    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    fn plan_replacement(&self, event: &Event, start: u64, end: u64) -> Result<Plan, Refusal> {
        let position = |seq| self.positions.get(seq).ok_or(Refusal::NotANode { seq });
        let (from, to) = (position(start)?, position(end)?);
        if from > to {
            return Err(Refusal::RangeReversed { start, end });
        }
        let shadowed = self.nodes.get(from..=to).unwrap_or_default();
        let mut named: Vec<u64> = event.source_event_seqs.as_deref().unwrap_or_default().to_vec();
        named.sort_unstable();
        for node in shadowed {
            if named.binary_search(&node.event.seq).is_err() {
                return Err(Refusal::ShadowedNotNamed { seq: node.event.seq });
            }
        }
        if *event.kind == *ToolResult::TYPE {
            let [old] = shadowed else { return Err(Refusal::ReplacesOther) };
            check_rewrite(&old.event, event)?;
        }
        Ok(Plan::Replace { from, to })
    }
}

impl Positions {
    fn get(&self, seq: u64) -> Option<usize> {
        let behind = self.0.get(usize::try_from(seq).ok()?)?;
        behind.map(|behind| behind.get() - 1)
    }

    fn insert(&mut self, seq: u64, position: usize) {
        // A seq is the number of events before it, which are all in memory.
        let Ok(seq) = usize::try_from(seq) else { return };
        if self.0.len() <= seq {
            self.0.resize(seq + 1, None);
        }
        if let Some(slot) = self.0.get_mut(seq) {
            *slot = NonZeroUsize::new(position + 1);
        }
    }

    fn remove(&mut self, seq: u64) {
        if let Some(slot) = usize::try_from(seq).ok().and_then(|seq| self.0.get_mut(seq)) {
            *slot = None;
        }
    }
}

fn check_sources(event: &Event) -> Result<(), Refusal> {
    let Some(sources) = event.source_event_seqs.as_deref() else { return Ok(()) };
    if sources.is_empty() && *event.kind != *AssistantMessage::TYPE {
        return Err(Refusal::SourcesEmpty { kind: Arc::clone(&event.kind) });
    }
    if let Some(source_seq) = sources.iter().copied().find(|source| *source >= event.seq) {
        return Err(Refusal::SourceNotBefore { seq: event.seq, source_seq });
    }
    // Nearly always in order; only a list that is not must be sorted to find what it names twice.
    if sources.is_sorted_by(|a, b| a < b) {
        return Ok(());
    }
    let mut sorted = sources.to_vec();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair.first() == pair.last()) {
        Some(pair) => Err(Refusal::SourceTwice { source_seq: pair.first().copied().unwrap_or_default() }),
        None => Ok(()),
    }
}

/// A replacing tool result is the same result, but for what the model reads.
fn check_rewrite(old: &Event, new: &Event) -> Result<(), Refusal> {
    let (Some(Ok(mut old)), Some(Ok(new))) = (old.read::<ToolResult>(), new.read::<ToolResult>()) else {
        return Err(Refusal::ReplacesOther);
    };
    let content = match (&*old.message.content, &*new.message.content) {
        (
            [ContentBlock::ToolResult { tool_call_id, is_error, .. }],
            [ContentBlock::ToolResult { content, .. }],
        ) => ContentBlock::ToolResult {
            tool_call_id: Arc::clone(tool_call_id),
            content: Arc::clone(content),
            is_error: *is_error,
        },
        _ => return Err(Refusal::ReplacesOther),
    };
    old.message.content = Arc::new([content]);
    if old == new { Ok(()) } else { Err(Refusal::ReplacesMore) }
}
