//! What a program finds beside the language, as a list. `docs/code-mode-language.md` says the same to people.
//!
//! ```text
//! at the start    console · process · timers · structuredClone
//! on first use    TextEncoder · TextDecoder · URL · URLSearchParams
//! the engine's    atob · btoa · queueMicrotask · performance · DOMException
//! ```
//!
//! None of it has authority: nothing is read, opened or asked outside the engine. A value lives in the engine's memory, where
//! it counts; what Rust holds for the length of a call is bounded by it. What a program overwrites is not asked, since
//! [`Saved`] was read before the program ran.

use std::rc::Rc;

use rquickjs::function::Rest;
use rquickjs::object::{Accessor, Property};
use rquickjs::{Ctx, Function, Object, Result, Value};

use super::bridge::{Bridge, reach};
use super::clock::now;
use super::realm::quietly;

mod bytes;
mod class;
mod clone;
mod console;
mod output;
mod params;
mod process;
mod query;
mod saved;
mod shown;
mod text;
mod url;
mod utf8;

use class::Known;
pub(super) use saved::Saved;
pub(super) use shown::Shown;

/// Puts the globals into the program's world; gives the console, which is a name of the program's own.
pub(super) fn install<'js>(ctx: &Ctx<'js>, bridge: &Rc<Bridge<'js>>) -> Result<Object<'js>> {
    let globals = ctx.globals();
    timers(ctx, bridge, &globals)?;
    globals.prop("process", hidden(process::process(ctx, bridge)?))?;
    let clone = class::function(ctx, bridge, "structuredClone", 1, clone::structured_clone)?;
    globals.prop("structuredClone", hidden(clone))?;
    for known in [Known::TextEncoder, Known::TextDecoder, Known::Url, Known::UrlSearchParams] {
        on_first_use(bridge, &globals, known)?;
    }
    console::console(ctx, bridge)
}

fn timers<'js>(ctx: &Ctx<'js>, bridge: &Rc<Bridge<'js>>, globals: &Object<'js>) -> Result<()> {
    for (name, repeats) in [("setTimeout", false), ("setInterval", true)] {
        let bridge = Rc::downgrade(bridge);
        let start = Function::new(ctx.clone(), move |ctx: Ctx<'js>, arguments: Rest<Value<'js>>| {
            reach(&bridge, &ctx)?.timers.borrow_mut().start(&ctx, now(), arguments.0, repeats)
        })?;
        globals.prop(name, hidden(start.with_name(name)?))?;
    }
    for name in ["clearTimeout", "clearInterval"] {
        let bridge = Rc::downgrade(bridge);
        let clear = Function::new(ctx.clone(), move |ctx: Ctx<'js>, arguments: Rest<Value<'js>>| {
            if let Some(number) = arguments.0.first() {
                reach(&bridge, &ctx)?.timers.borrow_mut().clear(number);
            }
            Result::Ok(())
        })?;
        globals.prop(name, hidden(clear.with_name(name)?))?;
    }
    Ok(())
}

/// A class that is built when a program reads its name, since few programs do and every program would pay.
fn on_first_use<'js>(bridge: &Rc<Bridge<'js>>, globals: &Object<'js>, known: Known) -> Result<()> {
    let name = known.name();
    let for_get = Rc::downgrade(bridge);
    let get = move |ctx: Ctx<'js>| {
        let bridge = reach(&for_get, &ctx)?;
        let constructor = bridge.realm.saved.class(&bridge, &ctx, known)?.constructor.clone();
        // A frozen global object keeps the accessor, which gives the same class again.
        quietly(&ctx, ctx.globals().prop(name, hidden(constructor.clone())));
        Ok::<_, rquickjs::Error>(constructor)
    };
    let set = move |ctx: Ctx<'js>, value: Value<'js>| ctx.globals().prop(name, hidden(value));
    globals.prop(name, Accessor::new(get, set).configurable())
}

/// As the language's own globals are.
fn hidden<T>(value: T) -> Property<T> {
    Property::from(value).writable().configurable()
}

/// As an assignment would have made it.
fn open<T>(value: T) -> Property<T> {
    Property::from(value).writable().enumerable().configurable()
}
