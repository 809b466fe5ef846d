//! The event types that a program knows.

use std::any::TypeId;
use std::collections::BTreeMap;
use std::sync::Arc;

use dsh_json::Json;
use dsh_llm::{Message, ShapeError};

use crate::conversation::{AssistantChunk, AssistantMessage, ToolCall, ToolResult, UserMessage};
use crate::event::Event;
use crate::payload::Payload;
use crate::refusal::Refusal;
use crate::request::{RequestContext, RequestHeader};
use crate::turn::{EndSeed, StepEnd, StepStart, TurnEnd, TurnStart};

/// The event types that a program knows, each with its rules, and the pairs of types that open and close something.
///
/// What is appended and what is loaded meet the same rules (design §4.4). A type that is not in the vocabulary is kept
/// as it is when its event is ignorable, and refused by name otherwise.
#[derive(Debug, Clone)]
pub struct Vocabulary {
    rules: BTreeMap<&'static str, Rule>,
    pairs: Vec<PairRule>,
}

/// How events of two types open and close something, so that repair can close what was left open.
///
/// A declared pair promises that it opens within a turn, and is closed before that turn ends.
#[derive(Debug)]
pub struct Pair<Open, Close> {
    /// What an opening event opens.
    pub opened: fn(&Open) -> Arc<str>,
    /// What a closing event closes.
    pub closed: fn(&Close) -> Arc<str>,
    /// What is written for an opening event that was never closed.
    pub close: fn(&Open) -> Close,
}

impl<Open, Close> Clone for Pair<Open, Close> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Open, Close> Copy for Pair<Open, Close> {}

/// Two payloads of one name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the event type `{kind}` is declared twice, by different payloads")]
pub struct VocabularyError {
    /// The name.
    pub kind: &'static str,
}

impl Vocabulary {
    /// The types that this crate owns: turns, steps, messages, calls, requests.
    pub fn core() -> Self {
        let mut core = Self { rules: BTreeMap::new(), pairs: Vec::new() };
        core.put::<TurnStart>();
        core.put::<TurnEnd>();
        core.put::<StepStart>();
        core.put::<StepEnd>();
        core.put::<UserMessage>();
        core.put::<AssistantChunk>();
        core.put::<AssistantMessage>();
        core.put::<ToolCall>();
        core.put::<ToolResult>();
        core.put::<RequestHeader>();
        core.put::<RequestContext>();
        core.put::<EndSeed>();
        core
    }

    /// The same, and `P`. Saying it twice changes nothing; another payload of the same name is refused.
    pub fn with<P: Payload>(mut self) -> Result<Self, VocabularyError> {
        match self.rules.get(P::TYPE) {
            Some(rule) if rule.payload != TypeId::of::<P>() => return Err(VocabularyError { kind: P::TYPE }),
            Some(_) => {}
            None => self.put::<P>(),
        }
        Ok(self)
    }

    /// The same, with two types that open and close something; declares both.
    pub fn with_pair<Open: Payload, Close: Payload>(
        self,
        pair: Pair<Open, Close>,
    ) -> Result<Self, VocabularyError> {
        let mut vocabulary = self.with::<Open>()?.with::<Close>()?;
        if !vocabulary.pairs.iter().any(|known| known.open == Open::TYPE && known.close == Close::TYPE) {
            vocabulary.pairs.push(PairRule::new(pair));
        }
        Ok(vocabulary)
    }

    /// Whether a type is known.
    pub fn knows(&self, kind: &str) -> bool {
        self.rules.contains_key(kind)
    }

    /// The names of the known types, sorted.
    pub fn kinds(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.rules.keys().copied()
    }

    /// Checks one event by itself: envelope, type, payload, surface fields. What depends on the events before it
    /// (sequence, surface order, provenance) is checked where the log is.
    pub fn check(&self, event: &Event) -> Result<(), Refusal> {
        self.read(event).map(drop)
    }

    /// [`check`](Self::check), and what the event adds to the history.
    pub(crate) fn read(&self, event: &Event) -> Result<Option<Arc<Message>>, Refusal> {
        event.check()?;
        let rule = self.rule(&event.kind);
        if rule.is_none() && !event.ignorable {
            return Err(Refusal::UnknownType { kind: Arc::clone(&event.kind) });
        }
        check_surface_fields(event, rule.is_some_and(|rule| rule.surface))?;
        match rule {
            None => Ok(None),
            Some(rule) => rule.read(&event.data),
        }
    }

    pub(crate) fn rule(&self, kind: &str) -> Option<&Rule> {
        self.rules.get(kind)
    }

    pub(crate) fn pairs(&self) -> &[PairRule] {
        &self.pairs
    }

    fn put<P: Payload>(&mut self) {
        self.rules.insert(P::TYPE, Rule::of::<P>());
    }
}

/// What holds for one type.
#[derive(Debug, Clone)]
pub(crate) struct Rule {
    pub(crate) kind: Arc<str>,
    pub(crate) payload: TypeId,
    pub(crate) surface: bool,
    read: fn(&Json) -> Result<Option<Arc<Message>>, ShapeError>,
}

impl Rule {
    fn of<P: Payload>() -> Self {
        Self {
            kind: P::TYPE.into(),
            payload: TypeId::of::<P>(),
            surface: P::SURFACE,
            read: |json| {
                let payload = P::from_json(json)?;
                payload.check()?;
                Ok(if P::SURFACE { payload.message() } else { None })
            },
        }
    }

    /// Checks a payload, and tells what it adds to the history.
    pub(crate) fn read(&self, data: &Json) -> Result<Option<Arc<Message>>, Refusal> {
        (self.read)(data).map_err(|source| Refusal::Payload { kind: Arc::clone(&self.kind), source })
    }
}

/// A [`Pair`], its types erased.
#[derive(Clone)]
pub(crate) struct PairRule {
    pub(crate) open: &'static str,
    pub(crate) close: &'static str,
    pub(crate) close_surface: bool,
    pub(crate) close_ignorable: bool,
    pub(crate) opened: Arc<KeyOf>,
    pub(crate) closed: Arc<KeyOf>,
    pub(crate) closing: Arc<ClosingOf>,
}

type KeyOf = dyn Fn(&Json) -> Option<Arc<str>> + Send + Sync;
type ClosingOf = dyn Fn(&Json) -> Option<Json> + Send + Sync;

impl PairRule {
    fn new<Open: Payload, Close: Payload>(pair: Pair<Open, Close>) -> Self {
        let Pair { opened, closed, close } = pair;
        Self {
            open: Open::TYPE,
            close: Close::TYPE,
            close_surface: Close::SURFACE,
            close_ignorable: Close::IGNORABLE,
            opened: Arc::new(move |json| Open::from_json(json).ok().map(|open| opened(&open))),
            closed: Arc::new(move |json| Close::from_json(json).ok().map(|end| closed(&end))),
            closing: Arc::new(move |json| {
                let open = Open::from_json(json).ok()?;
                close(&open).to_json().ok()
            }),
        }
    }
}

impl std::fmt::Debug for PairRule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} … {}", self.open, self.close)
    }
}

pub(crate) fn check_surface_fields(event: &Event, surface: bool) -> Result<(), Refusal> {
    let kind = || Arc::clone(&event.kind);
    match (surface, event.surface_op) {
        (true, Some(_)) => Ok(()),
        (true, None) => Err(Refusal::SurfaceOpMissing { kind: kind() }),
        (false, None) if event.source_event_seqs.is_none() => Ok(()),
        (false, _) => Err(Refusal::NotOnSurface { kind: kind() }),
    }
}

#[cfg(test)]
mod tests;
