//! A work whose calls are a few numbers and whose trace is text.

use std::future::Future;
use std::num::NonZeroUsize;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use dsh_scheduler::{Limits, Mode, Started, Work, run};
use futures_util::stream;
use parking_lot::Mutex;
use tokio::time::{Instant, sleep};

/// One call: how it behaves and how long each of its parts takes, in milliseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call {
    pub exclusive: bool,
    pub settled: bool,
    pub panics: bool,
    pub start: u64,
    pub body: u64,
    pub commit: u64,
    pub side: u64,
}

pub(crate) fn parallel(body: u64) -> Call {
    Call { exclusive: false, settled: false, panics: false, start: 0, body, commit: 0, side: 0 }
}

pub(crate) fn exclusive(body: u64) -> Call {
    Call { exclusive: true, ..parallel(body) }
}

pub(crate) type Trace = Arc<Mutex<Vec<(u64, String)>>>;
type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

pub(crate) struct Traced {
    pub trace: Trace,
    began: Instant,
    next: usize,
    pub stop_at: Option<u64>,
    pub fail_commit_of: Option<usize>,
    pub fail_side_of: Option<usize>,
    /// From this call's commit on, every call is exclusive.
    pub turns_exclusive_at: Option<usize>,
    turned: bool,
}

impl Traced {
    pub(crate) fn new() -> Self {
        Self {
            trace: Trace::default(),
            began: Instant::now(),
            next: 0,
            stop_at: None,
            fail_commit_of: None,
            fail_side_of: None,
            turns_exclusive_at: None,
            turned: false,
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn note(&self, what: impl Into<String>) {
        self.trace.lock().push((self.now(), what.into()));
    }
}

async fn pause(ms: u64) {
    if ms > 0 {
        sleep(Duration::from_millis(ms)).await;
    }
}

impl Work for Traced {
    type Call = Call;
    type Ticket = (usize, Call);
    type Output = usize;
    type Error = String;
    type Body = Boxed<usize>;
    type Side = Boxed<Result<(), String>>;

    fn mode(&self, call: &Call) -> Mode {
        if call.exclusive || self.turned { Mode::Exclusive } else { Mode::Parallel }
    }

    fn stopped(&self) -> bool {
        self.stop_at.is_some_and(|at| self.now() >= at)
    }

    async fn start(&mut self, call: Call) -> Result<(Self::Ticket, Started<Self::Body, usize>), String> {
        let number = self.next;
        self.next += 1;
        self.note(format!("start {number}"));
        pause(call.start).await;
        if call.settled {
            return Ok(((number, call), Started::Settled(number)));
        }
        let (trace, began) = (Arc::clone(&self.trace), self.began);
        let body = async move {
            let note = |what: &str| {
                let at = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
                trace.lock().push((at, format!("{what} {number}")));
            };
            note("begin");
            pause(call.body).await;
            assert!(!call.panics, "body {number} panics on purpose");
            note("end");
            number
        };
        Ok(((number, call), Started::Running(Box::pin(body))))
    }

    async fn commit(
        &mut self,
        (number, call): Self::Ticket,
        output: usize,
    ) -> Result<Option<Self::Side>, String> {
        assert_eq!(number, output);
        pause(call.commit).await;
        self.note(format!("commit {number}"));
        if self.fail_commit_of == Some(number) {
            return Err(format!("commit {number} failed"));
        }
        self.turned |= self.turns_exclusive_at == Some(number);
        if call.side == 0 && self.fail_side_of != Some(number) {
            return Ok(None);
        }
        let fails = self.fail_side_of == Some(number);
        let side = async move {
            pause(call.side).await;
            if fails { Err(format!("side {number} failed")) } else { Ok(()) }
        };
        Ok(Some(Box::pin(side)))
    }

    async fn skip(&mut self, _: Call) -> Result<(), String> {
        self.note(format!("skip {}", self.next));
        self.next += 1;
        Ok(())
    }
}

pub(crate) fn limits(running: usize) -> Limits {
    let some = |n: usize| NonZeroUsize::new(n).unwrap_or(NonZeroUsize::MIN);
    Limits { running: some(running), uncommitted: some(64), waiting: some(1024), side: 4 }
}

/// Runs the calls and returns the outcome with the trace, one `time what` a line.
pub(crate) async fn trace(
    work: &mut Traced,
    calls: &[Call],
    limits: Limits,
) -> (Result<(), String>, Vec<String>) {
    let outcome = run(work, stream::iter(calls.to_vec()), limits).await;
    let trace = work.trace.lock().iter().map(|(at, what)| format!("{at} {what}")).collect();
    (outcome, trace)
}
