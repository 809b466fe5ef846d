//! The contract of spec 02 §A a second time, as a simulation without any concurrency: what a batch must come to.
//!
//! It also knows how the original decides where we differ, so that a recorded outcome can be explained by name.

use dsh_json::{Json, Object, object};

use super::batch::{Abort, Batch, Call, TOOLS};

/// Where our decisions change outcomes. All on: ours. All off: the original's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Decisions {
    pub(super) finished_is_finished: bool,
    pub(super) malformed_is_settled: bool,
    pub(super) reads_strictly: bool,
}

pub(super) const OURS: Decisions =
    Decisions { finished_is_finished: true, malformed_is_settled: true, reads_strictly: true };
pub(super) const THEIRS: Decisions =
    Decisions { finished_is_finished: false, malformed_is_settled: false, reads_strictly: false };

/// The output of a batch under these decisions.
pub(super) fn output(batch: &Batch, decisions: Decisions) -> Json {
    let mut simulation = Simulation::new(batch, decisions);
    simulation.run();
    object! {
        "concluded": simulation.concluded,
        "max_overlap": simulation.max_overlap as u64,
        "finished_at": simulation.now,
        "trace": simulation.trace.into_iter().collect::<Json>(),
    }
}

struct Simulation<'a> {
    batch: &'a Batch,
    decisions: Decisions,
    now: u64,
    aborted: bool,
    next: usize,
    /// Started and uncommitted, oldest first; with its outcome once that is noticed.
    started: Vec<(usize, Option<Outcome>)>,
    running: Vec<Running>,
    /// Ended and not noticed yet, oldest first.
    unnoticed: Vec<(usize, Outcome)>,
    timers: i64,
    concluded: bool,
    max_overlap: usize,
    trace: Vec<Json>,
}

struct Running {
    call: usize,
    ends: Instant,
}

/// A time, and who is first at that time.
type Instant = (u64, i64);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Succeeded,
    /// With its code, if it has one.
    Failed(Option<&'static str>),
}

impl Outcome {
    const SKIPPED: Self = Self::Failed(Some("ABORTED_BEFORE_DISPATCH"));
}

#[derive(Debug, Clone, Copy)]
enum Timer {
    Abort,
    Body(usize),
}

impl<'a> Simulation<'a> {
    fn new(batch: &'a Batch, decisions: Decisions) -> Self {
        Self {
            batch,
            decisions,
            now: 0,
            aborted: batch.abort_at == Some(Abort::BeforeTheStep),
            next: 0,
            started: Vec::new(),
            running: Vec::new(),
            unnoticed: Vec::new(),
            timers: 0,
            concluded: false,
            max_overlap: 0,
            trace: Vec::new(),
        }
    }

    fn run(&mut self) {
        loop {
            if let Some((call, Some(outcome))) = self.started.first().copied() {
                self.started.remove(0);
                self.commit(call, outcome);
            } else if self.startable() {
                self.start();
            } else if self.aborted && self.started.is_empty() && self.next < self.batch.calls.len() {
                self.see("tool/call", Some(self.next));
                self.log_result(self.next, Outcome::SKIPPED);
                self.next += 1;
            } else if self.started.is_empty() && self.next == self.batch.calls.len() || !self.wait() {
                return;
            }
        }
    }

    fn startable(&self) -> bool {
        if self.aborted || self.next == self.batch.calls.len() {
            return false;
        }
        let behind_a_barrier = self.started.last().is_some_and(|(last, _)| !self.is_parallel(*last));
        if behind_a_barrier || !self.is_parallel(self.next) {
            return self.started.is_empty();
        }
        self.running.len() + self.unnoticed.len() < self.batch.cap
    }

    fn start(&mut self) {
        let index = self.next;
        self.next += 1;
        self.see("tool/call", Some(index));
        let settled = self.prepare(index);
        self.started.push((index, settled));
        if settled.is_none() {
            self.see("start", Some(index));
            self.timers += 1;
            let ends = (self.now.saturating_add(self.call(index).ms), self.timers);
            self.running.push(Running { call: index, ends });
            self.max_overlap = self.max_overlap.max(self.running.len());
            if self.call(index).ms == 0 {
                self.fire(ends, Timer::Body(index));
            }
        }
    }

    /// The outcome of a call that has no body.
    fn prepare(&mut self, index: usize) -> Option<Outcome> {
        let call = self.call(index);
        let settled = self.decisions.malformed_is_settled && call.is_malformed(self.decisions.reads_strictly);
        if settled {
            return Some(Outcome::Failed(Some("INVALID_ARGS")));
        }
        self.stage(call.pre_ms);
        if call.denied {
            return Some(Outcome::Failed(None));
        }
        if self.aborted {
            return Some(Outcome::SKIPPED);
        }
        if !TOOLS.contains(&&*call.tool) {
            return Some(Outcome::Failed(Some("UNKNOWN_TOOL")));
        }
        (!call.fits(self.decisions.reads_strictly)).then_some(Outcome::Failed(Some("INVALID_ARGS")))
    }

