//! The program's world as it was before the program: what the bridge compares with and calls, whatever is overwritten later.

use std::cell::RefCell;
use std::rc::Rc;

use dsh_code_runtime::{Failure, FailureKind};
use rquickjs::atom::PredefinedAtom;
use rquickjs::function::This;
use rquickjs::{
    Array, Coerced, Constructor, Ctx, FromJs as _, Function, Object, Result, String as JsString, Value,
};

use super::globals::Saved;
use super::inspect::Probes;

/// Intrinsics of one context, and whether the run is over.
pub(super) struct Realm<'js> {
    pub(super) object_prototype: Object<'js>,
    pub(super) array_prototype: Object<'js>,
    error: Constructor<'js>,
    to_well_formed: Function<'js>,
    /// Makes a class of errors of a name.
    pub(super) error_class: Function<'js>,
    pub(super) probes: Probes<'js>,
    pub(super) saved: Saved<'js>,
    verdict: Verdict,
}

/// Why the run is over before the program says so. The first reason counts.
#[derive(Clone, Default)]
pub(super) struct Verdict(Rc<RefCell<Option<Failure>>>);

impl Verdict {
    /// Ends the run. The program may go on for a moment, until the engine is interrupted; nothing leaves it any more.
    pub(super) fn end(&self, failure: Failure) {
        self.0.borrow_mut().get_or_insert(failure);
    }

    pub(super) fn is_over(&self) -> bool {
        self.0.borrow().is_some()
    }

    pub(super) fn failure(&self) -> Option<Failure> {
        self.0.borrow().clone()
    }
}

impl<'js> Realm<'js> {
    /// Saves what is needed, before the program runs.
    pub(super) fn new(ctx: &Ctx<'js>, verdict: Verdict) -> Result<Self> {
        let globals = ctx.globals();
        let prototype = |name: &str| globals.get::<_, Object<'js>>(name)?.get::<_, Object<'js>>("prototype");
        let error: Constructor<'js> = globals.get("Error")?;
        // With these a program would run inside the making of every error.
        error.remove("prepareStackTrace")?;
        error.remove("stackTraceLimit")?;
        Ok(Self {
            object_prototype: prototype("Object")?,
            array_prototype: prototype("Array")?,
            to_well_formed: prototype("String")?.get("toWellFormed")?,
            error,
            error_class: ctx.eval(ERROR_CLASS)?,
            probes: Probes::new(ctx)?,
            saved: Saved::new(ctx)?,
            verdict,
        })
    }

    pub(super) fn is_over(&self) -> bool {
        self.verdict.is_over()
    }

    /// An error whose stack is that of the caller, in the program's own coordinates.
    pub(super) fn new_error(&self, message: &str) -> Result<Object<'js>> {
        self.error.construct((message,))
    }

    /// The text of a string; half a surrogate pair becomes U+FFFD.
    pub(super) fn text(&self, value: &JsString<'js>) -> Result<String> {
        if let Ok(text) = value.to_string() {
            return Ok(text);
        }
        self.well_formed(value.clone())?.to_string()
    }

    /// The string, with U+FFFD for each half of a surrogate pair.
    pub(super) fn well_formed(&self, value: JsString<'js>) -> Result<JsString<'js>> {
        self.to_well_formed.call((This(value),))
    }

    /// `String(value)`, which may run the program's code.
    pub(super) fn coerced(&self, value: Value<'js>) -> Result<String> {
        let ctx = value.ctx().clone();
        let Coerced(text) = Coerced::<JsString<'js>>::from_js(&ctx, value)?;
        self.text(&text)
    }

    /// A property's text, or nothing if it is no string; `None` also when reading throws.
    pub(super) fn property_text(&self, object: &Object<'js>, key: &str) -> Option<String> {
        let value = quietly(object.ctx(), object.get::<_, Value<'js>>(key))?;
        self.text(value.as_string()?).ok()
    }

    /// The name of the class that an object is an instance of, read without running the program's code.
    pub(super) fn class_name(&self, object: &Object<'js>) -> Option<String> {
        let prototype = object.get_prototype()?;
        let constructor = self.probes.own_data(&prototype, "constructor")?;
        self.own_text(constructor.as_object()?, "name").filter(|name| !name.is_empty() && name.len() <= 80)
    }

    /// The text of a property that is the object's own and no accessor.
    pub(super) fn own_text(&self, object: &Object<'js>, key: &str) -> Option<String> {
        self.text(self.probes.own_data(object, key)?.as_string()?).ok()
    }

    /// Whether an object is an error of the language, or a `DOMException`.
    pub(super) fn is_error(&self, object: &Object<'js>) -> bool {
        object.is_error() || !object.is_proxy() && self.saved.is_dom_exception(object)
    }

    /// What was thrown, in one line.
    pub(super) fn thrown_text(&self, thrown: &Value<'js>) -> String {
        let Some(error) = thrown.as_object().filter(|thrown| self.is_error(thrown)) else {
            let text = self.coerced(thrown.clone());
            return quietly(thrown.ctx(), text).unwrap_or_else(|| UNRENDERABLE.to_owned());
        };
        let name = self.property_text(error, "name").unwrap_or_else(|| "Error".to_owned());
        match self.property_text(error, "message") {
            Some(message) if !message.is_empty() => format!("{name}: {message}"),
            Some(_) | None => name,
        }
    }
}

/// The value, or `None` after swallowing the exception.
pub(super) fn quietly<T>(ctx: &Ctx<'_>, result: Result<T>) -> Option<T> {
    if result.is_err() {
        ctx.catch();
    }
    result.ok()
}

/// How long an array is. The binding's own answer panics from 2³¹ on, and `new Array(4294967295)` is an array.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "32 bits, whole, not negative")]
pub(super) fn length(array: &Array<'_>) -> usize {
    let length = quietly(array.ctx(), array.as_object().get::<_, f64>(PredefinedAtom::Length));
    length.map_or(0, |length| length as usize)
}

/// What is said of a thrown value that can't be shown, because showing it throws.
pub(super) const UNRENDERABLE: &str = "a value that can't be shown";

/// The failure of a program that used up its memory.
pub(crate) fn out_of_memory(allowed: usize) -> Failure {
    let message = format!(
        "the program used more than {allowed} bytes of memory (maxMemoryBytes): keep less at once, or work in parts"
    );
    Failure::new(FailureKind::MemoryLimit, message)
}

/// A class of errors of that name.
const ERROR_CLASS: &str = "(name => { const made = class extends Error { constructor(message) { super(message); \
    Object.defineProperty(this, 'name', { value: name, writable: true, enumerable: true, configurable: true }); } }; \
    Object.defineProperty(made, 'name', { value: name, configurable: true }); return made; })";
