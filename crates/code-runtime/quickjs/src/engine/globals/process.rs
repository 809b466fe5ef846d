//! The little of `process` that programs are used to: an empty environment, two streams that print, and an exit (spec 06
//! §8.4, 8.6, 8.10).

use std::rc::Rc;

use dsh_code_runtime::{Failure, FailureKind};
use rquickjs::function::Rest;
use rquickjs::{Coerced, Ctx, FromJs as _, Function, Object, Result, Value};

use super::open;
use crate::engine::bridge::{Bridge, reach};

pub(super) fn process<'js>(ctx: &Ctx<'js>, bridge: &Rc<Bridge<'js>>) -> Result<Object<'js>> {
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
            Some(code) => Coerced::<i32>::from_js(&ctx, code)?.0,
            None => 0,
        };
        let message = format!("the program called process.exit({code}): end a program with return");
        Err::<(), _>(reach(&bridge, &ctx)?.end(&ctx, Failure::new(FailureKind::WorkerExit, message)))
    })?;
    process.prop("exit", open(exit.with_name("exit")?))?;
    Ok(process)
}