    fn commit(&mut self, index: usize, outcome: Outcome) {
        self.stage(self.call(index).post_ms);
        let taken_back = self.aborted && !self.decisions.finished_is_finished;
        let outcome = match outcome {
            Outcome::Succeeded if taken_back => Outcome::Failed(Some("ABORTED")),
            Outcome::Succeeded | Outcome::Failed(_) => outcome,
        };
        self.concluded |= outcome == Outcome::Succeeded && self.call(index).conclude;
        self.log_result(index, outcome);
    }

    /// An ordered stage takes its time, and bodies end meanwhile.
    fn stage(&mut self, ms: u64) {
        if ms == 0 {
            return;
        }
        self.timers += 1;
        let end = (self.now.saturating_add(ms), self.timers);
        self.settle();
        while let Some((at, timer)) = self.first_timer()
            && at < end
        {
            self.fire(at, timer);
            self.settle();
        }
        self.now = end.0;
    }

    /// What ends while a stage takes its time may be committed right behind it.
    fn settle(&mut self) {
        for (call, outcome) in std::mem::take(&mut self.unnoticed) {
            self.fill(call, outcome);
        }
    }

    /// Waits until one body is noticed, or the abort is. Not when there is nothing to wait for.
    fn wait(&mut self) -> bool {
        if self.unnoticed.is_empty() {
            let Some((at, timer)) = self.first_timer() else { return false };
            self.fire(at, timer);
        }
        if !self.unnoticed.is_empty() {
            let (call, outcome) = self.unnoticed.remove(0);
            self.fill(call, outcome);
        }
        true
    }

    fn fill(&mut self, call: usize, outcome: Outcome) {
        if let Some(slot) = self.started.iter_mut().find(|(started, _)| *started == call) {
            slot.1 = Some(outcome);
        }
    }

    fn first_timer(&self) -> Option<(Instant, Timer)> {
        let abort = match self.batch.abort_at {
            Some(Abort::At(at)) if !self.aborted => Some(((at, i64::MIN), Timer::Abort)),
            Some(Abort::At(_) | Abort::BeforeTheStep) | None => None,
        };
        let bodies = self.running.iter().map(|running| (running.ends, Timer::Body(running.call)));
        bodies.chain(abort).min_by_key(|(at, _)| *at)
    }

    fn fire(&mut self, at: Instant, timer: Timer) {
        self.now = at.0;
        match timer {
            Timer::Abort => {
                self.aborted = true;
                self.see("abort", None);
                let (batch, now) = (self.batch, self.now);
                for running in self.running.iter_mut().filter(|running| batch.call(running.call).cooperative)
                {
                    // At once, and before every timer of this time.
                    running.ends = (now, i64::MIN + 1 + i64::try_from(running.call).unwrap_or(0));
                }
            }
            Timer::Body(index) => {
                self.running.retain(|running| running.call != index);
                self.see("end", Some(index));
                self.unnoticed.push((index, self.outcome(self.call(index))));
            }
        }
    }

    /// How a body ends now.
    fn outcome(&self, call: &Call) -> Outcome {
        if call.throws || self.aborted && call.cooperative {
            Outcome::Failed(None)
        } else if call.bad_output {
            Outcome::Failed(Some("INVALID_TOOL_OUTPUT"))
        } else if self.aborted {
            Outcome::Failed(Some("ABORTED"))
        } else {
            Outcome::Succeeded
        }
    }

    fn is_parallel(&self, index: usize) -> bool {
        self.call(index).is_parallel(self.decisions.reads_strictly)
    }

    fn call(&self, index: usize) -> &'a Call {
        self.batch.call(index)
    }

    fn log_result(&mut self, call: usize, outcome: Outcome) {
        let mut row = self.row("tool/result", Some(call));
        row.insert("isError", outcome != Outcome::Succeeded);
        if let Outcome::Failed(Some(code)) = outcome {
            row.insert("code", code);
        }
        self.trace.push(row.into());
    }

    fn see(&mut self, event: &str, call: Option<usize>) {
        self.trace.push(self.row(event, call).into());
    }

    fn row(&self, event: &str, call: Option<usize>) -> Object {
        let mut row = Object::new();
        row.insert("t", self.now);
        row.insert("ev", event);
        if let Some(call) = call {
            row.insert("call", call as u64);
        }
        row
    }
}
