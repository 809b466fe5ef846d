//! Questions about objects that only the engine's own methods answer; they were saved before the program ran.

use std::cell::RefCell;
use std::rc::Rc;

use rquickjs::function::{Rest, This};
use rquickjs::object::Filter;
use rquickjs::{Array, Atom, Ctx, Function, Object, Result, String as JsString, Value};

use super::call;
use crate::engine::realm::quietly;

/// Saved methods.
pub(in crate::engine) struct Probes<'js> {
    descriptor: Function<'js>,
    own_symbols: Function<'js>,
    map_size: Function<'js>,
    map_each: Function<'js>,
    set_size: Function<'js>,
    set_each: Function<'js>,
    date_text: Function<'js>,
    pattern_source: Function<'js>,
    pattern_text: Function<'js>,
    typed_length: Function<'js>,
    function_text: Function<'js>,
}

/// The first entries of a map or a set, and how many more there are. A set's members are keys.
pub(super) struct Entries<'js> {
    pub(super) shown: Vec<(Value<'js>, Value<'js>)>,
    pub(super) hidden: usize,
}

impl<'js> Probes<'js> {
    pub(in crate::engine) fn new(ctx: &Ctx<'js>) -> Result<Self> {
        let globals = ctx.globals();
        let object: Object<'js> = globals.get("Object")?;
        let descriptor: Function<'js> = object.get("getOwnPropertyDescriptor")?;
        let prototype = |name: &str| globals.get::<_, Object<'js>>(name)?.get::<_, Object<'js>>("prototype");
        let getter = |prototype: &Object<'js>, name: &str| {
            descriptor.call::<_, Object<'js>>((prototype.clone(), name))?.get::<_, Function<'js>>("get")
        };
        let (map, set, pattern) = (prototype("Map")?, prototype("Set")?, prototype("RegExp")?);
        let typed = prototype("Uint8Array")?.get_prototype().unwrap_or(prototype("Uint8Array")?);
        Ok(Self {
            own_symbols: object.get("getOwnPropertySymbols")?,
            map_size: getter(&map, "size")?,
            map_each: map.get("forEach")?,
            set_size: getter(&set, "size")?,
            set_each: set.get("forEach")?,
            date_text: prototype("Date")?.get("toISOString")?,
            pattern_source: getter(&pattern, "source")?,
            pattern_text: pattern.get("toString")?,
            typed_length: getter(&typed, "length")?,
            function_text: prototype("Function")?.get("toString")?,
            descriptor,
        })
    }

    pub(super) fn map_size(&self, object: &Object<'js>) -> Option<usize> {
        call(&self.map_size, object)
    }

    pub(super) fn set_size(&self, object: &Object<'js>) -> Option<usize> {
        call(&self.set_size, object)
    }

    /// A date in ISO form; `None` for what is no date, and for one that is invalid.
    pub(super) fn date(&self, object: &Object<'js>) -> Option<String> {
        call(&self.date_text, object)
    }

    pub(super) fn pattern(&self, object: &Object<'js>) -> Option<String> {
        call::<String>(&self.pattern_source, object)?;
        call(&self.pattern_text, object)
    }

    /// How many elements a typed array has.
    pub(super) fn typed_length(&self, object: &Object<'js>) -> Option<usize> {
        call(&self.typed_length, object)
    }

    pub(super) fn map_entries(&self, object: &Object<'js>, limit: usize) -> Entries<'js> {
        collect(&self.map_each, object, limit)
    }

    pub(super) fn set_entries(&self, object: &Object<'js>, limit: usize) -> Entries<'js> {
        collect(&self.set_each, object, limit)
    }

    /// `[Getter]` and the like for a property that is not data.
    pub(super) fn accessor(&self, object: &Object<'js>, key: &Value<'js>) -> Option<&'static str> {
        let descriptor = self.describe(object, key)?;
        let has = |name: &str| own(&descriptor, name).is_some_and(|value| value.is_function());
        match (has("get"), has("set")) {
            (true, true) => Some("[Getter/Setter]"),
            (true, false) => Some("[Getter]"),
            (false, true) => Some("[Setter]"),
            (false, false) => None,
        }
    }

    /// Enumerable own keys that are symbols.
    pub(super) fn symbols(&self, object: &Object<'js>) -> Vec<Value<'js>> {
        if object.own_keys::<Atom<'js>>(Filter::new().symbol().enum_only()).next().is_none() {
            return Vec::new();
        }
        let symbols: Option<Array<'js>> = self.own_symbols.call((object.clone(),)).ok();
        let symbols = symbols.into_iter().flat_map(|symbols| symbols.iter::<Value<'js>>());
        let enumerable = |key: &Value<'js>| {
            self.describe(object, key)
                .and_then(|descriptor| own(&descriptor, "enumerable")?.as_bool())
                .unwrap_or_default()
        };
        symbols.filter_map(Result::ok).filter(enumerable).collect()
    }

    /// The value of a property that is the object's own and no accessor.
    pub(in crate::engine) fn own_data(&self, object: &Object<'js>, name: &str) -> Option<Value<'js>> {
        let key = JsString::from_str(object.ctx().clone(), name).ok()?;
        own(&self.describe(object, key.as_value())?, "value")
    }

    fn describe(&self, object: &Object<'js>, key: &Value<'js>) -> Option<Object<'js>> {
        let descriptor = self.descriptor.call::<_, Option<Object<'js>>>((object.clone(), key.clone()));
        quietly(object.ctx(), descriptor)?
    }

    pub(super) fn is_class(&self, object: &Object<'js>) -> bool {
        call::<String>(&self.function_text, object).is_some_and(|text| text.starts_with("class"))
    }
}

fn collect<'js>(each: &Function<'js>, object: &Object<'js>, limit: usize) -> Entries<'js> {
    let entries = Rc::new(RefCell::new(Entries { shown: Vec::new(), hidden: 0 }));
    let seen = Rc::clone(&entries);
    let visit = Function::new(object.ctx().clone(), move |Rest(arguments): Rest<Value<'js>>| {
        let mut entries = seen.borrow_mut();
        if entries.shown.len() >= limit {
            entries.hidden += 1;
        } else if let [value, key, ..] = arguments.as_slice() {
            entries.shown.push((key.clone(), value.clone()));
        }
    });
    quietly(object.ctx(), visit.and_then(|visit| each.call::<_, ()>((This(object.clone()), visit))));
    entries.replace(Entries { shown: Vec::new(), hidden: 0 })
}

/// A property that is the object's own: what a program put on a prototype is not looked at.
fn own<'js>(object: &Object<'js>, name: &str) -> Option<Value<'js>> {
    let mut keys = object.own_keys::<Atom<'js>>(Filter::new().string());
    let found =
        keys.find(|key| key.as_ref().is_ok_and(|key| key.to_string().is_ok_and(|key| key == name)))?.ok()?;
    object.get(found).ok()
}
