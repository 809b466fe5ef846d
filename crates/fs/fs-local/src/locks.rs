//! One writer per key at a time, in the order of asking.

use std::collections::HashMap;
use std::sync::Arc;

use dsh_fs::FsError;
use dsh_lifecycle::Cancel;
use parking_lot::Mutex;
use tokio::sync::{Mutex as Turn, OwnedMutexGuard};

/// Locks by key. A key that nobody holds or waits for takes no space (spec 07 §3.8).
#[derive(Debug, Clone, Default)]
pub(crate) struct KeyLocks(Arc<Mutex<Rows>>);

type Rows = HashMap<Arc<str>, Arc<Turn<()>>>;

/// The lock of one key, until it is dropped. Moves into the blocking work, so that it outlives a dropped call.
#[derive(Debug)]
pub(crate) struct Held {
    // Fields drop in order: first the lock, then the place in the map.
    _turn: OwnedMutexGuard<()>,
    _ticket: Ticket,
}

#[derive(Debug)]
struct Ticket {
    locks: KeyLocks,
    key: Arc<str>,
    turn: Option<Arc<Turn<()>>>,
}

impl KeyLocks {
    /// Waits for the lock of `key`, behind everyone who asked before; `FS_ABORTED` when cancelled meanwhile.
    pub(crate) async fn lock(&self, key: &Arc<str>, cancel: &Cancel) -> Result<Held, FsError> {
        let turn = Arc::clone(self.0.lock().entry(Arc::clone(key)).or_default());
        let ticket = Ticket { locks: self.clone(), key: Arc::clone(key), turn: Some(Arc::clone(&turn)) };
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(FsError::aborted()),
            turn = turn.lock_owned() => Ok(Held { _turn: turn, _ticket: ticket }),
        }
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.0.lock().len()
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut rows = self.locks.0.lock();
        drop(self.turn.take());
        // Only the map's own is left: whoever asks next starts a new one. Nobody can be between, the map is locked.
        if rows.get(&self.key).is_some_and(|turn| Arc::strong_count(turn) == 1) {
            rows.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dsh_lifecycle::Cause;

    #[tokio::test]
    async fn a_key_is_held_by_one_at_a_time_in_order() {
        let (locks, key, cancel) = (KeyLocks::default(), Arc::from("k"), Cancel::new());
        let order = Arc::new(Mutex::new(Vec::new()));
        let first = locks.lock(&key, &cancel).await.unwrap();
        let waiters: Vec<_> = (0..3)
            .map(|number| {
                let (locks, key, cancel, order) =
                    (locks.clone(), Arc::clone(&key), cancel.clone(), Arc::clone(&order));
                async move {
                    let _held = locks.lock(&key, &cancel).await.unwrap();
                    order.lock().push(number);
                    tokio::task::yield_now().await;
                }
            })
            .collect();
        let other = locks.lock(&Arc::from("other"), &cancel).await.unwrap();
        let mut waiters = waiters.into_iter();
        let (a, b, c) = (waiters.next().unwrap(), waiters.next().unwrap(), waiters.next().unwrap());
        tokio::join!(a, b, c, async {
            tokio::task::yield_now().await;
            assert!(order.lock().is_empty());
            drop(first);
        });
        assert_eq!(*order.lock(), [0, 1, 2]);
        drop(other);
        assert_eq!(locks.len(), 0);
    }

    #[tokio::test]
    async fn a_cancelled_waiter_leaves_no_trace() {
        let (locks, key, cancel) = (KeyLocks::default(), Arc::from("k"), Cancel::new());
        let held = locks.lock(&key, &cancel).await.unwrap();
        let child = cancel.child();
        let (waited, ()) = tokio::join!(locks.lock(&key, &child), async { child.cancel(Cause::User) });
        assert_eq!(waited.unwrap_err().code(), "FS_ABORTED");
        assert_eq!(locks.len(), 1);
        drop(held);
        assert_eq!(locks.len(), 0);
    }
}
