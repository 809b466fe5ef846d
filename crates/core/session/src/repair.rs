//! What closes a log that was left open (spec 03 §9, design §4.9): a pure function of its events.

use std::borrow::Borrow;
use std::sync::Arc;

use dsh_json::Json;
use dsh_llm::{ContentBlock, Message, Role, Source, text};

use crate::conversation::{AssistantChunk, CodedError, ToolCall, ToolResult};
use crate::core_event::CoreEvent;
use crate::event::{Event, SurfaceOp};
use crate::payload::Payload;
use crate::turn::{StepEnd, TurnEnd, TurnEndReason, TurnStart};
use crate::vocabulary::{PairRule, Vocabulary};

/// The code of a call that was never started.
pub const TOOL_NOT_STARTED: &str = "TOOL_NOT_STARTED";
/// The code of a call that was started, and of which nothing more is known.
pub const TOOL_OUTCOME_UNKNOWN: &str = "TOOL_OUTCOME_UNKNOWN";

/// An event that closes something, without its seq and time.
#[derive(Debug, Clone, PartialEq)]
pub struct Closer {
    /// The event's type.
    pub kind: Arc<str>,
    /// Its payload.
    pub data: Json,
    /// What it does to the surface.
    pub surface_op: Option<SurfaceOp>,
    /// What it was made from.
    pub source_event_seqs: Option<Arc<[u64]>>,
    /// Whether a reader that does not know the type may skip it.
    pub ignorable: bool,
}

impl Closer {
    /// The event, at its place.
    pub fn into_event(self, seq: u64, time: i64) -> Event {
        let Self { kind, data, surface_op, source_event_seqs, ignorable } = self;
        Event { kind, seq, time, data, surface_op, source_event_seqs, ignorable }
    }
}

/// The events that close what `events` leave open, in order:
///
/// 1. for each declared pair that was opened and not closed its closing event, the innermost first;
/// 2. for each tool call of the open turn without a result an error result, in the model's order, also when its step
///    is closed: [`TOOL_NOT_STARTED`] when no `tool/call` was logged, else [`TOOL_OUTCOME_UNKNOWN`] citing it;
/// 3. `step/end` when a step is open, `turn/end` with `reason` when a turn is open.
///
/// Empty for a log that is closed. Events that can't be read are passed over.
pub fn closers<E: Borrow<Event>>(
    events: &[E],
    vocabulary: &Vocabulary,
    reason: TurnEndReason,
) -> Vec<Closer> {
    closers_since(0, events, vocabulary, reason)
}

/// [`closers`] of a log of which the first `closed` events leave nothing open.
pub(crate) fn closers_since<E: Borrow<Event>>(
    closed: usize,
    events: &[E],
    vocabulary: &Vocabulary,
    reason: TurnEndReason,
) -> Vec<Closer> {
    let next_seq = events.len() as u64;
    let events = events.get(closed..).unwrap_or_default();
    let mut open = OpenParts::default();
    // A turn's start ends all that was before, but for pairs.
    let turn = events.iter().rposition(|event| *event.borrow().kind == *TurnStart::TYPE);
    for (index, event) in events.iter().enumerate() {
        open.see_pairs(event.borrow(), vocabulary.pairs());
        if turn.is_some_and(|turn| turn <= index) {
            open.see(event.borrow());
        }
    }
    open.close(next_seq, vocabulary, reason)
}

/// What is open after some events.
#[derive(Default)]
struct OpenParts {
    turn: Option<u32>,
    step: Option<u32>,
    calls: Vec<OpenCall>,
    pairs: Vec<OpenPair>,
}

struct OpenCall {
    id: Arc<str>,
    step: u32,
    /// The seq of its `tool/call`.
    logged: Option<u64>,
}

struct OpenPair {
    rule: usize,
    key: Arc<str>,
    opening: Json,
}

impl OpenParts {
    fn see(&mut self, event: &Event) {
        if *event.kind == *AssistantChunk::TYPE {
            return; // Most events, and they open nothing.
        }
        let Some(core) = CoreEvent::read(event) else { return };
        match core {
            CoreEvent::TurnStart(start) => {
                self.turn = Some(start.turn);
                self.step = None;
                self.calls.clear();
            }
            CoreEvent::TurnEnd(_) => {
                self.turn = None;
                self.step = None;
                self.calls.clear();
            }
            CoreEvent::StepStart(start) => self.step = Some(start.step),
            CoreEvent::StepEnd(_) => self.step = None,
            CoreEvent::Assistant(answer) if event.surface_op == Some(SurfaceOp::Append) => {
                for block in answer.message.tool_calls() {
                    if let ContentBlock::ToolCall { id, .. } = block {
                        self.calls.push(OpenCall { id: Arc::clone(id), step: answer.step, logged: None });
                    }
                }
            }
            CoreEvent::Call(call) => self.start(&call, event.seq),
            CoreEvent::Result(result) if event.surface_op == Some(SurfaceOp::Append) => {
                self.answer(&result, event.source_event_seqs.as_deref().unwrap_or_default());
            }
            CoreEvent::Assistant(_)
            | CoreEvent::Result(_)
            | CoreEvent::User
            | CoreEvent::Chunk(_)
            | CoreEvent::Request
            | CoreEvent::EndSeed => {}
        }
    }

