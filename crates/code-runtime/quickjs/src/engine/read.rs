//! A program's value to JSON: lossless, or refused with the place of the first part that is not.
//!
//! Values are looked at from outside, through the engine's own functions: nothing that a program overwrites is asked. A
//! getter is the program's own code, and is run once. The walk keeps its own stack, so that depth costs memory only.

use std::collections::HashSet;
use std::sync::Arc;

use dsh_code_runtime::lossless::{self, Lossy, MAX_DEPTH, PART, Step, text_weight};
use dsh_json::{Array, Json, Number, Object};
use rquickjs::object::Filter;
use rquickjs::{Atom, Coerced, Ctx, Error, FromJs as _, Object as JsObject, Type, Value};

use super::realm::{self, Realm};

/// Why a value did not become JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refusal {
    /// A part of it is not lossless JSON.
    Lossy(Lossy),
    /// It weighs more than there is room for.
    TooHeavy,
    /// The engine gave up while it was looked at: no memory, or no time.
    Interrupted,
}

/// Reads a value that weighs at most `room`, and what it weighs, as [`lossless::weight`] weighs.
pub(super) fn read<'js>(
    realm: &Realm<'js>,
    value: Value<'js>,
    room: usize,
) -> Result<(Json, usize), Refusal> {
    let mut walk = Walk { realm, room, open: Vec::new(), on_path: HashSet::new() };
    let mut next = Some(value);
    loop {
        let finished = match next.take() {
            Some(value) => walk.visit(&value)?,
            None => Some(walk.close()),
        };
        if let Some(value) = finished
            && let Some(root) = walk.put(value)
        {
            return Ok((root, room - walk.room));
        }
        next = walk.following();
    }
}

struct Walk<'a, 'js> {
    realm: &'a Realm<'js>,
    room: usize,
    open: Vec<Open<'js>>,
    /// The containers that are open: one of them inside itself is a cycle.
    on_path: HashSet<JsObject<'js>>,
}

/// A container whose children are not all read.
struct Open<'js> {
    identity: JsObject<'js>,
    children: std::vec::IntoIter<(Step, Value<'js>)>,
    /// The child that is being read.
    at: Step,
    built: Built,
}

enum Built {
    Array(Vec<Json>),
    Object(Object),
}

