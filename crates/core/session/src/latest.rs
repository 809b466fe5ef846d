//! The last event of one type, kept as logs grow.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use parking_lot::{Mutex, RwLock};

use crate::event::Event;
use crate::observers::SessionObserver;
use crate::payload::Payload;
use crate::session::Session;

/// The last event of one type in each session that it follows: what holds now, where the last one counts. Asking costs a
/// lookup, whatever the length of the log.
///
/// It keeps no session alive, and forgets those that are gone.
#[derive(Debug)]
pub struct Latest<P>(RwLock<BTreeMap<Arc<str>, Vec<Followed<P>>>>);

#[derive(Debug)]
struct Followed<P> {
    /// Which of the sessions of this id it is.
    identity: usize,
    last: Weak<Last<P>>,
}

/// What was last in one session. The session holds it, as an observer, so that it goes with the session.
#[derive(Debug)]
struct Last<P>(Mutex<Option<(u64, P)>>);

impl<P> Default for Latest<P> {
    fn default() -> Self {
        Self(RwLock::default())
    }
}

impl<P: Payload + Clone + Send> Latest<P> {
    /// Follows a session from now on, what is in its log already included. Following it again changes nothing.
    pub fn follow(&self, session: &Session) {
        self.known(session).unwrap_or_else(|| self.followed(session));
    }

    /// The payload of the last event in a followed session, by the session's id; `None` when there is none. Of several living
    /// sessions of one id it is the one that was followed last.
    pub fn of(&self, session: &str) -> Option<P> {
        let last = self.0.read().get(session)?.iter().rev().find_map(|followed| followed.last.upgrade())?;
        last.get().map(|(_, payload)| payload)
    }

    /// The same with the seq of the event, in a session that is followed from now on if it was not.
    pub fn last(&self, session: &Session) -> Option<(u64, P)> {
        self.known(session).unwrap_or_else(|| self.followed(session)).get()
    }

    fn known(&self, session: &Session) -> Option<Arc<Last<P>>> {
        let followed = self.0.read();
        let known = followed.get(session.id()).into_iter().flatten();
        known.filter(|known| known.identity == session.identity()).find_map(|known| known.last.upgrade())
    }

    fn followed(&self, session: &Session) -> Arc<Last<P>> {
        let last = Arc::new(Last(Mutex::new(None)));
        // Before the look back, so that nothing is missed in between; an older event never replaces a newer one.
        session.observe(Arc::clone(&last) as _).keep();
        for event in session.events() {
            last.note(&event);
        }
        let mut followed = self.0.write();
        followed.retain(|_, known| {
            known.retain(|known| known.last.strong_count() > 0);
            !known.is_empty()
        });
        let known = Followed { identity: session.identity(), last: Arc::downgrade(&last) };
        followed.entry(Arc::clone(session.id())).or_default().push(known);
        last
    }
}

impl<P: Payload + Clone> Last<P> {
    fn get(&self) -> Option<(u64, P)> {
        self.0.lock().clone()
    }

    fn note(&self, event: &Event) {
        let Some(Ok(payload)) = event.read::<P>() else { return };
        let mut held = self.0.lock();
        if held.as_ref().is_none_or(|(seq, _)| *seq <= event.seq) {
            *held = Some((event.seq, payload));
        }
    }
}

impl<P: Payload + Clone + Send> SessionObserver for Last<P> {
    fn appended(&self, event: &Arc<Event>) {
        self.note(event);
    }
}

#[cfg(test)]
mod tests {
    use dsh_lifecycle::SteppingClock;

    use super::*;
    use crate::{Header, SessionSpec, TurnEnd, TurnEndReason, TurnStart, Vocabulary};

    fn session(id: &str) -> Session {
        Session::create(SessionSpec {
            header: Header::new(id, 0).unwrap(),
            vocabulary: Arc::new(Vocabulary::core()),
            clock: Arc::new(SteppingClock::starting_at(0)),
            sink: None,
        })
    }

    #[test]
    fn the_last_one_counts_also_one_from_before() {
        let (latest, session) = (Latest::<TurnStart>::default(), session("a"));
        for turn in [1, 2] {
            session.append(&TurnStart { turn }).unwrap();
            session.append(&TurnEnd { turn, reason: TurnEndReason::Completed }).unwrap();
        }
        assert_eq!(latest.of("a"), None, "it is not followed");
        assert_eq!(latest.last(&session), Some((2, TurnStart { turn: 2 })));
        session.append(&TurnStart { turn: 3 }).unwrap();
        assert_eq!(latest.of("a"), Some(TurnStart { turn: 3 }));
    }

    #[test]
    fn sessions_that_are_gone_are_forgotten() {
        let (latest, gone) = (Latest::<TurnStart>::default(), session("a"));
        gone.append(&TurnStart { turn: 1 }).unwrap();
        latest.follow(&gone);
        drop(gone);
        assert_eq!(latest.of("a"), None);
        let (here, rows) =
            (session("b"), |latest: &Latest<TurnStart>| latest.0.read().values().flatten().count());
        for _ in 0..3 {
            latest.follow(&here);
            assert_eq!(rows(&latest), 1);
        }
    }

    #[test]
    fn two_sessions_of_one_id_know_nothing_of_each_other() {
        let (latest, first, second) = (Latest::<TurnStart>::default(), session("a"), session("a"));
        first.append(&TurnStart { turn: 1 }).unwrap();
        assert_eq!(latest.last(&first), Some((0, TurnStart { turn: 1 })));
        assert_eq!(latest.last(&second), None);
        assert_eq!(latest.last(&first), Some((0, TurnStart { turn: 1 })));
    }

    #[test]
    fn a_turn_is_open_from_its_start_to_its_end() {
        let session = session("a");
        assert_eq!(session.open_turn(), None);
        session.append(&TurnStart { turn: 1 }).unwrap();
        assert_eq!(session.open_turn(), Some(1));
        session.append(&TurnEnd { turn: 1, reason: TurnEndReason::Completed }).unwrap();
        assert_eq!(session.open_turn(), None);
    }
}
