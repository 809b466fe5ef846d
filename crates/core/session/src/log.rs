//! The log in memory: what was let in, and what follows from it.

use std::collections::HashSet;
use std::sync::Arc;

use dsh_json::Json;
use dsh_llm::{ContentBlock, Message};

use crate::conversation::ToolCall;
use crate::event::Event;
use crate::payload::Payload;
use crate::refusal::Refusal;
use crate::repair::{Closer, closers_since};
use crate::request::{RequestContext, RequestHeader};
use crate::surface::{Plan, Surface};
use crate::turn::{TurnEnd, TurnEndReason, TurnStart};
use crate::vocabulary::Vocabulary;

#[derive(Debug, Default)]
pub(crate) struct Log {
    events: Vec<Arc<Event>>,
    surface: Surface,
    last_turn: u32,
    open_turn: Option<u32>,
    call_ids: HashSet<Arc<str>>,
    /// The seqs of the last `request/header` and the last `request/context`.
    last_request: [Option<u64>; 2],
    /// How many events there were when everything was closed.
    closed: usize,
}

impl Log {
    /// The seq of the next event.
    pub(crate) fn next_seq(&self) -> u64 {
        self.events.len() as u64
    }

    /// Checks what depends on the events before: sequence, provenance, surface order. The event has met the
    /// vocabulary's rules. Changes nothing; [`commit`](Self::commit) does.
    pub(crate) fn admit(&self, event: &Event) -> Result<Plan, Refusal> {
        let expected = self.next_seq();
        if event.seq != expected {
            return Err(Refusal::Sequence { expected, found: event.seq });
        }
        self.surface.plan(event)
    }

    /// Takes an event in; `message` and `plan` belong to it.
    pub(crate) fn commit(&mut self, event: Arc<Event>, message: Option<Arc<Message>>, plan: Plan) {
        if *event.kind == *TurnStart::TYPE {
            let turn =
                event.data.get("turn").and_then(Json::as_u64).and_then(|turn| u32::try_from(turn).ok());
            self.last_turn = turn.unwrap_or(self.last_turn);
            self.open_turn = Some(self.last_turn);
        } else if *event.kind == *TurnEnd::TYPE {
            self.open_turn = None;
        } else if *event.kind == *ToolCall::TYPE {
            self.call_ids.extend(event.data.get("callId").and_then(shared));
        } else if *event.kind == *RequestHeader::TYPE {
            self.last_request[0] = Some(event.seq);
        } else if *event.kind == *RequestContext::TYPE {
            self.last_request[1] = Some(event.seq);
        }
        for block in message.iter().flat_map(|message| message.tool_calls()) {
            if let ContentBlock::ToolCall { id, .. } = block {
                self.call_ids.insert(Arc::clone(id));
            }
        }
        self.surface.apply(&event, message, plan);
        self.events.push(event);
    }

    pub(crate) fn events(&self) -> &[Arc<Event>] {
        &self.events
    }

    /// The last `request/header` and the last `request/context`.
    pub(crate) fn last_request(&self) -> [Option<&Arc<Event>>; 2] {
        let event = |seq| self.events.get(usize::try_from(seq).ok()?);
        self.last_request.map(|seq| seq.and_then(event))
    }

    /// What closes what is open. Only what came since everything was closed is looked at.
    pub(crate) fn closers(&self, vocabulary: &Vocabulary, reason: TurnEndReason) -> Vec<Closer> {
        closers_since(self.closed, &self.events, vocabulary, reason)
    }

    /// Whether a declared pair is open, by how many of each type there are since everything was closed.
    pub(crate) fn has_open_pair(&self, vocabulary: &Vocabulary) -> bool {
        let since = self.events.get(self.closed..).unwrap_or_default();
        let count = |kind: &str| since.iter().filter(|event| *event.kind == *kind).count();
        vocabulary.pairs().iter().any(|pair| count(pair.open) != count(pair.close))
    }

    /// Everything is closed now.
    pub(crate) fn set_closed(&mut self) {
        self.closed = self.events.len();
    }

    pub(crate) fn surface(&self) -> &Surface {
        &self.surface
    }

    /// The highest turn that was started; 0 before the first.
    pub(crate) fn last_turn(&self) -> u32 {
        self.last_turn
    }

    /// The turn that was started and not ended.
    pub(crate) fn open_turn(&self) -> Option<u32> {
        self.open_turn
    }

    pub(crate) fn call_id_used(&self, id: &str) -> bool {
        self.call_ids.contains(id)
    }
}

fn shared(json: &Json) -> Option<Arc<str>> {
    match json {
        Json::String(text) => Some(Arc::clone(text)),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_) | Json::Object(_) => None,
    }
}
