//! Calls across the border: a program's call becomes a message, a reply settles the promise.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::{Rc, Weak};
use std::sync::Arc;

use dsh_code_runtime::lossless::Lossy;
use dsh_code_runtime::wire::{Call, FromEngine, Port};
use dsh_code_runtime::{CallMeter, Entry, Failure, FailureKind, Limits, Meter, Namespace};
use dsh_json::Json;
use rquickjs::function::Rest;
use rquickjs::object::Property;
use rquickjs::{Ctx, Exception, Function, Object, Promise, Result as JsResult, Value};

use super::memory::Memory;
use super::read::{Refusal, read};
use super::realm::{Realm, Verdict, quietly};
use super::timers::Timers;
use super::write::write;

/// What one run holds of its program.
///
/// The engine can't see into it: a value held here is held for good. So it belongs to the run alone, and functions that
/// programs can reach refer to it weakly.
pub(super) struct Bridge<'js> {
    pub(super) realm: Realm<'js>,
    pub(super) verdict: Verdict,
    pub(super) timers: RefCell<Timers<'js>>,
    port: Rc<RefCell<dyn Port>>,
    output: RefCell<Meter>,
    calls: RefCell<CallMeter>,
    last_call: Cell<u64>,
    pending: RefCell<HashMap<u64, Pending<'js>>>,
    shapes: RefCell<Vec<ErrorShape<'js>>>,
    memory: Memory,
}

/// A call that has no reply yet.
struct Pending<'js> {
    resolve: Function<'js>,
    reject: Function<'js>,
    /// The error that a failed call throws; made when it was called, so that its stack shows where.
    error: Object<'js>,
}

/// How errors of a namespace look.
struct ErrorShape<'js> {
    prototype: Object<'js>,
    name: Arc<str>,
    member: Arc<str>,
}

impl<'js> Bridge<'js> {
    pub(super) fn new(
        ctx: &Ctx<'js>,
        port: Rc<RefCell<dyn Port>>,
        verdict: Verdict,
        memory: Memory,
    ) -> JsResult<Self> {
        let limits = Limits::default();
        Ok(Self {
            realm: Realm::new(ctx, verdict.clone())?,
            verdict,
            timers: RefCell::default(),
            port,
            output: RefCell::new(Meter::new(limits.max_output_bytes)),
            calls: RefCell::new(CallMeter::new(&limits)),
            last_call: Cell::new(0),
            pending: RefCell::default(),
            shapes: RefCell::default(),
            memory,
        })
    }

    /// Takes the limits of the program that is to run.
    pub(super) fn bound(&self, limits: &Limits) {
        self.output.replace(Meter::new(limits.max_output_bytes));
        self.calls.replace(CallMeter::new(limits));
    }

    /// Makes a namespace: the object with its functions, and the error class, if it has one.
    pub(super) fn namespace(
        self: &Rc<Self>,
        ctx: &Ctx<'js>,
        namespace: &Namespace,
    ) -> JsResult<(Object<'js>, Option<Object<'js>>)> {
        let mut class = None;
        let mut shape = None;
        if let Some(descriptor) = &namespace.error_class {
            let made: Object<'js> = self.realm.error_class.call((&*descriptor.name,))?;
            let (name, member) = (Arc::clone(&descriptor.name), Arc::clone(&descriptor.member_name_property));
            let mut shapes = self.shapes.borrow_mut();
            shape = Some(shapes.len());
            shapes.push(ErrorShape { prototype: made.get("prototype")?, name, member });
            class = Some(made);
        }
        let object = Object::new_proto(ctx.clone(), None)?;
        for name in &namespace.functions {
            let bridge = Rc::downgrade(self);
            let (global, function) = (Arc::clone(&namespace.global), Arc::clone(name));
            let call = Function::new(ctx.clone(), move |ctx: Ctx<'js>, arguments: Rest<Value<'js>>| {
                let argument = arguments.0.into_iter().next();
                reach(&bridge, &ctx)?.call(&ctx, (&global, &function), argument, shape)
            })?;
            object.prop(&**name, Property::from(call).enumerable())?;
        }
        Ok((object, class))
    }

