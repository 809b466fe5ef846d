//! Whether a log is sound: what loading checks, and how its events belong together (spec 03 §10).

use std::borrow::Borrow;
use std::collections::HashSet;
use std::sync::Arc;

use dsh_llm::{ContentBlock, Message, Source};

use crate::event::Event;
use crate::header::Header;
use crate::refusal::Refusal;
use crate::relations::Relations;
use crate::surface::Surface;
use crate::vocabulary::Vocabulary;

/// What [`verify`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// How many events there are.
    pub events: u64,
    /// How many turns were started.
    pub turns: u64,
    /// The turn that is still open: not a problem, but something for repair.
    pub open_turn: Option<u32>,
    /// What is wrong, in the log's order; at most [`Verdict::MAX_PROBLEMS`].
    pub problems: Vec<Problem>,
    /// How many problems more there are.
    pub more: u64,
}

impl Verdict {
    /// How many problems are told one by one.
    pub const MAX_PROBLEMS: usize = 100;

    /// Whether nothing is wrong.
    pub fn is_ok(&self) -> bool {
        self.problems.is_empty()
    }

    pub(crate) fn add(&mut self, seq: u64, what: Violation) {
        if self.problems.len() < Self::MAX_PROBLEMS {
            self.problems.push(Problem { seq, what });
        } else {
            self.more += 1;
        }
    }
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("event {seq}: {what}")]
pub struct Problem {
    /// The place in the log where it shows.
    pub seq: u64,
    /// What is wrong there.
    pub what: Violation,
}

/// A broken rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// The event would not be loaded.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The header promises more events than there are.
    #[error("the header says that {seed_length} events came from elsewhere, but there are {events}")]
    SeedTooShort {
        /// What the header says.
        seed_length: u64,
        /// How many there are.
        events: u64,
    },
    /// A turn, or a step of the open turn, is not the next.
    #[error("`{kind}` {found} where {expected} was next")]
    NotNext {
        /// `turn/start` or `step/start`.
        kind: &'static str,
        /// The number that was next.
        expected: u32,
        /// The number that it has.
        found: u32,
    },
    /// A turn or step begins in an open one.
    #[error("`{kind}` while {open} is open")]
    StillOpen {
        /// `turn/start`, `step/start` or `turn/end`.
        kind: &'static str,
        /// The number of the open turn or step.
        open: u32,
    },
    /// An event that belongs into a turn, outside of it.
    #[error("`{kind}` outside of its turn")]
    OutsideTurn {
        /// The event's type.
        kind: Arc<str>,
    },
    /// An event that belongs into a step, outside of it.
    #[error("`{kind}` outside of its step")]
    OutsideStep {
        /// The event's type.
        kind: Arc<str>,
    },
    /// A model's call under an id that the session had before.
    #[error("the call id `{call_id}` was used before")]
    CallIdUsed {
        /// The id.
        call_id: Arc<str>,
    },
    /// `tool/call` for a call that the model did not make.
    #[error("`tool/call` for `{call_id}`, which no message of the turn asks for")]
    NotAsked {
        /// The call.
        call_id: Arc<str>,
    },
    /// `tool/call` for a call that was started or answered before.
    #[error("`tool/call` for `{call_id}`, which was started or answered before")]
    StartedTwice {
        /// The call.
        call_id: Arc<str>,
    },
    /// A result that no open call of its step waits for.
    #[error("a result for `{call_id}`, which does not wait for one")]
    NotWaiting {
        /// The call.
        call_id: Arc<str>,
    },
    /// A result of a call that was not started, which does not say so.
    #[error("a result for `{call_id}`, which was not started")]
    NotStarted {
        /// The call.
        call_id: Arc<str>,
    },
    /// A result whose provenance does not name its `tool/call`.
    #[error("the result for `{call_id}` does not name its `tool/call` {call_seq}")]
    CallNotNamed {
        /// The call.
        call_id: Arc<str>,
        /// Where it was started.
        call_seq: u64,
    },
    /// A call without a result at the end of its turn.
    #[error("the turn ended without a result for `{call_id}`")]
    Unanswered {
        /// The call.
        call_id: Arc<str>,
    },
    /// An answer made from something that is no chunk of its step.
    #[error("the answer names {source_seq}, which is no chunk of its step")]
    NotAChunk {
        /// The seq that it names.
        source_seq: u64,
    },
    /// A declared pair is opened while it is open.
    #[error("`{kind}` opens `{key}`, which is open")]
    PairOpen {
        /// The opening type.
        kind: &'static str,
        /// What it opens.
        key: Arc<str>,
    },
    /// A declared pair is closed and was not open.
    #[error("`{kind}` closes `{key}`, which is not open")]
    PairNotOpen {
        /// The closing type.
        kind: &'static str,
        /// What it closes.
        key: Arc<str>,
    },
    /// A declared pair is open at the end of a turn.
    #[error("the turn ended with `{key}` open, opened by `{kind}`")]
    PairLeftOpen {
        /// The opening type.
        kind: &'static str,
        /// What is open.
        key: Arc<str>,
    },
    /// In the derived history a result comes without its call.
    #[error("the history has a result for `{call_id}` and not the call before it")]
    DerivedResultAlone {
        /// The call.
        call_id: Arc<str>,
    },
    /// In the derived history a call has lost its result.
    #[error("the history has the call `{call_id}` and not its result")]
    DerivedCallAlone {
        /// The call.
        call_id: Arc<str>,
    },
}

