//! `console`: five methods that all print one entry (spec 06 §8.5).

use std::rc::Rc;

use rquickjs::function::Rest;
use rquickjs::{Ctx, Function, Object, Result, Value};

use super::open;
use crate::engine::bridge::{Bridge, reach};
use crate::engine::inspect::inspect;

pub(super) fn console<'js>(ctx: &Ctx<'js>, bridge: &Rc<Bridge<'js>>) -> Result<Object<'js>> {
    let console = Object::new_proto(ctx.clone(), None)?;
    for name in ["log", "info", "warn", "error", "debug"] {
        let bridge = Rc::downgrade(bridge);
        let print = Function::new(ctx.clone(), move |ctx: Ctx<'js>, arguments: Rest<Value<'js>>| {
            let bridge = reach(&bridge, &ctx)?;
            let realm = &bridge.realm;
            let mut entry = String::new();
            for (at, value) in arguments.0.iter().enumerate() {
                if entry.len() > bridge.output_room() {
                    // It is cut there.
                    break;
                }
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
        console.prop(name, open(print.with_name(name)?))?;
    }
    Ok(console)
}
