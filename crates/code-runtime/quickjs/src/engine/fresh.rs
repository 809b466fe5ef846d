//! An engine before it has a program. Making one takes longer than running most programs.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use dsh_code_runtime::Limits;
use dsh_code_runtime::wire::{Brake, Port};
use rquickjs::{Context, Ctx, Object, Persistent, Result, Runtime, Value};

use super::bridge::Bridge;
use super::clock::Busy;
use super::memory::Memory;
use super::realm::Verdict;
use super::{ENGINE_STACK_BYTES, braked, busy_too_long, globals};

/// One engine, for one program.
pub(super) struct Engine {
    pub(super) rejections: Rejections,
    pub(super) context: Context,
    pub(super) memory: Memory,
    pub(super) verdict: Verdict,
    compute: Rc<Cell<Option<Compute>>>,
    /// Last, since all that is of it has to be gone before it.
    runtime: Runtime,
}

/// When the program started, and for how long it may compute.
#[derive(Clone, Copy)]
struct Compute {
    busy: Busy,
    allowed: Duration,
}

impl Engine {
    /// An engine without bounds. Pulling the brake stops it.
    pub(super) fn new(brake: Brake) -> Result<Self> {
        let (memory, verdict) = (Memory::default(), Verdict::default());
        let runtime = Runtime::new_with_alloc(memory.allocator())?;
        runtime.set_max_stack_size(ENGINE_STACK_BYTES);
        let compute = Rc::new(Cell::new(None));
        let looks = interrupt(verdict.clone(), brake, Rc::clone(&compute), memory.clone());
        runtime.set_interrupt_handler(Some(looks));
        let rejections = Rejections::watch(&runtime);
        let context = Context::full(&runtime)?;
        Ok(Self { rejections, context, memory, verdict, compute, runtime })
    }

    /// Sets the bounds of the program that starts now.
    pub(super) fn bound(&self, limits: &Limits) {
        self.memory.bound(limits.max_memory_bytes);
        self.compute.set(Some(Compute { busy: Busy::start(), allowed: limits.max_compute }));
    }

    /// How long the program has computed.
    pub(super) fn busy(&self) -> Duration {
        self.compute.get().map(|compute| compute.busy.elapsed()).unwrap_or_default()
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.runtime.set_host_promise_rejection_tracker(None);
    }
}

/// What a program finds, made before it is known.
pub(super) struct World<'js> {
    pub(super) bridge: Rc<Bridge<'js>>,
    pub(super) console: Object<'js>,
}

impl<'js> World<'js> {
    pub(super) fn new(ctx: &Ctx<'js>, port: &Rc<RefCell<dyn Port>>, engine: &Engine) -> Result<Self> {
        let (verdict, memory) = (engine.verdict.clone(), engine.memory.clone());
        let bridge = Rc::new(Bridge::new(ctx, Rc::clone(port), verdict, memory)?);
        let console = globals::install(ctx, &bridge)?;
        Ok(Self { bridge, console })
    }
}

/// Looks, from inside the engine, whether a busy program has to stop.
fn interrupt(
    verdict: Verdict,
    brake: Brake,
    compute: Rc<Cell<Option<Compute>>>,
    memory: Memory,
) -> Box<dyn FnMut() -> bool> {
    Box::new(move || {
        if brake.is_pulled() {
            verdict.end(braked());
        }
        if memory.is_overrun() {
            verdict.end(memory.exhausted());
        }
        if let Some(Compute { busy, allowed }) = compute.get() {
            let used = busy.elapsed();
            if used > allowed {
                verdict.end(busy_too_long(used, allowed));
            }
        }
        verdict.is_over()
    })
}

/// Rejections that nobody handled yet, in order.
#[derive(Clone, Default)]
pub(super) struct Rejections(Rc<RefCell<Vec<Rejection>>>);

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

    pub(super) fn threw<'js>(&self, ctx: &Ctx<'js>, thrown: Value<'js>) {
        self.0.borrow_mut().push(Rejection { promise: None, reason: Persistent::save(ctx, thrown) });
    }

    pub(super) fn first<'js>(&self, ctx: &Ctx<'js>) -> Option<Value<'js>> {
        self.0.borrow().first().and_then(|rejection| rejection.reason.clone().restore(ctx).ok())
    }
}

impl Drop for Rejections {
    fn drop(&mut self) {
        self.0.borrow_mut().clear();
    }
}
