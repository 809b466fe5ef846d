//! Who is told, when, and what they can break.

use std::sync::Arc;

use dsh_session::{AppendError, Event, Session, SessionObserver};
use parking_lot::Mutex;

use crate::talk::*;

type Told = Arc<Mutex<Vec<String>>>;

struct Scribe {
    told: Told,
    name: &'static str,
}

impl SessionObserver for Scribe {
    fn appended(&self, event: &Arc<Event>) {
        self.told.lock().push(format!("{}{}", self.name, event.seq));
    }
}

struct Panics;

impl SessionObserver for Panics {
    fn appended(&self, event: &Arc<Event>) {
        panic!("no {}", event.seq);
    }
}

/// Reads the log, then appends to it.
struct Meddler {
    session: Session,
    answers: Arc<Mutex<Vec<(u64, bool)>>>,
}

impl SessionObserver for Meddler {
    fn appended(&self, event: &Arc<Event>) {
        let seen = self.session.event(event.seq).is_some_and(|seen| Arc::ptr_eq(&seen, event));
        assert!(seen, "an event is in the log when it is told");
        let refused = matches!(self.session.append(&start(9)), Err(AppendError::Reentrant));
        let closing = matches!(self.session.close_open(failed()), Err(AppendError::Reentrant));
        self.answers.lock().push((self.session.len(), refused && closing));
    }
}

#[test]
fn observers_are_told_in_order_until_they_are_taken_away() {
    let (session, told) = (session(), Told::default());
    let scribe = |name| Arc::new(Scribe { told: Arc::clone(&told), name });
    put(&session, &start(1));
    let first = session.observe(scribe("a"));
    let second = session.observe(scribe("b"));
    put(&session, &step(1, 1));
    drop(first);
    put(&session, &step_end(1, 1));
    drop(second);
    put(&session, &end(1));
    assert_eq!(*told.lock(), ["a1", "b1", "b2"]);
}

#[test]
fn a_panic_is_contained() {
    let (session, told) = (session(), Told::default());
    session.observe(Arc::new(Panics)).keep();
    session.observe(Arc::new(Scribe { told: Arc::clone(&told), name: "" })).keep();
    put(&session, &start(1));
    put(&session, &end(1));
    assert_eq!(*told.lock(), ["0", "1"]);
}

#[test]
fn an_append_from_an_observer_is_refused_and_the_others_are_told() {
    let (session, told) = (session(), Told::default());
    let answers = Arc::<Mutex<Vec<_>>>::default();
    let meddler = Meddler { session: session.clone(), answers: Arc::clone(&answers) };
    let meddling = session.observe(Arc::new(meddler));
    session.observe(Arc::new(Scribe { told: Arc::clone(&told), name: "" })).keep();
    put(&session, &start(1));
    put(&session, &end(1));
    assert_eq!(*answers.lock(), [(1, true), (2, true)]);
    assert_eq!(*told.lock(), ["0", "1"]);
    drop(meddling);
}

#[test]
fn threads_tell_in_the_log_s_order() {
    let (session, told) = (session(), Told::default());
    session.observe(Arc::new(Scribe { told: Arc::clone(&told), name: "" })).keep();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let session = &session;
            scope.spawn(move || {
                for number in 0..50 {
                    put(session, &user(&format!("{thread}.{number}"), "x"));
                }
            });
        }
    });
    assert_eq!(*told.lock(), (0..200).map(|seq: u64| seq.to_string()).collect::<Vec<_>>());
}

#[test]
fn a_registration_outlives_its_session() {
    let observed = session();
    let registration = observed.observe(Arc::new(Panics));
    drop(observed);
    drop(registration);
}
