//! A new session that begins with what another one has said (spec 03 §5).

use std::borrow::Borrow;
use std::sync::Arc;

use crate::event::Event;
use crate::header::Header;
use crate::payload::Payload;
use crate::turn::{TurnEnd, TurnStart};

/// What a new session takes over from another: its first events, whole turns only.
///
/// The child's log begins with a copy of them, so it says the same until there; what either appends afterwards the
/// other does not see. [`Session::resume`](crate::Session::resume) makes a session of it and marks where the copy ends
/// with `session/end-seed`; its [`first_live_seq`](crate::Session::first_live_seq) is the first event of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Fork {
    parent: Arc<str>,
    events: Vec<Event>,
}

/// Why a session can't be forked there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ForkError {
    /// There is no such event.
    #[error("event {boundary} is not there: the session has {events} events, counted from 0")]
    InvalidBoundary {
        /// The last event that was to be taken over.
        boundary: u64,
        /// How many there are.
        events: u64,
    },
    /// The last event belongs to a turn that is not over there.
    #[error(
        "event {boundary} lies inside turn {turn}, and a fork takes whole turns; take an event before {began}, where it began"
    )]
    OpenTurn {
        /// The last event that was to be taken over.
        boundary: u64,
        /// The turn.
        turn: u32,
        /// Its first event.
        began: u64,
    },
}

impl ForkError {
    /// Its code, stable.
    pub fn code(&self) -> &'static str {
        match self {
            Self::InvalidBoundary { .. } => "INVALID_BOUNDARY",
            Self::OpenTurn { .. } => "OPEN_TURN",
        }
    }
}

impl Fork {
    /// The events up to `boundary`, itself included; without one, all of them. Events that belong to no turn may come
    /// last; an empty session has an empty fork.
    ///
    /// A boundary that is not there is [`ForkError::InvalidBoundary`], one inside a turn that is not over by then
    /// [`ForkError::OpenTurn`].
    pub fn of<E: Borrow<Event>>(
        parent: &Header,
        events: &[E],
        boundary: Option<u64>,
    ) -> Result<Self, ForkError> {
        let count = events.len() as u64;
        let taken = match boundary {
            None => events,
            Some(boundary) => usize::try_from(boundary)
                .ok()
                .and_then(|last| events.get(..=last))
                .ok_or(ForkError::InvalidBoundary { boundary, events: count })?,
        };
        if let Some((began, turn)) = open_turn(taken) {
            return Err(ForkError::OpenTurn { boundary: taken.len() as u64 - 1, turn, began });
        }
        let events = taken.iter().map(|event| event.borrow().clone()).collect();
        Ok(Self { parent: Arc::clone(parent.id()), events })
    }

    /// The events, as they are in the parent.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// What the new session is made of: its header, which is `child` with where its first events are from, and these.
    pub fn into_child(self, child: Header) -> (Header, Vec<Event>) {
        (child.seeded(self.parent, self.events.len() as u64), self.events)
    }
}

/// Where the turn that is not over began, and its number.
fn open_turn<E: Borrow<Event>>(events: &[E]) -> Option<(u64, u32)> {
    let events = events.iter().map(Borrow::borrow);
    let last = events.rev().find(|event| [TurnStart::TYPE, TurnEnd::TYPE].contains(&&*event.kind))?;
    Some((last.seq, last.read::<TurnStart>()?.ok()?.turn))
}