    /// Sends one call, and gives the promise of its reply.
    fn call(
        &self,
        ctx: &Ctx<'js>,
        (global, name): (&Arc<str>, &Arc<str>),
        argument: Option<Value<'js>>,
        shape: Option<usize>,
    ) -> JsResult<Promise<'js>> {
        self.check_not_over(ctx)?;
        let (promise, resolve, reject) = ctx.promise()?;
        let error = self.realm.new_error("")?;
        let shapes = self.shapes.borrow();
        if let Some(shape) = shape.and_then(|shape| shapes.get(shape)) {
            error.set_prototype(Some(&shape.prototype))?;
            error.prop("name", data(&*shape.name))?;
            error.prop(&*shape.member, data(&**name))?;
        }
        let pending = Pending { resolve, reject, error };
        let argument = argument.unwrap_or_else(|| Value::new_undefined(ctx.clone()));
        let nothing = argument.is_undefined();
        let room = self.calls.borrow().room();
        let (args, weight) = match read(&self.realm, argument, room) {
            Ok(read) => read,
            Err(Refusal::Lossy(_)) if nothing => {
                pending.reject(&format!("{LOSSY_ARGUMENTS}: got none: pass an object such as {{}}"));
                return Ok(promise);
            }
            Err(Refusal::Lossy(lossy)) => {
                pending.reject(&format!("{LOSSY_ARGUMENTS}: {lossy}"));
                return Ok(promise);
            }
            Err(Refusal::TooHeavy) => {
                let failure = self.calls.borrow().too_heavy();
                return Err(self.end(ctx, failure));
            }
            Err(Refusal::Interrupted) => return Err(self.end(ctx, self.memory.exhausted())),
        };
        let id = self.last_call.get() + 1;
        let call = Call { id, namespace: Arc::clone(global), name: Arc::clone(name), args };
        let admitted = self.calls.borrow_mut().start_weighed(id, weight);
        if let Err(failure) = admitted {
            return Err(self.end(ctx, failure));
        }
        self.last_call.set(id);
        self.pending.borrow_mut().insert(id, pending);
        self.send(FromEngine::Call(call));
        Ok(promise)
    }

    /// Settles the promise of a call. A reply to no call is nothing.
    pub(super) fn deliver(&self, ctx: &Ctx<'js>, id: u64, answer: Result<Json, String>) {
        let Some(pending) = self.pending.borrow_mut().remove(&id) else { return };
        self.calls.borrow_mut().end(id);
        match answer {
            Err(message) => pending.reject(&message),
            Ok(value) => {
                let resolved = write(ctx, &value).and_then(|value| pending.resolve.call::<_, ()>((value,)));
                if quietly(ctx, resolved).is_none() {
                    self.verdict.end(self.memory.exhausted());
                }
            }
        }
    }

    /// How much may be printed yet.
    pub(super) fn output_room(&self) -> usize {
        self.output.borrow().room()
    }

    /// Prints one entry. The first that does not fit is cut, and ends the run.
    pub(super) fn log(&self, ctx: &Ctx<'js>, mut text: String) -> JsResult<()> {
        self.check_not_over(ctx)?;
        let entry = self.output.borrow_mut().charge(&text);
        match entry {
            Entry::Whole => {
                self.send(FromEngine::Log { text });
                Ok(())
            }
            Entry::Cut(kept) => {
                text.truncate(kept);
                if !text.is_empty() {
                    self.send(FromEngine::Log { text });
                }
                let failure = self.output.borrow().overflow();
                Err(self.end(ctx, failure))
            }
        }
    }

    /// Reads the completion value; nothing, if the program returned nothing.
    pub(super) fn completion(&self, value: Value<'js>) -> Result<Option<Json>, Failure> {
        if value.is_undefined() {
            return Ok(None);
        }
        // A part has a byte of text at least, so what weighs more than this does not fit either. A getter may print meanwhile.
        let room = self.output.borrow().room().saturating_mul(dsh_code_runtime::lossless::PART + 1);
        match read(&self.realm, value, room) {
            Ok((value, _)) => Ok(Some(value)),
            Err(Refusal::Lossy(lossy)) => Err(lossy_completion(&lossy)),
            Err(Refusal::TooHeavy) => Err(self.output.borrow().overflow()),
            Err(Refusal::Interrupted) => {
                Err(self.verdict.failure().unwrap_or_else(|| self.memory.exhausted()))
            }
        }
    }

    /// What the run came to, as far as the output bound allows.
    pub(super) fn admitted(&self, result: Result<Option<Json>, Failure>) -> Result<Option<Json>, Failure> {
        self.output.borrow().admits(&result)?;
        result
    }

    pub(super) fn port(&self) -> Rc<RefCell<dyn Port>> {
        Rc::clone(&self.port)
    }

    pub(super) fn is_idle(&self) -> bool {
        self.pending.borrow().is_empty() && self.timers.borrow().is_empty()
    }

    /// Ends the run, and makes the exception that takes the program there.
    pub(super) fn end(&self, ctx: &Ctx<'js>, failure: Failure) -> rquickjs::Error {
        self.verdict.end(failure);
        Exception::throw_internal(ctx, OVER)
    }

    fn check_not_over(&self, ctx: &Ctx<'js>) -> JsResult<()> {
        if self.verdict.is_over() {
            return Err(Exception::throw_internal(ctx, OVER));
        }
        Ok(())
    }

    fn send(&self, message: FromEngine) {
        if self.port.borrow_mut().send(message).is_err() {
            self.verdict.end(Failure::new(FailureKind::Abort, "the host is gone"));
        }
    }
}

/// The bridge that a function of a program refers to, as long as the run lasts.
pub(super) fn reach<'js>(bridge: &Weak<Bridge<'js>>, ctx: &Ctx<'js>) -> JsResult<Rc<Bridge<'js>>> {
    bridge.upgrade().ok_or_else(|| Exception::throw_internal(ctx, OVER))
}

impl Pending<'_> {
    fn reject(self, message: &str) {
        let ctx = self.error.ctx().clone();
        let text = Property::from(message).writable().configurable();
        let rejected =
            self.error.prop("message", text).and_then(|()| self.reject.call::<_, ()>((self.error,)));
        // Without memory for it the promise stays open, and the run ends by its bounds.
        quietly(&ctx, rejected);
    }
}

/// A property as an assignment would have made it.
fn data<T>(value: T) -> Property<T> {
    Property::from(value).writable().enumerable().configurable()
}

fn lossy_completion(lossy: &Lossy) -> Failure {
    Failure::new(FailureKind::InvalidOutput, format!("program completion must be lossless JSON: {lossy}"))
}

const OVER: &str = "the run is over";
const LOSSY_ARGUMENTS: &str = "tool arguments must be lossless JSON";
