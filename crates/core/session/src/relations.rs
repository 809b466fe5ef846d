//! How events belong together: turns, steps, calls and declared pairs (spec 03 §10).

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use dsh_llm::ContentBlock;

use crate::conversation::{AssistantMessage, ToolCall, ToolResult};
use crate::core_event::CoreEvent;
use crate::event::{Event, SurfaceOp};
use crate::payload::Payload;
use crate::repair::{TOOL_NOT_STARTED, TOOL_OUTCOME_UNKNOWN};
use crate::turn::{StepStart, TurnEnd, TurnStart};
use crate::verify::Violation;
use crate::vocabulary::Vocabulary;

/// Follows a log and tells each broken rule. After one it goes on with what the event says.
pub(crate) struct Relations<'a> {
    vocabulary: &'a Vocabulary,
    turn: Option<u32>,
    last_turn: u32,
    turns: u64,
    step: Option<u32>,
    last_step: u32,
    /// The seqs of the open step's chunks.
    chunks: HashSet<u64>,
    /// The calls of the open turn. An id has more than one where it was used again, which is told once.
    calls: BTreeMap<Arc<str>, Vec<Call>>,
    used_ids: HashSet<Arc<str>>,
    answered: HashSet<Arc<str>>,
    pairs: BTreeSet<(usize, Arc<str>)>,
}

struct Call {
    step: u32,
    /// The seq of its `tool/call`.
    started: Option<u64>,
    answered: bool,
}

type Report<'r> = &'r mut dyn FnMut(Violation);

impl<'a> Relations<'a> {
    pub(crate) fn new(vocabulary: &'a Vocabulary) -> Self {
        Self {
            vocabulary,
            turn: None,
            last_turn: 0,
            turns: 0,
            step: None,
            last_step: 0,
            chunks: HashSet::new(),
            calls: BTreeMap::new(),
            used_ids: HashSet::new(),
            answered: HashSet::new(),
            pairs: BTreeSet::new(),
        }
    }

    pub(crate) fn turns(&self) -> u64 {
        self.turns
    }

    pub(crate) fn open_turn(&self) -> Option<u32> {
        self.turn
    }

    pub(crate) fn was_answered(&self, call_id: &str) -> bool {
        self.answered.contains(call_id)
    }

    pub(crate) fn see(&mut self, event: &Event, report: Report<'_>) {
        self.see_pairs(event, report);
        let Some(core) = CoreEvent::read(event) else { return };
        match core {
            CoreEvent::TurnStart(TurnStart { turn }) => self.start_turn(turn, report),
            CoreEvent::TurnEnd(end) => self.end_turn(&end, event, report),
            CoreEvent::StepStart(start) => self.start_step(start, event, report),
            CoreEvent::StepEnd(end) => {
                self.expect_step(end.turn, end.step, event, report);
                self.step = None;
            }
            CoreEvent::Chunk(chunk) => {
                self.expect_step(chunk.turn, chunk.step, event, report);
                self.chunks.insert(event.seq);
            }
            CoreEvent::Assistant(answer) => self.answer(&answer, event, report),
            CoreEvent::Call(call) => self.call(&call, event, report),
            CoreEvent::Result(result) if event.surface_op == Some(SurfaceOp::Append) => {
                self.result(&result, event, report);
            }
            CoreEvent::Result(result) => self.expect_turn(result.turn, event, report),
            CoreEvent::Request if self.turn.is_none() => report(outside_turn(event)),
            CoreEvent::Request | CoreEvent::User | CoreEvent::EndSeed => {}
        }
    }

    fn start_turn(&mut self, turn: u32, report: Report<'_>) {
        if let Some(open) = self.turn {
            report(Violation::StillOpen { kind: TurnStart::TYPE, open });
        }
        let expected = self.last_turn.saturating_add(1);
        if turn != expected {
            report(Violation::NotNext { kind: TurnStart::TYPE, expected, found: turn });
        }
        self.turn = Some(turn);
        self.last_turn = turn;
        self.turns += 1;
        self.step = None;
        self.last_step = 0;
        self.calls.clear();
    }

    fn end_turn(&mut self, end: &TurnEnd, event: &Event, report: Report<'_>) {
        self.expect_turn(end.turn, event, report);
        if let Some(open) = self.step {
            report(Violation::StillOpen { kind: TurnEnd::TYPE, open });
        }
        for (call_id, calls) in std::mem::take(&mut self.calls) {
            for _ in calls.iter().filter(|call| !call.answered) {
                report(Violation::Unanswered { call_id: Arc::clone(&call_id) });
            }
        }
        for (rule, key) in std::mem::take(&mut self.pairs) {
            if let Some(pair) = self.vocabulary.pairs().get(rule) {
                report(Violation::PairLeftOpen { kind: pair.open, key });
            }
        }
        self.turn = None;
        self.step = None;
    }

