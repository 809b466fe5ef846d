//! What a program finds beside the language: `console`, timers, and the little of `process` that programs are used to.

use std::rc::Rc;

use dsh_code_runtime::{Failure, FailureKind};
use rquickjs::function::Rest;
use rquickjs::object::Property;
use rquickjs::{Coerced, Ctx, Function, Object, Result, Value};

use super::bridge::{Bridge, reach};
use super::clock::now;
use super::inspect::inspect;

/// Puts the globals into the program's world; gives the console, which is a name of the program's own.
pub(super) fn install<'js>(ctx: &Ctx<'js>, bridge: &Rc<Bridge<'js>>) -> Result<Object<'js>> {
    let globals = ctx.globals();
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
    globals.prop("process", hidden(process(ctx, bridge)?))?;
    console(ctx, bridge)
}

/// Five methods that all print one entry (spec 06 §8.5).
fn console<'js>(ctx: &Ctx<'js>, bridge: &Rc<Bridge<'js>>) -> Result<Object<'js>> {
    let console = Object::new_proto(ctx.clone(), None)?;
    for name in ["log", "info", "warn", "error", "debug"] {
        let bridge = Rc::downgrade(bridge);
        let print = Function::new(ctx.clone(), move |ctx: Ctx<'js>, arguments: Rest<Value<'js>>| {
            let bridge = reach(&bridge, &ctx)?;
            let realm = &bridge.realm;
            let mut entry = String::new();
            for (at, value) in arguments.0.iter().enumerate() {
                if at > 0 {
                    entry.push(' ');
                }
                match value.as_string() {
                    Some(text) => entry.push_str(&realm.text(text)?),
                    None => entry.push_str(&inspect(realm, value)),
                }
            }
            bridge.log(&ctx, entry)
        })?;
        console.prop(name, Property::from(print.with_name(name)?).writable().enumerable().configurable())?;
    }
    Ok(console)
}

/// An empty environment, two streams that print, and an exit (spec 06 §8.4, 8.6, 8.10).
fn process<'js>(ctx: &Ctx<'js>, bridge: &Rc<Bridge<'js>>) -> Result<Object<'js>> {
    let process = Object::new(ctx.clone())?;
    process.prop("env", open(Object::new(ctx.clone())?))?;
    for name in ["stdout", "stderr"] {
        let bridge = Rc::downgrade(bridge);
        let write = Function::new(ctx.clone(), move |ctx: Ctx<'js>, arguments: Rest<Value<'js>>| {
            let bridge = reach(&bridge, &ctx)?;
            let mut arguments = arguments.0.into_iter();
            let chunk = arguments.next().unwrap_or_else(|| Value::new_undefined(ctx.clone()));
            let text = bridge.realm.coerced(chunk)?;
            let callback = arguments.take(2).find_map(|value| value.as_function().cloned());
            let printed = bridge.log(&ctx, text);
            if let Some(callback) = callback {
                callback.defer((Value::new_null(ctx.clone()),))?;
            }
            printed.map(|()| true)
        })?;
        let stream = Object::new(ctx.clone())?;
        stream.prop("write", open(write.with_name("write")?))?;
        process.prop(name, open(stream))?;
    }
    let bridge = Rc::downgrade(bridge);
    let exit = Function::new(ctx.clone(), move |ctx: Ctx<'js>, arguments: Rest<Value<'js>>| {
        let code = arguments.0.into_iter().next().filter(|code| !code.is_undefined());
        let code = match code {
            Some(code) => <Coerced<i32> as rquickjs::FromJs>::from_js(&ctx, code)?.0,
            None => 0,
        };
        let message = format!("the program called process.exit({code}): end a program with return");
        Err::<(), _>(reach(&bridge, &ctx)?.end(&ctx, Failure::new(FailureKind::WorkerExit, message)))
    })?;
    process.prop("exit", open(exit.with_name("exit")?))?;
    Ok(process)
}

/// As the language's own globals are.
fn hidden<T>(value: T) -> Property<T> {
    Property::from(value).writable().configurable()
}

fn open<T>(value: T) -> Property<T> {
    Property::from(value).writable().enumerable().configurable()
}
