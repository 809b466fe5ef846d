//! The host's half of a run: answers the engine's messages until there is an outcome.
//!
//! One future and no task: the calls of the host are polled here, so that they may borrow and none is left behind. The
//! engine is taken for hostile (spec 06 §8.12): its counting is done again, and nothing that it says can do more than end its
//! own run.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use dsh_json::Json;
use dsh_lifecycle::{Cancel, Cause};
use futures_util::future::FutureExt as _;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use tokio::task::coop::unconstrained;
use tokio::time::Instant;

use crate::lossless::weight;
use crate::wire::{Call, FromEngine, Job, Link, ToEngine};
use crate::{
    BoxFuture, CallEnd, CallMeter, CallRecord, Failure, FailureKind, Host, Ledger, Limits, Misuse, Outcome,
    Receipt, Request, Stopwatch, Used, check_names, json_bytes, string_bytes,
};

/// What a run is driven by.
#[derive(Clone, Copy)]
pub struct Terms<'a> {
    /// The program.
    pub request: &'a Request,
    /// Who answers its calls.
    pub host: &'a dyn Host,
    /// What it may use.
    pub limits: &'a Limits,
    /// Cancelled when the runtime closes.
    pub closing: &'a Cancel,
}

impl Terms<'_> {
    /// What comes before any engine starts: the order of spec 06 §8.2. An outcome means that nothing has to start.
    ///
    /// # Errors
    /// As [`CodeRuntime::run`](crate::CodeRuntime::run).
    pub fn admit(&self) -> Result<Option<Outcome>, Misuse> {
        if self.closing.is_cancelled() {
            return Err(Misuse::Closed);
        }
        check_names(&self.request.namespaces)?;
        Ok(self.request.cancel.is_cancelled().then(|| self.failed(aborted(&self.request.cancel))))
    }

    /// The outcome of a program that never started. It passes through the ledger like any other.
    pub fn failed(&self, failure: Failure) -> Outcome {
        let (logs, result) = Ledger::new(self.limits.max_output_bytes).settle(Err(failure));
        let receipt = Receipt { output_bytes: output_bytes(&logs, &result), ..Receipt::default() };
        Outcome { logs, result, calls: Vec::new(), receipt }
    }

    /// What the engine is told first.
    pub fn job(&self) -> Job {
        Job {
            program: Arc::clone(&self.request.program),
            namespaces: self.request.namespaces.clone(),
            limits: self.limits.clone(),
        }
    }
}

/// Starts the program at the other end of the link and sees it through to its outcome.
///
/// When this returns the program is over or was told to stop, `request.cancel` is cancelled, and no call runs. Stopping
/// what the engine ran in (a process, a thread) is the caller's, after this. Dropping the future drops the calls.
pub async fn drive(link: &mut impl Link, terms: &Terms<'_>) -> Outcome {
    let mut run = Run {
        terms,
        started: Instant::now(),
        ledger: Ledger::new(terms.limits.max_output_bytes),
        meter: CallMeter::new(terms.limits),
        calls: Vec::new(),
        places: HashMap::new(),
        running: FuturesUnordered::new(),
        replied: Vec::new(),
        waiting: Stopwatch::default(),
        receipt: Receipt::default(),
    };
    link.send(ToEngine::Run(terms.job()));
    let result = match run.converse(link).await {
        Over::Done(result) => result,
        Over::Decided(failure) => {
            link.send(ToEngine::Cancel);
            run.hear_out(link);
            Err(failure)
        }
    };
    terms.request.cancel.cancel(Cause::Settled);
    run.quiesce().await;
    run.outcome(result)
}

/// Why a conversation is over.
enum Over {
    /// The engine said so, or is gone.
    Done(Result<Option<Json>, Failure>),
    /// The host decided it.
    Decided(Failure),
}

struct Run<'a> {
    terms: &'a Terms<'a>,
    started: Instant,
    ledger: Ledger,
    meter: CallMeter,
    calls: Vec<CallRecord>,
    /// Where in `calls` an id is.
    places: HashMap<u64, usize>,
    running: FuturesUnordered<BoxFuture<'a, (u64, Result<Json, String>)>>,
    /// The calls that were replied to, in order.
    replied: Vec<u64>,
    /// Goes while there is a call without an answer.
    waiting: Stopwatch,
    receipt: Receipt,
}

