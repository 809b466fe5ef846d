//! The time of the recorded vectors: timers fire one at a time, by deadline and then by registration, and all work
//! that is ready runs before the next one does.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use parking_lot::Mutex;

#[derive(Clone, Default)]
pub(super) struct VirtualClock(Arc<Mutex<Timers>>);

#[derive(Default)]
struct Timers {
    now: u64,
    registered: u64,
    /// By deadline and number.
    waiting: BTreeMap<(u64, u64), Waker>,
}

impl VirtualClock {
    pub(super) fn now(&self) -> u64 {
        self.0.lock().now
    }

    /// Waits for the timer that is registered at the first poll, also for one of no time.
    pub(super) async fn sleep(&self, ms: u64) {
        let mut registered = None;
        poll_fn(|cx| {
            let mut timers = self.0.lock();
            let key = *registered.get_or_insert_with(|| {
                timers.registered += 1;
                let key = (timers.now.saturating_add(ms), timers.registered);
                timers.waiting.insert(key, cx.waker().clone());
                key
            });
            match timers.waiting.get_mut(&key) {
                None => Poll::Ready(()),
                Some(waker) => {
                    waker.clone_from(cx.waker());
                    Poll::Pending
                }
            }
        })
        .await;
    }

    /// Runs until the future has ended; nothing, when it waits for what never comes.
    pub(super) fn run<T>(&self, future: impl Future<Output = T>) -> Option<T> {
        let woken = Arc::new(Woken(AtomicBool::new(true)));
        let waker = Waker::from(Arc::clone(&woken));
        let mut future = pin!(future);
        loop {
            while woken.0.swap(false, Ordering::Relaxed) {
                if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
                    return Some(output);
                }
            }
            let mut timers = self.0.lock();
            let ((deadline, _), timer) = timers.waiting.pop_first()?;
            timers.now = deadline;
            drop(timers);
            timer.wake();
        }
    }
}

struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}
