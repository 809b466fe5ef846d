//! JSON to a program's value.
//!
//! Properties are defined, not set, so that no setter which a program put on a prototype is run; the walk keeps its own stack.

use dsh_json::{Json, Number, ObjectIter};
use rquickjs::object::Property;
use rquickjs::{Array, BigInt, Ctx, IntoJs as _, Object, Result, String as JsString, Value};

/// Builds a value in the program's world.
pub(super) fn write<'js>(ctx: &Ctx<'js>, json: &Json) -> Result<Value<'js>> {
    let mut open: Vec<Open<'_, 'js>> = Vec::new();
    let mut next = json;
    loop {
        let mut value = match next {
            Json::Null => Value::new_null(ctx.clone()),
            Json::Bool(value) => Value::new_bool(ctx.clone(), *value),
            Json::Number(number) => write_number(ctx, *number)?,
            Json::String(text) => JsString::from_str(ctx.clone(), text)?.into_value(),
            Json::Array(items) => {
                open.push(Open::Array(Array::new(ctx.clone())?, items.iter(), 0));
                Value::new_undefined(ctx.clone())
            }
            Json::Object(object) => {
                open.push(Open::Object(Object::new(ctx.clone())?, object.iter(), ""));
                Value::new_undefined(ctx.clone())
            }
        };
        let mut finished = !matches!(next, Json::Array(_) | Json::Object(_));
        next = loop {
            match open.last_mut() {
                None => return Ok(value),
                Some(Open::Array(array, items, index)) => {
                    if finished {
                        define(array.as_object(), *index, value)?;
                        *index += 1;
                    }
                    if let Some(item) = items.next() {
                        break item;
                    }
                    value = array.clone().into_value();
                }
                Some(Open::Object(object, properties, key)) => {
                    if finished {
                        define(object, *key, value)?;
                    }
                    if let Some((name, item)) = properties.next() {
                        *key = name;
                        break item;
                    }
                    value = object.clone().into_value();
                }
            }
            finished = true;
            open.pop();
        };
    }
}

/// A container that is not complete.
enum Open<'a, 'js> {
    Array(Array<'js>, std::slice::Iter<'a, Json>, u32),
    Object(Object<'js>, ObjectIter<'a>, &'a str),
}

fn define<'js>(object: &Object<'js>, key: impl rquickjs::IntoAtom<'js>, value: Value<'js>) -> Result<()> {
    object.prop(key, Property::from(value).writable().enumerable().configurable())
}

/// A number of the program's; an integer that a double can't hold is a `BigInt` (design §5).
fn write_number<'js>(ctx: &Ctx<'js>, number: Number) -> Result<Value<'js>> {
    if number.is_exact_f64() {
        return number.as_f64().into_js(ctx);
    }
    Ok(match (number.as_i64(), number.as_u64()) {
        (Some(value), _) => BigInt::from_i64(ctx.clone(), value)?.into_value(),
        (None, Some(value)) => BigInt::from_u64(ctx.clone(), value)?.into_value(),
        (None, None) => Value::new_float(ctx.clone(), number.as_f64()),
    })
}
