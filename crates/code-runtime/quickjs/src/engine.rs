//! The engine's half of a run: one program in one fresh world, which speaks to its host through a [`Port`] only.
//!
//! ```text
//! world ─→ Run ─→ erase types ─→ the program ─→ jobs until none ─→ settled? ─→ value ─→ Done
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
use dsh_code_runtime::{Failure, FailureKind, Used};
use dsh_json::Json;
use rquickjs::context::EvalOptions;
use rquickjs::promise::PromiseState;
use rquickjs::{Ctx, Function, Promise, Type, Value};

use crate::erase::erase;
use crate::excerpt::excerpt;

mod bridge;
mod clock;
mod fault;
mod fresh;
mod globals;
mod inspect;
mod memory;
mod read;
mod realm;
mod timers;
mod write;

use clock::now;
use fresh::{Engine, World};
pub(crate) use realm::out_of_memory;

/// Native stack that a thread which [`serve`]s must have: the engine's own bound, and room for ours.
pub const STACK_BYTES: usize = 8 << 20;
/// Of which the engine may use this much, before a program's recursion is a `RangeError`.
const ENGINE_STACK_BYTES: usize = 4 << 20;
/// What is left of it for everything else.
const SPARE_BYTES: usize = 2 << 20;

/// Makes a world, takes one job from the port, runs it, and says what it came to.
///
/// The calling thread blocks until then; it needs [`STACK_BYTES`] of stack. What can be done before there is a job is done
/// before, so that an engine which waits in stock starts a program at once. Pulling the port's brake ends a busy program at the
/// engine's next check, which a single long operation of the engine itself delays.
///
/// # Errors
/// [`Gone`] when the host went away.
pub fn serve<P: Port + 'static>(port: P) -> Result<(), Gone> {
    serve_within(STACK_BYTES, port)
}

/// As [`serve`], on a thread with this much stack, of which a long program may need much to be read.
pub(crate) fn serve_within<P: Port + 'static>(stack: usize, port: P) -> Result<(), Gone> {
    let port: Rc<RefCell<dyn Port>> = Rc::new(RefCell::new(port));
    let stack = stack.saturating_sub(SPARE_BYTES);
    let brake = port.borrow().brake();
    match Engine::new(brake) {
        Ok(engine) => engine.serve(&port, stack),
        Err(error) => unmade(&port, &error),
    }
}

/// Answers a job where there is no engine for it.
fn unmade(port: &Rc<RefCell<dyn Port>>, error: &rquickjs::Error) -> Result<(), Gone> {
    if job_of(port)?.is_none() {
        return Ok(());
    }
    port.borrow_mut().send(FromEngine::Done { result: Err(unstarted(error)), used: None })
}

fn unstarted(error: &rquickjs::Error) -> Failure {
    Failure::new(FailureKind::WorkerExit, format!("the engine could not start: {error}"))
}

/// The job; `None` when there will be none.
fn job_of(port: &Rc<RefCell<dyn Port>>) -> Result<Option<Job>, Gone> {
    loop {
        match port.borrow_mut().receive(None)? {
            Some(ToEngine::Run(job)) => return Ok(Some(job)),
            Some(ToEngine::Cancel) => return Ok(None),
            Some(ToEngine::Reply { .. }) | None => {}
        }
    }
}

impl Engine {
    fn serve(self, port: &Rc<RefCell<dyn Port>>, stack: usize) -> Result<(), Gone> {
        self.context.with(|ctx| {
            let world = World::new(&ctx, port, &self);
            let Some(job) = job_of(port)? else { return Ok(()) };
            self.bound(&job.limits);
            let stack = stack.min(job.limits.max_memory_bytes.max(ENGINE_STACK_BYTES));
            let replies = Cell::new(0);
            let result = erase(&job.program, stack).and_then(|source| {
                let stopped = || self.verdict.failure();
                let world = world.as_ref().map_err(|error| stopped().unwrap_or_else(|| unstarted(error)))?;
                world.bridge.bound(&job.limits);
                let run = Run { ctx: &ctx, world, job: &job, engine: &self, replies: &replies };
                let result = run.execute(&source);
                world.bridge.admitted(self.verdict.failure().map_or(result, Err))
            });
            let used = Used { busy: self.busy(), peak_memory: self.memory.peak(), replies: replies.get() };
            // The host goes on while this world ends.
            port.borrow_mut().send(FromEngine::Done { result, used: Some(used) })
        })
    }
}

struct Run<'a, 'js> {
    ctx: &'a Ctx<'js>,
    world: &'a World<'js>,
    job: &'a Job,
    engine: &'a Engine,
    /// How many were taken from the port.
    replies: &'a Cell<u64>,
}

