//! The engine's half of a run: one program in one fresh world, which speaks to its host through a [`Port`] only.
//!
//! ```text
//! Run ─→ erase types ─→ world ─→ the program ─→ jobs until none ─→ settled? ─→ value ─→ Done
//!                                    ↑                  │ no
//!                                    └── reply, timer ←─┘ nothing left to wait for: stalled
//! ```
//!
//! It runs on a thread that it has to itself, in this process or in a worker's; which one is the port's business.

use std::cell::{Cell, RefCell};
use std::fmt::Write as _;
use std::rc::Rc;
use std::time::Duration;

use dsh_code_runtime::wire::{FromEngine, Gone, Job, Port, ToEngine};
use dsh_code_runtime::{Failure, FailureKind, Limits, Used};
use dsh_json::Json;
use rquickjs::context::EvalOptions;
use rquickjs::promise::PromiseState;
use rquickjs::{Context, Ctx, Function, Persistent, Promise, Runtime, Type, Value};

use crate::erase::erase;
use crate::excerpt::excerpt;

mod bridge;
mod clock;
mod fault;
mod globals;
mod inspect;
mod memory;
mod read;
mod realm;
mod timers;
mod write;

use bridge::Bridge;
use clock::{Busy, now};
use memory::Peak;
use realm::Verdict;
pub(crate) use realm::out_of_memory;

/// Native stack that a thread which [`serve`]s must have: the engine's own bound, and room for ours.
pub const STACK_BYTES: usize = 8 << 20;
/// Of which the engine may use this much, before a program's recursion is a `RangeError`.
const ENGINE_STACK_BYTES: usize = 4 << 20;
/// What is left of it for everything else.
const SPARE_BYTES: usize = 2 << 20;

/// Takes one job from the port, runs it, and says what it came to.
///
/// The calling thread blocks until then; it needs [`STACK_BYTES`] of stack. Pulling the port's brake ends a busy program at the
/// engine's next check, which a single long operation of the engine itself delays.
///
/// # Errors
/// [`Gone`] when the host went away.
pub fn serve<P: Port + 'static>(port: P) -> Result<(), Gone> {
    serve_within(STACK_BYTES, port)
}

/// As [`serve`], on a thread with this much stack, of which a long program may need much to be read.
pub(crate) fn serve_within<P: Port + 'static>(stack: usize, mut port: P) -> Result<(), Gone> {
    let job = loop {
        match port.receive(None)? {
            Some(ToEngine::Run(job)) => break job,
            Some(ToEngine::Cancel) => return Ok(()),
            Some(ToEngine::Reply { .. }) | None => {}
        }
    };
    let port = Rc::new(RefCell::new(port));
    let (busy, peak, replies) = (Busy::start(), Peak::default(), Cell::new(0));
    let stack = stack.saturating_sub(SPARE_BYTES).min(job.limits.max_memory_bytes.max(ENGINE_STACK_BYTES));
    let result = erase(&job.program, stack)
        .and_then(|source| run(&job, &source, Rc::clone(&port) as Rc<RefCell<dyn Port>>, &peak, &replies));
    let used = Some(Used { busy: busy.elapsed(), peak_memory: peak.bytes(), replies: replies.get() });
    port.borrow_mut().send(FromEngine::Done { result, used })
}

fn run(
    job: &Job,
    source: &str,
    port: Rc<RefCell<dyn Port>>,
    peak: &Peak,
    replies: &Cell<u64>,
) -> Result<Option<Json>, Failure> {
    let died = |error: rquickjs::Error| {
        Failure::new(FailureKind::WorkerExit, format!("the engine could not start: {error}"))
    };
    let runtime = Runtime::new_with_alloc(peak.counting()).map_err(died)?;
    runtime.set_memory_limit(job.limits.max_memory_bytes);
    runtime.set_max_stack_size(ENGINE_STACK_BYTES);
    let verdict = Verdict::default();
    let brake = port.borrow().brake();
    runtime.set_interrupt_handler(Some(interrupt(verdict.clone(), brake, &job.limits)));
    let rejections = Rejections::watch(&runtime);
    let context = Context::full(&runtime).map_err(died)?;
    let result = context.with(|ctx| {
        let Ok(bridge) = Bridge::new(&ctx, port, &job.limits, verdict.clone()).map(Rc::new) else {
            ctx.catch();
            return Err(verdict.failure().unwrap_or_else(|| out_of_memory(job.limits.max_memory_bytes)));
        };
        let run = Run { ctx: &ctx, bridge: &bridge, job, rejections: &rejections, peak, replies };
        let result = run.execute(source);
        bridge.admitted(verdict.failure().map_or(result, Err))
    });
    runtime.set_host_promise_rejection_tracker(None);
    drop(rejections);
    result
}