impl<'js> Walk<'_, 'js> {
    /// A scalar, or `None` when a container was opened.
    fn visit(&mut self, value: &Value<'js>) -> Result<Option<Json>, Refusal> {
        self.charge(PART)?;
        Ok(Some(match value.type_of() {
            Type::Null => Json::Null,
            Type::Bool => Json::Bool(value.as_bool().unwrap_or_default()),
            Type::Int => Json::from(i64::from(value.as_int().unwrap_or_default())),
            Type::Float => Json::Number(self.number(value.as_float().unwrap_or(f64::NAN))?),
            Type::BigInt => Json::Number(self.big_integer(value)?),
            Type::String => {
                let text = self.text(value)?;
                self.charge(text_weight(&text))?;
                Json::from(text)
            }
            Type::Array => return self.open_array(value).map(|()| None),
            Type::Object => return self.open_object(value).map(|()| None),
            Type::Undefined | Type::Uninitialized => {
                return Err(self.lossy("undefined", "leave it out, or use null"));
            }
            Type::Symbol => return Err(self.lossy("a symbol", "use a string")),
            Type::Function | Type::Constructor => return Err(self.lossy("a function", "")),
            Type::Promise => return Err(self.lossy("a promise", "await it first")),
            Type::Proxy => return Err(self.lossy("a proxy", "copy it into a plain object or array")),
            Type::Exception => return Err(self.lossy("an error", "use its message")),
            Type::Module | Type::Unknown => return Err(self.lossy("no plain value", "")),
        }))
    }

    #[expect(clippy::cast_possible_truncation, reason = "the range is checked, the fraction is zero")]
    fn number(&self, value: f64) -> Result<Number, Refusal> {
        let what = if value.is_nan() {
            "NaN"
        } else if value.is_infinite() {
            if value > 0.0 { "Infinity" } else { "-Infinity" }
        } else if value == 0.0 && value.is_sign_negative() {
            return Err(self.lossy("-0", "write 0"));
        } else if value.fract() == 0.0 && value.abs() <= MAX_SAFE {
            return Ok(Number::from(value as i64));
        } else {
            return Number::from_f64(value).map_err(|_| self.lossy("no JSON number", ""));
        };
        Err(self.lossy(what, "use null or a string"))
    }

    fn big_integer(&self, value: &Value<'js>) -> Result<Number, Refusal> {
        let ctx = value.ctx().clone();
        let Coerced(digits) =
            Coerced::<String>::from_js(&ctx, value.clone()).map_err(|_| interrupted(&ctx))?;
        let small = digits.parse::<i64>().map(Number::from);
        small
            .or_else(|_| digits.parse::<u64>().map(Number::from))
            .map_err(|_| self.lossy("a BigInt beyond 64 bits", "use a string"))
    }

    fn text(&self, value: &Value<'js>) -> Result<String, Refusal> {
        let Some(text) = value.as_string() else { return Ok(String::new()) };
        text.to_string().map_err(|error| {
            if matches!(error, Error::Utf8(_)) {
                return self.lossy("text with half of a surrogate pair", "use toWellFormed()");
            }
            interrupted(value.ctx())
        })
    }

    fn open_array(&mut self, value: &Value<'js>) -> Result<(), Refusal> {
        let Some(object) = value.as_object() else { return Ok(()) };
        if object.get_prototype().as_ref() != Some(&self.realm.array_prototype) {
            return Err(self.lossy("an instance of a subclass of Array", "use Array.from(...)"));
        }
        let Some(array) = value.as_array() else { return Ok(()) };
        let length = realm::length(array);
        let enumerable = object.own_keys::<Atom<'js>>(Filter::new().string().enum_only()).count();
        if enumerable != length || all_keys(object) != length + 1 {
            return Err(self.lossy("an array with holes or extra properties", "fill it, or use an object"));
        }
        // Each element is weighed when it is read; this is before there is room for all of them.
        if length.saturating_mul(PART) > self.room {
            return Err(Refusal::TooHeavy);
        }
        let mut children = Vec::with_capacity(length);
        for index in 0..length {
            let step = Step::Index(index);
            let child = array.get::<Value<'js>>(index).map_err(|_| self.thrown(value.ctx(), &step))?;
            children.push((step, child));
        }
        if realm::length(array) != length {
            return Err(self.lossy("an array that changed while it was read", ""));
        }
        self.push(object.clone(), children, Built::Array(Vec::with_capacity(length)))
    }

    fn open_object(&mut self, value: &Value<'js>) -> Result<(), Refusal> {
        let Some(object) = value.as_object() else { return Ok(()) };
        match object.get_prototype() {
            None => {}
            Some(prototype) if prototype == self.realm.object_prototype => {}
            Some(_) => {
                let what = self.realm.class_name(object).unwrap_or_else(|| "a class".to_owned());
                return Err(
                    self.lossy(&format!("an instance of {what}"), "copy its data into a plain object")
                );
            }
        }
        let atoms = object
            .own_keys::<Atom<'js>>(Filter::new().string().enum_only())
            .collect::<Result<Vec<_>, _>>()
            .map_err(|_| interrupted(value.ctx()))?;
        if all_keys(object) != atoms.len() {
            return Err(
                self.lossy("an object with hidden or symbol properties", "copy its data into a plain object")
            );
        }
        let mut children = Vec::with_capacity(atoms.len());
        for atom in atoms {
            let key = atom.to_js_string().map_err(|_| interrupted(value.ctx()))?;
            let key = self.text(key.as_value())?;
            self.charge(PART + text_weight(&key))?;
            let step = Step::Key(Arc::from(key));
            let child = object.get::<_, Value<'js>>(atom).map_err(|_| self.thrown(value.ctx(), &step))?;
            children.push((step, child));
        }
        self.push(object.clone(), children, Built::Object(Object::new()))
    }

    fn push(
        &mut self,
        identity: JsObject<'js>,
        children: Vec<(Step, Value<'js>)>,
        built: Built,
    ) -> Result<(), Refusal> {
        if self.open.len() >= MAX_DEPTH {
            return Err(self.lossy("nested deeper than 10,000 levels", "flatten it"));
        }
        if !self.on_path.insert(identity.clone()) {
            return Err(self.lossy("a cycle: it contains itself", "leave the back reference out"));
        }
        self.open.push(Open { identity, children: children.into_iter(), at: Step::Index(0), built });
        Ok(())
    }

    /// The next child of the innermost container, if it has one.
    fn following(&mut self) -> Option<Value<'js>> {
        let open = self.open.last_mut()?;
        let (step, value) = open.children.next()?;
        open.at = step;
        Some(value)
    }

    /// The innermost container, finished.
    fn close(&mut self) -> Json {
        let Some(open) = self.open.pop() else { return Json::Null };
        self.on_path.remove(&open.identity);
        match open.built {
            Built::Array(items) => Json::from(Array::from(items)),
            Built::Object(object) => Json::from(object),
        }
    }

    /// Puts a finished value into its container; or gives it back, when it is the root.
    fn put(&mut self, value: Json) -> Option<Json> {
        let Some(open) = self.open.last_mut() else { return Some(value) };
        match (&mut open.built, &open.at) {
            (Built::Array(items), _) => items.push(value),
            (Built::Object(object), Step::Key(key)) => {
                object.insert(Arc::clone(key), value);
            }
            (Built::Object(_), Step::Index(_)) => {}
        }
        None
    }

    fn charge(&mut self, weight: usize) -> Result<(), Refusal> {
        self.room = self.room.checked_sub(weight).ok_or(Refusal::TooHeavy)?;
        Ok(())
    }

    fn lossy(&self, what: &str, instead: &'static str) -> Refusal {
        let steps: Vec<_> = self.open.iter().map(|open| open.at.clone()).collect();
        Refusal::Lossy(Lossy { path: lossless::path(steps.iter()), what: what.to_owned(), instead })
    }

    /// A getter threw.
    fn thrown(&self, ctx: &Ctx<'js>, step: &Step) -> Refusal {
        if self.realm.is_over() {
            return interrupted(ctx);
        }
        let thrown = ctx.catch();
        let text = self.realm.thrown_text(&thrown);
        let mut steps: Vec<_> = self.open.iter().map(|open| open.at.clone()).collect();
        steps.push(step.clone());
        let what = format!("a getter that throws {text}");
        Refusal::Lossy(Lossy { path: lossless::path(steps.iter()), what, instead: "" })
    }
}

fn interrupted(ctx: &Ctx<'_>) -> Refusal {
    ctx.catch();
    Refusal::Interrupted
}

/// How many own properties there are, of whatever sort.
fn all_keys(object: &JsObject<'_>) -> usize {
    object.own_keys::<Atom<'_>>(Filter::new().string().symbol()).count()
}

/// 2^53, the largest integer up to which a double holds each.
const MAX_SAFE: f64 = 9_007_199_254_740_992.0;
