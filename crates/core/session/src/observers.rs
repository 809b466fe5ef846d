//! Who is told of events.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};

use dsh_lifecycle::Registration;
use parking_lot::Mutex;

use crate::event::Event;

/// Told of each event after it is stored, in the log's order.
pub trait SessionObserver: Send + Sync {
    /// An event was appended; short, and without waiting for anyone who appends.
    ///
    /// A panic is contained and changes nothing. An append from here is refused with
    /// [`AppendError::Reentrant`](crate::AppendError::Reentrant): hand the work on instead. The log can be read.
    fn appended(&self, event: &Arc<Event>);
}

type Rows = Vec<(u64, Arc<dyn SessionObserver>)>;

/// The observers, copied when they change and not when they are told.
#[derive(Default)]
pub(crate) struct Observers(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    rows: Arc<Rows>,
    next: u64,
}

impl Observers {
    pub(crate) fn add(&self, observer: Arc<dyn SessionObserver>) -> Registration {
        let mut state = self.0.lock();
        let id = state.next;
        state.next += 1;
        Arc::make_mut(&mut state.rows).push((id, observer));
        let state = Arc::downgrade(&self.0);
        Registration::new(move || remove(&state, id))
    }

    pub(crate) fn tell(&self, event: &Arc<Event>) {
        let rows = Arc::clone(&self.0.lock().rows);
        for (_, observer) in rows.iter() {
            if catch_unwind(AssertUnwindSafe(|| observer.appended(event))).is_err() {
                tracing::warn!(seq = event.seq, kind = &*event.kind, "a session observer panicked");
            }
        }
    }
}

fn remove(state: &Weak<Mutex<State>>, id: u64) {
    let Some(state) = state.upgrade() else { return };
    let mut state = state.lock();
    let without = state.rows.iter().filter(|(row, _)| *row != id).cloned().collect();
    let before = std::mem::replace(&mut state.rows, Arc::new(without));
    drop(state);
    // Outside of the lock: the observer may do anything when it is dropped.
    drop(before);
}