impl Run<'_> {
    async fn converse(&mut self, link: &mut impl Link) -> Over {
        let terms = self.terms;
        let mut deadline = self.started + terms.limits.max_wall;
        loop {
            tokio::select! {
                biased;
                () = terms.request.cancel.cancelled() => return Over::Decided(aborted(&terms.request.cancel)),
                () = terms.closing.cancelled() => return Over::Decided(closed()),
                () = tokio::time::sleep_until(deadline) => {
                    let used = self.started.elapsed().saturating_sub(terms.host.excused());
                    let Some(left) = terms.limits.max_wall.checked_sub(used).filter(|left| !left.is_zero()) else {
                        return Over::Decided(out_of_time(used, terms.limits.max_wall));
                    };
                    // A person may take long while almost nothing is left.
                    deadline = Instant::now() + left.max(LOOK_AGAIN);
                }
                Some((id, answer)) = self.running.next() => {
                    let (answer, bytes) = self.bounded(answer);
                    self.receipt.result_bytes += bytes as u64;
                    self.record(id, if answer.is_ok() { CallEnd::Succeeded } else { CallEnd::Failed });
                    self.reply(link, id, answer);
                    if link.backlog() > terms.limits.max_in_flight_bytes {
                        return Over::Decided(not_taken(terms.limits.max_in_flight_bytes));
                    }
                }
                message = link.receive() => match message {
                    Err(failure) => return Over::Done(Err(failure)),
                    Ok(FromEngine::Done { result, used }) => {
                        if let Some(used) = used {
                            self.take_account(used);
                        }
                        return Over::Done(result);
                    }
                    Ok(FromEngine::Log { text }) => {
                        if let Err(failure) = self.log(text) {
                            return Over::Decided(failure);
                        }
                    }
                    Ok(FromEngine::Call(call)) => match self.begin(&call) {
                        Err(failure) => return Over::Decided(failure),
                        Ok(Some(message)) => self.reply(link, call.id, Err(message)),
                        Ok(None) => {}
                    },
                },
            }
        }
    }

    /// An answer that can be on its way, and what it weighs; in place of a value that weighs too much, the message of an
    /// error.
    fn bounded(&self, answer: Result<Json, String>) -> (Result<Json, String>, usize) {
        let most = self.terms.limits.max_in_flight_bytes;
        let answer = answer.and_then(|value| match weight(&value) {
            bytes if bytes <= most => Ok((value, bytes)),
            bytes => Err(format!(
                "the result is too large for a program: it weighs {bytes} bytes, {most} are allowed (maxInFlightBytes). \
                 Ask for a part of it"
            )),
        });
        match answer {
            Ok((value, bytes)) => (Ok(value), bytes),
            Err(message) => {
                let bytes = message.len();
                (Err(message), bytes)
            }
        }
    }

    fn reply(&mut self, link: &mut impl Link, id: u64, answer: Result<Json, String>) {
        self.replied.push(id);
        link.send(ToEngine::Reply { id, answer });
    }

    /// Takes the engine's word for what it used. Replies are taken in order, and what came after the last of them never
    /// reached the program.
    fn take_account(&mut self, used: Used) {
        self.receipt.busy = Some(used.busy);
        self.receipt.peak_memory = Some(used.peak_memory);
        let taken = usize::try_from(used.replies).unwrap_or(usize::MAX);
        for id in self.replied.iter().skip(taken) {
            if let Some(call) = self.places.get(id).and_then(|place| self.calls.get_mut(*place)) {
                call.end = if call.end == CallEnd::Succeeded { CallEnd::Late } else { CallEnd::Stopped };
            }
        }
    }

    /// Takes one entry; the host hears as much of it as is kept.
    fn log(&mut self, text: String) -> Result<(), Failure> {
        let place = self.ledger.entries().len();
        let taken = self.ledger.log(text);
        if let Some(entry) = self.ledger.entries().get(place) {
            self.terms.host.logged(entry);
        }
        taken
    }

    /// Starts a call; or gives the message of its error, when there is no such function. An id that was there is no call.
    fn begin(&mut self, call: &Call) -> Result<Option<String>, Failure> {
        if self.places.contains_key(&call.id) {
            return Ok(None);
        }
        // What is refused counts too, or nothing would bound the answers.
        let bytes = weight(&call.args);
        self.meter.start_weighed(call.id, bytes)?;
        if !self.knows(call) {
            self.meter.end(call.id);
            return Ok(Some(format!("there is no function {}.{}", call.namespace, call.name)));
        }
        self.place(call, CallEnd::Stopped);
        self.receipt.argument_bytes += bytes as u64;
        self.waiting.begin();
        let (id, answer) = (call.id, self.terms.host.call(call.clone()));
        self.running.push(Box::pin(async move { (id, answer.await) }));
        Ok(None)
    }

    fn knows(&self, call: &Call) -> bool {
        self.terms
            .request
            .namespaces
            .iter()
            .any(|namespace| namespace.global == call.namespace && namespace.functions.contains(&call.name))
    }

    fn place(&mut self, call: &Call, end: CallEnd) {
        let (namespace, name) = (Arc::clone(&call.namespace), Arc::clone(&call.name));
        self.places.insert(call.id, self.calls.len());
        self.calls.push(CallRecord { id: call.id, namespace, name, end });
    }

    fn record(&mut self, id: u64, end: CallEnd) {
        self.waiting.end();
        self.meter.end(id);
        if let Some(call) = self.places.get(&id).and_then(|place| self.calls.get_mut(*place)) {
            call.end = end;
        }
    }

    /// Takes what the engine said before it was told to stop: what was printed is kept, calls were never started. It ends
    /// with the first message that is not there yet, is over a bound, or comes from no honest engine.
    fn hear_out(&mut self, link: &mut impl Link) {
        while let Some(Ok(message)) = unconstrained(link.receive()).now_or_never() {
            match message {
                FromEngine::Log { text } => {
                    if self.log(text).is_err() {
                        return;
                    }
                }
                FromEngine::Call(call) => {
                    let again = self.places.contains_key(&call.id);
                    if again || !self.knows(&call) || self.meter.start(&call).is_err() {
                        return;
                    }
                    self.place(&call, CallEnd::NotStarted);
                }
                FromEngine::Done { .. } => return,
            }
        }
    }

    /// Awaits the calls that still run: each was told that the program is over.
    async fn quiesce(&mut self) {
        while let Some((id, answer)) = self.running.next().await {
            self.record(id, if answer.is_ok() { CallEnd::Late } else { CallEnd::Stopped });
        }
    }

    fn outcome(self, result: Result<Option<Json>, Failure>) -> Outcome {
        let (logs, result) = self.ledger.settle(result);
        let receipt = Receipt {
            wall: self.started.elapsed(),
            excused: self.terms.host.excused(),
            waiting: self.waiting.total(),
            output_bytes: output_bytes(&logs, &result),
            ..self.receipt
        };
        Outcome { logs, result, calls: self.calls, receipt }
    }
}

