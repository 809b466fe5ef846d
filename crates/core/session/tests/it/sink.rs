//! The store: before everyone else, and without it nothing.

use std::io;
use std::sync::Arc;

use async_trait::async_trait;
use dsh_session::{AppendError, Event, Session, SessionObserver, Sink, SinkError};
use parking_lot::Mutex;

use crate::talk::*;

/// Keeps lines, until it is full.
#[derive(Default)]
struct Shelf {
    lines: Mutex<Vec<String>>,
    full: Mutex<bool>,
    order: Mutex<Vec<&'static str>>,
}

#[async_trait]
impl Sink for Shelf {
    fn write(&self, event: &Event) -> Result<(), SinkError> {
        if *self.full.lock() {
            return Err(SinkError::new(io::Error::from(io::ErrorKind::StorageFull)));
        }
        self.order.lock().push("stored");
        self.lines.lock().push(event.to_json().to_text());
        Ok(())
    }

    async fn flush(&self) -> Result<(), SinkError> {
        if *self.full.lock() {
            return Err(SinkError::new(io::Error::from(io::ErrorKind::StorageFull)));
        }
        self.order.lock().push("flushed");
        Ok(())
    }
}

struct Teller(Arc<Shelf>);

impl SessionObserver for Teller {
    fn appended(&self, _: &Arc<Event>) {
        self.0.order.lock().push("told");
    }
}

fn shelved() -> (Session, Arc<Shelf>) {
    let shelf = Arc::new(Shelf::default());
    let sink: Arc<dyn Sink> = shelf.clone();
    (Session::create(spec(Some(sink))), shelf)
}

#[test]
fn an_event_is_stored_before_it_is_told() {
    let (session, shelf) = shelved();
    session.observe(Arc::new(Teller(Arc::clone(&shelf)))).keep();
    let event = session.append(&start(1)).unwrap();
    assert_eq!(*shelf.order.lock(), ["stored", "told"]);
    assert_eq!(*shelf.lines.lock(), [event.to_json().to_text()]);
}

#[test]
fn a_failed_write_leaves_everything_as_it_was() {
    let (session, shelf) = shelved();
    session.observe(Arc::new(Teller(Arc::clone(&shelf)))).keep();
    put(&session, &user("a", "a"));
    let before = (session.events(), session.messages(), session.surface(), session.next_turn());
    *shelf.full.lock() = true;
    for _ in 0..2 {
        let error = session.append(&user("b", "b")).unwrap_err();
        let AppendError::Sink(sink) = &error else { panic!() };
        assert_eq!(sink.downcast_ref::<io::Error>().unwrap().kind(), io::ErrorKind::StorageFull);
        assert_eq!(error.to_string(), "the session log can't be written: no storage space");
    }
    assert!(session.append(&start(1)).is_err());
    assert!(session.append(&call(1, 1, "c")).is_err());
    assert!(session.replace(&user("c", "c"), 0, 0, &[0]).is_err());
    let after = (session.events(), session.messages(), session.surface(), session.next_turn());
    assert_eq!(after, before);
    assert!(!session.call_id_used("c"));
    assert_eq!(*shelf.order.lock(), ["stored", "told"]);

    *shelf.full.lock() = false;
    assert_eq!(put(&session, &user("b", "b")), 1);
}

#[test]
fn a_refused_event_is_not_stored() {
    let (session, shelf) = shelved();
    assert!(session.append(&user("", "x")).is_err());
    assert!(session.append_from(&user("a", "x"), &[5]).is_err());
    assert_eq!(shelf.lines.lock().len(), 0);
}

#[test]
fn resuming_stores_only_what_is_new() {
    let (first, _) = shelved();
    put(&first, &start(1));
    let shelf = Arc::new(Shelf::default());
    let sink: Arc<dyn Sink> = shelf.clone();
    Session::resume(spec(Some(sink)), owned(&first)).unwrap();
    let kinds: Vec<_> = shelf.lines.lock().iter().map(|line| json(line)).collect();
    let kinds: Vec<_> = kinds.iter().map(|line| line.get("type").unwrap().as_str().unwrap()).collect();
    assert_eq!(kinds, ["turn/end", "session/end-seed"]);
}

#[test]
fn a_store_that_is_full_refuses_a_resume() {
    let shelf = Arc::new(Shelf { full: Mutex::new(true), ..Shelf::default() });
    let error = Session::resume(spec(Some(shelf)), Vec::new()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "failed to close what was left open: the session log can't be written: no storage space"
    );
}

#[tokio::test]
async fn a_flush_reaches_the_store_and_its_failure_the_caller() {
    let (stored, shelf) = shelved();
    stored.flush().await.unwrap();
    assert_eq!(*shelf.order.lock(), ["flushed"]);
    *shelf.full.lock() = true;
    assert_eq!(stored.flush().await.unwrap_err().to_string(), "no storage space");
    session().flush().await.unwrap();
}