struct Run<'a, 'js> {
    ctx: &'a Ctx<'js>,
    bridge: &'a Rc<Bridge<'js>>,
    job: &'a Job,
    rejections: &'a Rejections,
    peak: &'a Peak,
    /// How many were taken from the port.
    replies: &'a Cell<u64>,
}

impl<'js> Run<'_, 'js> {
    fn execute(&self, source: &str) -> Result<Option<Json>, Failure> {
        let (main, header) = self.start(source)?;
        self.see_through(&main)?;
        match main.result::<Value<'js>>() {
            Some(Ok(value)) => {
                let value = self.bridge.completion(value)?;
                self.check_rejections(header)?;
                Ok(value)
            }
            Some(Err(_)) => {
                let thrown = self.ctx.catch();
                Err(self.uncaught(&thrown, header, ""))
            }
            None => Err(self.died()),
        }
    }

    /// Compiles the program as the body of an async function and calls it. Gives the promise of its end, and how many columns
    /// the first line was moved.
    fn start(&self, source: &str) -> Result<(Promise<'js>, usize), Failure> {
        let world = self.world();
        let (names, values) = world.map_err(|_| {
            self.ctx.catch();
            let stopped = self.bridge.verdict.failure();
            stopped.unwrap_or_else(|| out_of_memory(self.job.limits.max_memory_bytes))
        })?;
        let head = format!("(async function({}){{", names.join(","));
        let header = head.len();
        let mut options = EvalOptions::default();
        options.filename = Some(fault::FILE.to_owned());
        let compiled =
            self.ctx.eval_with_options::<Function<'js>, _>(format!("{head}{source}\n}})"), options);
        let main = match compiled {
            Ok(main) => main,
            Err(rquickjs::Error::Exception) => {
                let thrown = self.ctx.catch();
                return Err(self.not_a_program(&thrown, header));
            }
            Err(_) => return Err(Failure::new(FailureKind::Syntax, "the text is not a program")),
        };
        let mut arguments = rquickjs::function::Args::new(self.ctx.clone(), values.len());
        let called = arguments.push_args(values).and_then(|()| main.call_arg::<Promise<'js>>(arguments));
        called.map(|promise| (promise, header)).map_err(|_| {
            let thrown = self.ctx.catch();
            self.uncaught(&thrown, header, "")
        })
    }

    /// The names that the program's function has as parameters, and what they stand for.
    fn world(&self) -> rquickjs::Result<(Vec<String>, Vec<Value<'js>>)> {
        let (mut names, mut values) = (Vec::new(), Vec::new());
        for namespace in &self.job.namespaces {
            let (object, class) = self.bridge.namespace(self.ctx, namespace)?;
            names.push(namespace.global.to_string());
            values.push(object.into_value());
            if let (Some(class), Some(descriptor)) = (class, &namespace.error_class) {
                names.push(descriptor.name.to_string());
                values.push(class.into_value());
            }
        }
        names.push("console".to_owned());
        values.push(globals::install(self.ctx, self.bridge)?.into_value());
        Ok((names, values))
    }

    /// Runs jobs, delivers replies and fires timers until the program has settled.
    fn see_through(&self, main: &Promise<'js>) -> Result<(), Failure> {
        loop {
            while main.state() == PromiseState::Pending && self.ctx.execute_pending_job() {
                self.check_verdict()?;
            }
            self.check_verdict()?;
            if main.state() != PromiseState::Pending {
                return Ok(());
            }
            if self.bridge.is_idle() {
                return Err(stalled());
            }
            let patience = self.bridge.timers.borrow().patience(now());
            let port = self.bridge.port();
            let message = port.borrow_mut().receive(patience);
            match message {
                Ok(Some(ToEngine::Reply { id, answer })) => {
                    self.replies.set(self.replies.get() + 1);
                    self.bridge.deliver(self.ctx, id, answer);
                }
                Ok(Some(ToEngine::Run(_))) => {}
                Ok(None) => self.fire(),
                Ok(Some(ToEngine::Cancel)) | Err(Gone) => return Err(braked()),
            }
        }
    }

    /// Calls what is due, one timer at a time.
    fn fire(&self) {
        let due = self.bridge.timers.borrow_mut().take_due(now());
        let Some(timer) = due else { return };
        let mut arguments = rquickjs::function::Args::new(self.ctx.clone(), timer.arguments.len());
        let called = arguments
            .push_args(timer.arguments)
            .and_then(|()| timer.callback.call_arg::<Value<'js>>(arguments));
        if called.is_err() {
            let thrown = self.ctx.catch();
            self.rejections.threw(self.ctx, thrown);
        }
    }

    fn check_verdict(&self) -> Result<(), Failure> {
        self.bridge.verdict.failure().map_or(Ok(()), Err)
    }

    /// A rejection that nobody handled by the end is the program's failure.
    fn check_rejections(&self, header: usize) -> Result<(), Failure> {
        let Some(reason) = self.rejections.first(self.ctx) else { return Ok(()) };
        Err(self.uncaught(&reason, header, "nobody awaited or caught this: "))
    }

    fn uncaught(&self, thrown: &Value<'js>, header: usize, before: &str) -> Failure {
        if let Some(failure) = self.bridge.verdict.failure() {
            return failure;
        }
        if self.is_out_of_memory(thrown) {
            return out_of_memory(self.job.limits.max_memory_bytes);
        }
        let text = fault::describe(&self.bridge.realm, thrown, &self.job.program, header);
        Failure::new(FailureKind::Exception, format!("{before}{text}"))
    }

    /// Whether this is what the engine throws when it has no memory.
    fn is_out_of_memory(&self, thrown: &Value<'js>) -> bool {
        // When it is full there is none for the error either: then it throws nothing, or null, or an error without a message.
        let full = self.peak.bytes() >= self.job.limits.max_memory_bytes as u64 / 4 * 3;
        if thrown.is_error() {
            let text = self.bridge.realm.thrown_text(thrown);
            return text.starts_with("InternalError: out of memory") || full && text == "InternalError";
        }
        full && thrown.is_null() || thrown.type_of() == Type::Uninitialized
    }

    fn not_a_program(&self, thrown: &Value<'js>, header: usize) -> Failure {
        if let Some(failure) = self.bridge.verdict.failure() {
            return failure;
        }
        if self.is_out_of_memory(thrown) {
            return out_of_memory(self.job.limits.max_memory_bytes);
        }
        let realm = &self.bridge.realm;
        let mut text = realm.thrown_text(thrown);
        let stack = thrown.as_object().and_then(|error| realm.property_text(error, "stack"));
        if let Some((line, column)) = stack.and_then(|stack| fault::place(&stack, header)) {
            let _ = write!(text, "\n{}", excerpt(&self.job.program, line, column));
        }
        Failure::new(FailureKind::Syntax, text)
    }

    fn died(&self) -> Failure {
        self.bridge
            .verdict
            .failure()
            .unwrap_or_else(|| Failure::new(FailureKind::WorkerExit, "the engine stopped without a result"))
    }
}

/// Rejections that nobody handled yet, in order.
#[derive(Clone, Default)]
struct Rejections(Rc<RefCell<Vec<Rejection>>>);

struct Rejection {
    /// `None` for what a timer's callback threw.
    promise: Option<Persistent<Value<'static>>>,
    reason: Persistent<Value<'static>>,
}

impl Rejections {
    /// Listens to the engine. What is held must be dropped before the engine is.
    fn watch(runtime: &Runtime) -> Self {
        let this = Self::default();
        let rejections = this.clone();
        runtime.set_host_promise_rejection_tracker(Some(Box::new(move |ctx, promise, reason, handled| {
            let promise = Persistent::save(&ctx, promise);
            let mut known = rejections.0.borrow_mut();
            if handled {
                known.retain(|rejection| rejection.promise.as_ref() != Some(&promise));
            } else {
                known.push(Rejection { promise: Some(promise), reason: Persistent::save(&ctx, reason) });
            }
        })));
        this
    }

    fn threw<'js>(&self, ctx: &Ctx<'js>, thrown: Value<'js>) {
        self.0.borrow_mut().push(Rejection { promise: None, reason: Persistent::save(ctx, thrown) });
    }

    fn first<'js>(&self, ctx: &Ctx<'js>) -> Option<Value<'js>> {
        self.0.borrow().first().and_then(|rejection| rejection.reason.clone().restore(ctx).ok())
    }
}