/// Checks a whole log: each event as loading does, then sequence and nesting of turns and steps, pairing of calls,
/// results and declared pairs, provenance, and the derived history. Goes on after a problem.
///
/// An open turn at the end is no problem: its process may have been killed, and [`closers`](crate::closers) close it.
pub fn verify<E: Borrow<Event>>(header: &Header, events: &[E], vocabulary: &Vocabulary) -> Verdict {
    let count = events.len() as u64;
    let mut verdict = Verdict { events: count, turns: 0, open_turn: None, problems: Vec::new(), more: 0 };
    if let Some(seed_length) = header.seed_length().filter(|length| *length > count) {
        verdict.add(0, Violation::SeedTooShort { seed_length, events: count });
    }
    let mut surface = Surface::default();
    let mut relations = Relations::new(vocabulary);
    for (index, event) in events.iter().enumerate() {
        let (expected, event) = (index as u64, event.borrow());
        if let Err(refusal) = take(expected, event, &mut surface, vocabulary) {
            verdict.add(expected, refusal.into());
            continue;
        }
        relations.see(event, &mut |what| verdict.add(expected, what));
    }
    check_history(&surface, &relations, &mut verdict);
    verdict.turns = relations.turns();
    verdict.open_turn = relations.open_turn();
    verdict
}

fn take(expected: u64, event: &Event, surface: &mut Surface, vocabulary: &Vocabulary) -> Result<(), Refusal> {
    if event.seq != expected {
        return Err(Refusal::Sequence { expected, found: event.seq });
    }
    let message = vocabulary.read(event)?;
    let plan = surface.plan(event)?;
    surface.apply(&Arc::new(event.clone()), message, plan);
    Ok(())
}

/// A history that a model can be sent: each result after its call, no call without the result that the log holds.
fn check_history(surface: &Surface, relations: &Relations<'_>, verdict: &mut Verdict) {
    let (mut called, mut answered) = (HashSet::new(), HashSet::new());
    for node in surface.nodes() {
        let Some(message) = &node.message else { continue };
        for id in call_ids(message) {
            called.insert(id);
        }
        let Source::Tool { call_id } = &message.source else { continue };
        answered.insert(call_id);
        if !called.contains(call_id) {
            verdict.add(node.event.seq, Violation::DerivedResultAlone { call_id: Arc::clone(call_id) });
        }
    }
    for node in surface.nodes() {
        for call_id in node.message.iter().flat_map(|message| call_ids(message)) {
            if !answered.contains(call_id) && relations.was_answered(call_id) {
                verdict.add(node.event.seq, Violation::DerivedCallAlone { call_id: Arc::clone(call_id) });
            }
        }
    }
}

fn call_ids(message: &Message) -> impl Iterator<Item = &Arc<str>> {
    message.content.iter().filter_map(|block| match block {
        ContentBlock::ToolCall { id, .. } => Some(id),
        ContentBlock::Text { .. }
        | ContentBlock::Reasoning { .. }
        | ContentBlock::Image { .. }
        | ContentBlock::ToolResult { .. }
        | ContentBlock::Other(_) => None,
    })
}