    /// Notes where a call was logged. Of several with one id it is the one of the same step.
    fn start(&mut self, call: &ToolCall, seq: u64) {
        let mut waiting: Vec<&mut OpenCall> =
            self.calls.iter_mut().filter(|open| open.id == call.call_id && open.logged.is_none()).collect();
        let of_step = waiting.iter().position(|open| open.step == call.step).unwrap_or_default();
        if let Some(open) = waiting.get_mut(of_step) {
            open.logged = Some(seq);
        }
    }

    /// Takes an answered call away. Of several with one id it is the one that the result cites, else the one of its
    /// step.
    fn answer(&mut self, result: &ToolResult, sources: &[u64]) {
        let find = |fits: &dyn Fn(&OpenCall) -> bool| {
            self.calls.iter().position(|open| Some(&open.id) == result.call_id() && fits(open))
        };
        let answered = find(&|open| open.logged.is_some_and(|seq| sources.contains(&seq)))
            .or_else(|| find(&|open| open.step == result.step))
            .or_else(|| find(&|_| true));
        if let Some(position) = answered {
            self.calls.remove(position);
        }
    }

    fn see_pairs(&mut self, event: &Event, rules: &[PairRule]) {
        for (rule, pair) in rules.iter().enumerate() {
            if *event.kind == *pair.close
                && let Some(key) = (pair.closed)(&event.data)
            {
                self.pairs.retain(|open| open.rule != rule || open.key != key);
            }
            if *event.kind == *pair.open
                && let Some(key) = (pair.opened)(&event.data)
                && !self.pairs.iter().any(|open| open.rule == rule && open.key == key)
            {
                self.pairs.push(OpenPair { rule, key, opening: event.data.clone() });
            }
        }
    }

    fn close(self, next_seq: u64, vocabulary: &Vocabulary, reason: TurnEndReason) -> Vec<Closer> {
        let mut closers = Vec::new();
        for open in self.pairs.iter().rev() {
            closers
                .extend(vocabulary.pairs().get(open.rule).and_then(|rule| close_pair(rule, &open.opening)));
        }
        let Some(turn) = self.turn else { return closers };
        for call in &self.calls {
            let seq = next_seq + closers.len() as u64;
            closers.extend(closer(&unanswered(turn, call, seq), call.logged));
        }
        if let Some(step) = self.step {
            closers.extend(closer(&StepEnd { turn, step }, None));
        }
        closers.extend(closer(&TurnEnd { turn, reason }, None));
        closers
    }
}

fn close_pair(rule: &PairRule, opening: &Json) -> Option<Closer> {
    Some(Closer {
        kind: rule.close.into(),
        data: (rule.closing)(opening)?,
        surface_op: rule.close_surface.then_some(SurfaceOp::Append),
        source_event_seqs: None,
        ignorable: rule.close_ignorable,
    })
}

/// `None` never occurs: the payloads of this crate have a JSON form.
fn closer<P: Payload>(payload: &P, source: Option<u64>) -> Option<Closer> {
    Some(Closer {
        kind: P::TYPE.into(),
        data: payload.to_json().ok()?,
        surface_op: P::SURFACE.then_some(SurfaceOp::Append),
        source_event_seqs: source.map(|seq| Arc::from([seq])),
        ignorable: P::IGNORABLE,
    })
}

fn unanswered(turn: u32, call: &OpenCall, seq: u64) -> ToolResult {
    let (name, code, words) = match call.logged {
        None => ("ToolNotStartedError", TOOL_NOT_STARTED, NOT_STARTED),
        Some(_) => ("ToolOutcomeUnknownError", TOOL_OUTCOME_UNKNOWN, OUTCOME_UNKNOWN),
    };
    let id = &call.id;
    let block =
        ContentBlock::ToolResult { tool_call_id: Arc::clone(id), content: text(words), is_error: true };
    let message = Message {
        id: format!("interrupted-tool-result-{id}-{seq}").into(),
        role: Role::User,
        content: Arc::new([block]),
        source: Source::Tool { call_id: Arc::clone(id) },
    };
    let error = Some(CodedError { name: name.into(), code: code.into() });
    ToolResult { turn, step: call.step, message, error, meta: None }
}

const NOT_STARTED: &str = "This call did not run: the session was interrupted before the call had started, so it \
changed nothing. Call the tool again if you still need it.";

const OUTCOME_UNKNOWN: &str = "It is not known what this call did: it had started when the session was interrupted, \
and it may have finished, in part or not at all. If the call only reads, or can be repeated without harm, call the \
tool again. Otherwise first look at what it has changed, or ask the user; do not simply repeat it.";