impl Drop for Rejections {
    fn drop(&mut self) {
        self.0.borrow_mut().clear();
    }
}

/// Looks, from inside the engine, whether a busy program has to stop.
fn interrupt(
    verdict: Verdict,
    brake: dsh_code_runtime::wire::Brake,
    limits: &Limits,
) -> Box<dyn FnMut() -> bool> {
    let (busy, allowed) = (Busy::start(), limits.max_compute);
    Box::new(move || {
        if brake.is_pulled() {
            verdict.end(braked());
        }
        let used = busy.elapsed();
        if used > allowed {
            verdict.end(busy_too_long(used, allowed));
        }
        verdict.is_over()
    })
}

/// The failure of a program that computed for too long.
pub(crate) fn busy_too_long(used: Duration, allowed: Duration) -> Failure {
    let message = format!(
        "the program was busy for {} ms, {} ms are allowed (maxComputeMs): do less in one program",
        used.as_millis(),
        allowed.as_millis()
    );
    Failure::new(FailureKind::Timeout, message)
}

/// The host has decided already, so that nobody reads this.
fn braked() -> Failure {
    Failure::new(FailureKind::WorkerExit, "the program was told to stop")
}

fn stalled() -> Failure {
    let message = "the program waits for a promise that nothing can resolve: no call is running and no timer is set. \
                   Look for a promise whose resolve is never called";
    Failure::new(FailureKind::Stalled, message)
}