impl<'js> Run<'_, 'js> {
    fn execute(&self, source: &str) -> Result<Option<Json>, Failure> {
        let (main, header) = self.start(source)?;
        self.see_through(&main)?;
        match main.result::<Value<'js>>() {
            Some(Ok(value)) => {
                let value = self.world.bridge.completion(value)?;
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
        let (names, values) = self.names().map_err(|_| {
            self.ctx.catch();
            let stopped = self.world.bridge.verdict.failure();
            stopped.unwrap_or_else(|| self.engine.memory.exhausted())
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
    fn names(&self) -> rquickjs::Result<(Vec<String>, Vec<Value<'js>>)> {
        let (mut names, mut values) = (Vec::new(), Vec::new());
        for namespace in &self.job.namespaces {
            let (object, class) = self.world.bridge.namespace(self.ctx, namespace)?;
            names.push(namespace.global.to_string());
            values.push(object.into_value());
            if let (Some(class), Some(descriptor)) = (class, &namespace.error_class) {
                names.push(descriptor.name.to_string());
                values.push(class.into_value());
            }
        }
        names.push("console".to_owned());
        values.push(self.world.console.clone().into_value());
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
            if self.world.bridge.is_idle() {
                return Err(stalled());
            }
            let patience = self.world.bridge.timers.borrow().patience(now());
            let port = self.world.bridge.port();
            let message = port.borrow_mut().receive(patience);
            match message {
                Ok(Some(ToEngine::Reply { id, answer })) => {
                    self.replies.set(self.replies.get() + 1);
                    self.world.bridge.deliver(self.ctx, id, answer);
                }
                Ok(Some(ToEngine::Run(_))) => {}
                Ok(None) => self.fire(),
                Ok(Some(ToEngine::Cancel)) | Err(Gone) => return Err(braked()),
            }
        }
    }

    /// Calls what is due, one timer at a time.
    fn fire(&self) {
        let due = self.world.bridge.timers.borrow_mut().take_due(now());
        let Some(timer) = due else { return };
        let mut arguments = rquickjs::function::Args::new(self.ctx.clone(), timer.arguments.len());
        let called = arguments
            .push_args(timer.arguments)
            .and_then(|()| timer.callback.call_arg::<Value<'js>>(arguments));
        if called.is_err() {
            let thrown = self.ctx.catch();
            self.engine.rejections.threw(self.ctx, thrown);
        }
    }

    fn check_verdict(&self) -> Result<(), Failure> {
        self.world.bridge.verdict.failure().map_or(Ok(()), Err)
    }

    /// A rejection that nobody handled by the end is the program's failure.
    fn check_rejections(&self, header: usize) -> Result<(), Failure> {
        let Some(reason) = self.engine.rejections.first(self.ctx) else { return Ok(()) };
        Err(self.uncaught(&reason, header, "nobody awaited or caught this: "))
    }

    fn uncaught(&self, thrown: &Value<'js>, header: usize, before: &str) -> Failure {
        if let Some(failure) = self.world.bridge.verdict.failure() {
            return failure;
        }
        if self.is_out_of_memory(thrown) {
            return self.engine.memory.exhausted();
        }
        let text = fault::describe(&self.world.bridge.realm, thrown, &self.job.program, header);
        Failure::new(FailureKind::Exception, format!("{before}{text}"))
    }

    /// Whether this is what the engine throws when it has no memory.
    fn is_out_of_memory(&self, thrown: &Value<'js>) -> bool {
        if !self.engine.memory.was_refused() {
            return false;
        }
        // There is none for the error either, perhaps: then it throws nothing, or null, or an error without a message.
        if thrown.is_error() {
            let text = self.world.bridge.realm.thrown_text(thrown);
            return text.starts_with("InternalError: out of memory") || text == "InternalError";
        }
        thrown.is_null() || thrown.type_of() == Type::Uninitialized
    }

    fn not_a_program(&self, thrown: &Value<'js>, header: usize) -> Failure {
        if let Some(failure) = self.world.bridge.verdict.failure() {
            return failure;
        }
        if self.is_out_of_memory(thrown) {
            return self.engine.memory.exhausted();
        }
        let realm = &self.world.bridge.realm;
        let mut text = realm.thrown_text(thrown);
        let stack = thrown.as_object().and_then(|error| realm.property_text(error, "stack"));
        if let Some((line, column)) = stack.and_then(|stack| fault::place(&stack, header)) {
            let _ = write!(text, "\n{}", excerpt(&self.job.program, line, column));
        }
        Failure::new(FailureKind::Syntax, text)
    }

    fn died(&self) -> Failure {
        self.world
            .bridge
            .verdict
            .failure()
            .unwrap_or_else(|| Failure::new(FailureKind::WorkerExit, "the engine stopped without a result"))
    }
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