    fn start_step(&mut self, start: StepStart, event: &Event, report: Report<'_>) {
        self.expect_turn(start.turn, event, report);
        if let Some(open) = self.step {
            report(Violation::StillOpen { kind: StepStart::TYPE, open });
        }
        let expected = self.last_step.saturating_add(1);
        if start.step != expected {
            report(Violation::NotNext { kind: StepStart::TYPE, expected, found: start.step });
        }
        self.step = Some(start.step);
        self.last_step = start.step;
        self.chunks.clear();
    }

    fn answer(&mut self, answer: &AssistantMessage, event: &Event, report: Report<'_>) {
        self.expect_step(answer.turn, answer.step, event, report);
        if event.surface_op != Some(SurfaceOp::Append) {
            return;
        }
        for source_seq in event.source_event_seqs.iter().flat_map(|seqs| seqs.iter().copied()) {
            if !self.chunks.contains(&source_seq) {
                report(Violation::NotAChunk { source_seq });
            }
        }
        for block in answer.message.tool_calls() {
            let ContentBlock::ToolCall { id, .. } = block else { continue };
            if !self.used_ids.insert(Arc::clone(id)) {
                report(Violation::CallIdUsed { call_id: Arc::clone(id) });
            }
            let call = Call { step: answer.step, started: None, answered: false };
            self.calls.entry(Arc::clone(id)).or_default().push(call);
        }
    }

    fn call(&mut self, started: &ToolCall, event: &Event, report: Report<'_>) {
        self.expect_step(started.turn, started.step, event, report);
        let call_id = Arc::clone(&started.call_id);
        let Some(calls) = self.calls.get_mut(&started.call_id) else {
            report(Violation::NotAsked { call_id });
            return;
        };
        let waits = |call: &Call| call.started.is_none() && !call.answered;
        let found = calls
            .iter()
            .position(|call| waits(call) && call.step == started.step)
            .or_else(|| calls.iter().position(waits));
        match found.and_then(|position| calls.get_mut(position)) {
            None => report(Violation::StartedTwice { call_id }),
            Some(call) => call.started = Some(event.seq),
        }
    }

    fn result(&mut self, result: &ToolResult, event: &Event, report: Report<'_>) {
        let Some(call_id) = result.call_id().cloned() else { return };
        self.expect_turn(result.turn, event, report);
        let code = result.error.as_ref().map(|error| &*error.code);
        // What repair writes may answer a call whose step is closed.
        let by_repair = matches!(code, Some(TOOL_NOT_STARTED | TOOL_OUTCOME_UNKNOWN));
        if !by_repair {
            self.expect_step(result.turn, result.step, event, report);
        }
        let sources = event.source_event_seqs.as_deref().unwrap_or_default();
        let cited = |call: &Call| call.started.is_some_and(|seq| sources.contains(&seq));
        let of_id = self.calls.get_mut(&call_id).map(Vec::as_mut_slice).unwrap_or_default();
        let waiting = of_id.iter_mut().filter(|call| !call.answered && call.step == result.step);
        // Of several with one id it is the one that the result names.
        let Some(call) = waiting.min_by_key(|call| !cited(call)) else {
            report(Violation::NotWaiting { call_id });
            return;
        };
        call.answered = true;
        self.answered.insert(Arc::clone(&call_id));
        match call.started {
            None if code != Some(TOOL_NOT_STARTED) => report(Violation::NotStarted { call_id }),
            Some(call_seq) if !sources.contains(&call_seq) => {
                report(Violation::CallNotNamed { call_id, call_seq });
            }
            None | Some(_) => {}
        }
    }

    fn see_pairs(&mut self, event: &Event, report: Report<'_>) {
        for (rule, pair) in self.vocabulary.pairs().iter().enumerate() {
            if *event.kind == *pair.close
                && let Some(key) = (pair.closed)(&event.data)
                && !self.pairs.remove(&(rule, Arc::clone(&key)))
            {
                report(Violation::PairNotOpen { kind: pair.close, key });
            }
            if *event.kind == *pair.open
                && let Some(key) = (pair.opened)(&event.data)
            {
                if self.turn.is_none() {
                    report(outside_turn(event));
                }
                if !self.pairs.insert((rule, Arc::clone(&key))) {
                    report(Violation::PairOpen { kind: pair.open, key });
                }
            }
        }
    }

    fn expect_turn(&self, turn: u32, event: &Event, report: Report<'_>) {
        if self.turn != Some(turn) {
            report(outside_turn(event));
        }
    }

    fn expect_step(&self, turn: u32, step: u32, event: &Event, report: Report<'_>) {
        if self.turn != Some(turn) {
            report(outside_turn(event));
        } else if self.step != Some(step) {
            report(Violation::OutsideStep { kind: Arc::clone(&event.kind) });
        }
    }
}

fn outside_turn(event: &Event) -> Violation {
    Violation::OutsideTurn { kind: Arc::clone(&event.kind) }
}
