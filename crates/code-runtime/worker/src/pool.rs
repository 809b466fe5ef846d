//! Workers in stock, and the record of all that were started.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{Semaphore, oneshot, watch};

use crate::keeper::{Started, keep};
use crate::process::Process;
use crate::{Worker, WorkerError, WorkerSpec, entry};

/// Starts workers ahead of their use, gives each out once, and ends them.
///
/// The stock is filled at first, and again when a worker that was taken has ended: before, starting the next one would take
/// processors from the one that runs.
///
/// Dropping the pool kills the workers that wait; those that were taken belong to who took them. [`close`](Self::close)
/// ends all of them.
pub struct WorkerPool {
    shared: Arc<Shared>,
}

/// What the pool and its keepers share.
pub(crate) struct Shared {
    pub(crate) spec: WorkerSpec,
    state: Mutex<State>,
    /// One for each worker that may be in use.
    places: Arc<Semaphore>,
    /// How many processes are there, and how many will be there soon.
    living: watch::Sender<(usize, usize)>,
}

#[derive(Default)]
struct State {
    closed: bool,
    idle: VecDeque<Started>,
    /// Who waits for one of those that are starting, the first one first.
    waiting: VecDeque<oneshot::Sender<Result<Started, WorkerError>>>,
    /// How many will be there soon.
    starting: usize,
    /// Every process that was started and is not reaped.
    processes: BTreeMap<u32, Arc<Process>>,
}

impl State {
    /// How many still wait.
    fn takers(&self) -> usize {
        self.waiting.iter().filter(|waiting| !waiting.is_closed()).count()
    }
}

impl WorkerPool {
    /// A pool of such workers; the first ones are started at once, in the background. Needs no runtime.
    pub fn new(spec: WorkerSpec) -> Self {
        let shared = Arc::new(Shared {
            places: Arc::new(Semaphore::new(spec.max_workers.min(Semaphore::MAX_PERMITS))),
            spec,
            state: Mutex::default(),
            living: watch::Sender::new((0, 0)),
        });
        shared.refill();
        Self { shared }
    }

    /// A worker that was not used: one in stock, or else a new one. While `max_workers` are in use it waits for a place.
    /// To be called in a runtime of tokio with I/O. Dropping the future leaves nothing behind.
    ///
    /// # Errors
    /// [`WorkerError::Unavailable`] when none can be started, [`WorkerError::Unconfined`] when none is confined as
    /// demanded, [`WorkerError::Closed`] after [`close`](Self::close).
    pub async fn take(&self) -> Result<Worker, WorkerError> {
        let place = Arc::clone(&self.shared.places).acquire_owned().await.map_err(|_| WorkerError::Closed)?;
        let started = match self.shared.idle() {
            Some(started) => started,
            None => self.shared.next()?.await.unwrap_or(Err(WorkerError::Closed))?,
        };
        started.leash.0.occupy(place);
        Worker::new(started, &self.shared.spec)
    }

    /// The numbers of the processes that are ready to be taken, the next one first.
    pub fn in_stock(&self) -> Vec<u32> {
        self.shared.state.lock().idle.iter().map(|started| started.leash.0.id()).collect()
    }

    /// How many processes of this pool are there: starting, waiting, in use, or dead and about to be reaped.
    pub fn living(&self) -> usize {
        self.shared.living.borrow().0
    }

    /// Kills every worker, also those that were taken and those that are about to start, and waits until all are reaped.
    pub async fn close(&self) {
        self.shared.close(true);
        let mut living = self.shared.living.subscribe();
        // The sender is our own, so it is there.
        let _ = living.wait_for(|living| *living == (0, 0)).await;
    }
}

impl Drop for WorkerPool {
    fn drop(&mut self) {
        self.shared.close(false);
    }
}

impl Shared {
    /// The oldest that waits and is still alive.
    fn idle(&self) -> Option<Started> {
        let mut state = self.state.lock();
        while let Some(started) = state.idle.pop_front() {
            if started.leash.0.is_alive() {
                return Some(started);
            }
        }
        None
    }

    /// One that is starting and that nobody waits for, or else a new one. Who does not wait any more leaves it to the next.
    fn next(self: &Arc<Self>) -> Result<oneshot::Receiver<Result<Started, WorkerError>>, WorkerError> {
        entry::check(&self.spec.entry)?;
        let (deliver, delivered) = oneshot::channel();
        let mut state = self.state.lock();
        let missing = state.starting <= state.takers();
        state.waiting.push_back(deliver);
        state.starting += usize::from(missing);
        self.tell(&state);
        drop(state);
        if missing {
            self.start()?;
        }
        Ok(delivered)
    }

    /// Starts one, which was counted.
    fn start(self: &Arc<Self>) -> Result<(), WorkerError> {
        let shared = Arc::clone(self);
        let kept = keep(Arc::clone(self), Box::new(move |started| shared.stock(started)));
        if kept.is_err() {
            let mut state = self.state.lock();
            state.starting -= 1;
            self.tell(&state);
        }
        kept
    }

    /// Starts as many as are missing in stock. What can't be started is not tried again: the next `take` says why.
    fn refill(self: &Arc<Self>) {
        if entry::check(&self.spec.entry).is_err() {
            return;
        }
        loop {
            let mut state = self.state.lock();
            if state.closed || state.idle.len() + state.starting >= self.spec.idle + state.takers() {
                return;
            }
            state.starting += 1;
            self.tell(&state);
            drop(state);
            if self.start().is_err() {
                return;
            }
        }
    }

    /// Gives one that was started, or why it was not, to who waits for it; else it is put in stock.
    fn stock(&self, mut started: Result<Started, WorkerError>) {
        let mut state = self.state.lock();
        state.starting -= 1;
        self.tell(&state);
        while let Some(waiting) = state.waiting.pop_front() {
            match waiting.send(started) {
                Ok(()) => return,
                Err(again) => started = again,
            }
        }
        let refused = if state.closed {
            started.ok()
        } else {
            state.idle.extend(started.ok());
            None
        };
        drop(state);
        drop(refused);
    }

    /// Records a process. After the end of the pool it is killed at once.
    pub(crate) fn enrol(&self, process: &Arc<Process>) {
        let mut state = self.state.lock();
        state.processes.insert(process.id(), Arc::clone(process));
        self.tell(&state);
        if state.closed {
            process.kill();
        }
    }

    /// Takes a process that was reaped off the record. Its number may be another's by now.
    pub(crate) fn strike(self: &Arc<Self>, process: &Arc<Process>, taken: bool) {
        let mut state = self.state.lock();
        if state.processes.get(&process.id()).is_some_and(|there| Arc::ptr_eq(there, process)) {
            state.processes.remove(&process.id());
        }
        self.tell(&state);
        drop(state);
        if taken {
            self.refill();
        }
    }

    /// Tells who waits for the end how much is left.
    fn tell(&self, state: &State) {
        self.living.send_replace((state.processes.len(), state.starting));
    }

    fn close(&self, taken_too: bool) {
        self.places.close();
        let mut state = self.state.lock();
        state.closed = true;
        let idle = std::mem::take(&mut state.idle);
        state.waiting.clear();
        if taken_too {
            for process in state.processes.values() {
                process.kill();
            }
        }
        drop(state);
        drop(idle);
    }
}