/// The output, as the ledger counts it.
fn output_bytes(logs: &[String], result: &Result<Option<Json>, Failure>) -> u64 {
    let text = |text: &str| string_bytes(text, usize::MAX).unwrap_or_default();
    let printed = logs.iter().map(|entry| text(entry) + 1).sum::<usize>().max(1) + 1;
    let ended = match result {
        Ok(None) => 0,
        Ok(Some(value)) => json_bytes(value, usize::MAX).unwrap_or_default(),
        Err(failure) => text(&failure.message),
    };
    (printed + ended) as u64
}

/// How often a run looks at its time, at most, once some of it was excused.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

fn aborted(cancel: &Cancel) -> Failure {
    let message = match cancel.cause() {
        Some(Cause::User) => "a person stopped the program".to_owned(),
        Some(Cause::Parent) | None => "the work that this program was part of was stopped".to_owned(),
        Some(Cause::Disposed) => "the owner of this program went away".to_owned(),
        Some(Cause::Deadline) => "the time for the call that this program runs in is over".to_owned(),
        Some(Cause::Settled) => "the call that this program runs in has a result already".to_owned(),
        Some(Cause::Hook(reason)) => reason.to_string(),
    };
    Failure::new(FailureKind::Abort, message)
}

fn closed() -> Failure {
    Failure::new(FailureKind::Abort, "runtime disposed: the code runtime was closed while the program ran")
}

fn not_taken(allowed: usize) -> Failure {
    let message = format!(
        "the results that wait until the program takes them exceed {allowed} bytes (maxInFlightBytes): start fewer calls \
         at once, and await them before computing"
    );
    Failure::new(FailureKind::CallLimit, message)
}

fn out_of_time(used: Duration, allowed: Duration) -> Failure {
    let message = format!(
        "the program ran for {} ms, {} ms are allowed (maxWallMs): do less in one program, or start long work and look \
         at it later",
        used.as_millis(),
        allowed.as_millis()
    );
    Failure::new(FailureKind::Timeout, message)
}
