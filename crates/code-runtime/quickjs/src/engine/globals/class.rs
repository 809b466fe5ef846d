//! Functions and classes of ours, as a program sees them.
//!
//! An instance is an object like any other. What it holds inside is an engine value in a `WeakMap` of its class: it counts as
//! the program's memory, goes with the instance, and nothing but the class's own methods reaches it.

use std::cell::OnceCell;
use std::rc::{Rc, Weak};

use rquickjs::atom::PredefinedAtom;
use rquickjs::function::{IntoJsFunc, ParamRequirement, Params, This};
use rquickjs::object::{Accessor, Property};
use rquickjs::{
    CString, Coerced, Constructor, Ctx, Exception, FromJs, Function, IntoJs, Object, Result, Value,
};

use super::saved::Saved;
use super::{hidden, open, params, text, url};
use crate::engine::bridge::{Bridge, reach};
use crate::engine::realm::quietly;

/// What a function of ours does.
pub(super) type Native = for<'a, 'js> fn(&Call<'a, 'js>) -> Result<Value<'js>>;

/// One call of a function of ours.
pub(super) struct Call<'a, 'js> {
    params: Params<'a, 'js>,
    bridge: Rc<Bridge<'js>>,
}

/// The classes that are built on first use.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    TextEncoder,
    TextDecoder,
    Url,
    UrlSearchParams,
    UrlSearchParamsIterator,
}

/// How a class looks.
pub(super) struct Definition {
    pub(super) name: &'static str,
    /// Arguments that the constructor needs.
    pub(super) length: usize,
    /// Makes an instance; nothing, for a class that programs can't name.
    pub(super) construct: Option<Native>,
    pub(super) attributes: &'static [(&'static str, Native, Option<Native>)],
    pub(super) methods: &'static [(&'static str, usize, Native)],
    pub(super) statics: &'static [(&'static str, usize, Native)],
    /// The method that is also `Symbol.iterator`.
    pub(super) iterator: Option<&'static str>,
}

/// A class that has been built.
pub(super) struct Class<'js> {
    /// The prototype, where there is no constructor.
    pub(super) constructor: Object<'js>,
    pub(super) prototype: Object<'js>,
    /// What instances hold.
    inside: Object<'js>,
}

/// Those that have been built.
#[derive(Default)]
pub(super) struct Classes<'js>([OnceCell<Class<'js>>; 5]);

impl Known {
    const ALL: [Self; 5] = [
        Self::TextEncoder,
        Self::TextDecoder,
        Self::Url,
        Self::UrlSearchParams,
        Self::UrlSearchParamsIterator,
    ];

    pub(super) fn name(self) -> &'static str {
        self.definition().name
    }

    fn definition(self) -> &'static Definition {
        match self {
            Self::TextEncoder => &text::ENCODER,
            Self::TextDecoder => &text::DECODER,
            Self::Url => &url::URL,
            Self::UrlSearchParams => &params::PARAMS,
            Self::UrlSearchParamsIterator => &params::ITERATOR,
        }
    }
}

impl<'js> Classes<'js> {
    fn cell(&self, known: Known) -> &OnceCell<Class<'js>> {
        let [encoder, decoder, url, params, iterator] = &self.0;
        match known {
            Known::TextEncoder => encoder,
            Known::TextDecoder => decoder,
            Known::Url => url,
            Known::UrlSearchParams => params,
            Known::UrlSearchParamsIterator => iterator,
        }
    }
}

impl<'js> Saved<'js> {
    /// The class, which is built now if it was not before.
    pub(super) fn class(
        &self,
        bridge: &Rc<Bridge<'js>>,
        ctx: &Ctx<'js>,
        known: Known,
    ) -> Result<&Class<'js>> {
        let cell = self.classes.cell(known);
        if let Some(class) = cell.get() {
            return Ok(class);
        }
        let built = self.build(bridge, ctx, known)?;
        Ok(cell.get_or_init(|| built))
    }

    /// The name of the class of ours that has this prototype.
    pub(super) fn class_of(&self, prototype: &Object<'js>) -> Option<&'static str> {
        let built = |known: &Known| {
            self.classes.cell(*known).get().is_some_and(|class| class.prototype == *prototype)
        };
        Known::ALL.iter().copied().find(built).map(Known::name)
    }

    /// What an instance of the class holds; nothing, for what is none.
    pub(super) fn held(&self, known: Known, object: &Object<'js>) -> Option<Value<'js>> {
        let class = self.classes.cell(known).get()?;
        let held = self.weak_map.get.call((This(class.inside.clone()), object.clone()));
        quietly(object.ctx(), held).filter(|held: &Value<'js>| !held.is_undefined())
    }

    fn build(&self, bridge: &Rc<Bridge<'js>>, ctx: &Ctx<'js>, known: Known) -> Result<Class<'js>> {
        let definition = known.definition();
        let prototype = Object::new(ctx.clone())?;
        prototype.prop(PredefinedAtom::SymbolToStringTag, Property::from(definition.name).configurable())?;
        for (name, get, set) in definition.attributes {
            let get = Glue::new(bridge, *get);
            match set {
                Some(set) => {
                    let accessor = Accessor::new(get, Glue::new(bridge, *set));
                    prototype.prop(*name, accessor.enumerable().configurable())?;
                }
                None => prototype.prop(*name, Accessor::new_get(get).enumerable().configurable())?,
            }
        }
        for (name, length, native) in definition.methods {
            let method = function(ctx, bridge, name, *length, *native)?;
            if definition.iterator == Some(*name) {
                prototype.prop(PredefinedAtom::SymbolIterator, hidden(method.clone()))?;
            }
            prototype.prop(*name, open(method))?;
        }
        let constructor = match definition.construct {
            None => {
                prototype.set_prototype(Some(&self.iterator_prototype))?;
                prototype.clone()
            }
            Some(construct) => {
                let glue = Glue { class: Some(definition.name), ..Glue::new(bridge, construct) };
                let constructor = Constructor::new_prototype(ctx, prototype.clone(), glue)?;
                constructor.set_name(definition.name)?;
                constructor.set_length(definition.length)?;
                for (name, length, native) in definition.statics {
                    constructor.prop(*name, open(function(ctx, bridge, name, *length, *native)?))?;
                }
                constructor.into_value().into_object().unwrap_or_else(|| prototype.clone())
            }
        };
        Ok(Class { constructor, prototype, inside: self.weak_map.make.construct(())? })
    }
}

/// A function that programs call.
pub(super) fn function<'js>(
    ctx: &Ctx<'js>,
    bridge: &Rc<Bridge<'js>>,
    name: &str,
    length: usize,
    native: Native,
) -> Result<Function<'js>> {
    let function = Function::new(ctx.clone(), Glue::new(bridge, native))?.with_name(name)?;
    if length == 0 { Ok(function) } else { function.with_length(length) }
}

/// What lies between the engine and a function of ours.
struct Glue<'js> {
    bridge: Weak<Bridge<'js>>,
    native: Native,
    /// Of a constructor, its name.
    class: Option<&'static str>,
}

/// Says to the trait that this is not one of its closures.
struct OfGlue;

impl<'js> Glue<'js> {
    fn new(bridge: &Rc<Bridge<'js>>, native: Native) -> Self {
        Self { bridge: Rc::downgrade(bridge), native, class: None }
    }
}

impl<'js> IntoJsFunc<'js, OfGlue> for Glue<'js> {
    fn param_requirements() -> ParamRequirement {
        ParamRequirement::any()
    }

    fn call<'a>(&self, params: Params<'a, 'js>) -> Result<Value<'js>> {
        if let Some(name) = self.class
            && !params.is_constructor()
        {
            return Err(Exception::throw_type(
                params.ctx(),
                &format!("{name} is a class: write new {name}(…)"),
            ));
        }
        let bridge = reach(&self.bridge, params.ctx())?;
        (self.native)(&Call { params, bridge })
    }
}

impl<'js> Call<'_, 'js> {
    pub(super) fn ctx(&self) -> &Ctx<'js> {
        self.params.ctx()
    }

    pub(super) fn saved(&self) -> &Saved<'js> {
        &self.bridge.realm.saved
    }

    pub(super) fn object_prototype(&self) -> &Object<'js> {
        &self.bridge.realm.object_prototype
    }

    /// The object that the method was called on.
    pub(super) fn this(&self) -> Value<'js> {
        self.params.this()
    }

    /// An argument; undefined when it was not given.
    pub(super) fn argument(&self, at: usize) -> Value<'js> {
        self.params.arg(at).unwrap_or_else(|| self.undefined())
    }

    /// How many arguments were given.
    pub(super) fn given(&self) -> usize {
        self.params.len()
    }

    /// An argument as text; it must have been given.
    pub(super) fn text(&self, at: usize) -> Result<CString<'js>> {
        let Some(value) = self.params.arg(at) else {
            return Err(self.type_error(&format!("argument {} is missing", at + 1)));
        };
        self.text_of(value)
    }

    /// An argument as text, unless it was not given or is undefined.
    pub(super) fn optional_text(&self, at: usize) -> Result<Option<CString<'js>>> {
        match self.params.arg(at) {
            Some(value) if !value.is_undefined() => self.text_of(value).map(Some),
            Some(_) | None => Ok(None),
        }
    }

    /// `String(value)`, which may run the program's code; half a surrogate pair becomes U+FFFD. The text is the engine's
    /// memory.
    pub(super) fn text_of(&self, value: Value<'js>) -> Result<CString<'js>> {
        let Coerced(text) = Coerced::<rquickjs::String<'js>>::from_js(self.ctx(), value)?;
        self.bridge.realm.well_formed(text)?.to_cstring()
    }

    /// The value of a property that is the object's own and no accessor.
    pub(super) fn own_data(&self, object: &Object<'js>, name: &str) -> Option<Value<'js>> {
        self.bridge.realm.probes.own_data(object, name)
    }

    pub(super) fn undefined(&self) -> Value<'js> {
        Value::new_undefined(self.ctx().clone())
    }

    pub(super) fn value(&self, value: impl IntoJs<'js>) -> Result<Value<'js>> {
        value.into_js(self.ctx())
    }

    pub(super) fn type_error(&self, message: &str) -> rquickjs::Error {
        Exception::throw_type(self.ctx(), message)
    }

    pub(super) fn range_error(&self, message: &str) -> rquickjs::Error {
        Exception::throw_range(self.ctx(), message)
    }

    /// A `DOMException` of that name.
    pub(super) fn dom_exception(&self, name: &str, message: &str) -> rquickjs::Error {
        match self.saved().dom_exception.construct::<_, Value<'js>>((message, name)) {
            Ok(exception) => self.ctx().throw(exception),
            Err(error) => error,
        }
    }

    fn class(&self, known: Known) -> Result<&Class<'js>> {
        self.saved().class(&self.bridge, self.ctx(), known)
    }

    /// A new instance that holds this, with the class's own prototype. A constructor's result gets that of its caller's class.
    pub(super) fn instance(&self, known: Known, inside: impl IntoJs<'js>) -> Result<Value<'js>> {
        let class = self.class(known)?;
        let object = Object::new_proto(self.ctx().clone(), Some(&class.prototype))?;
        self.hold(known, &object, inside)?;
        Ok(object.into_value())
    }

    /// Puts into an instance what it holds from now on.
    pub(super) fn hold(&self, known: Known, object: &Object<'js>, inside: impl IntoJs<'js>) -> Result<()> {
        let map = self.class(known)?.inside.clone();
        self.saved().weak_map.set.call((This(map), object.clone(), self.value(inside)?))
    }

    /// The object that the method was called on, and what it holds; an exception, if it is no instance.
    pub(super) fn receiver<T: FromJs<'js>>(&self, known: Known) -> Result<(Object<'js>, T)> {
        if let Some(object) = self.this().into_object()
            && let Some(held) = self.saved().held(known, &object)
        {
            return Ok((object, T::from_js(self.ctx(), held)?));
        }
        Err(self.type_error(&format!("this method is for instances of {} only", known.name())))
    }

    /// Hands on each item of what can be iterated over, with the method that was read from it.
    pub(super) fn each(
        &self,
        iterable: &Object<'js>,
        method: &Function<'js>,
        mut take: impl FnMut(Value<'js>) -> Result<()>,
    ) -> Result<()> {
        let not_iterable = || self.type_error("what can be iterated over gives objects from its iterator");
        let iterator: Value<'js> = method.call((This(iterable.clone()),))?;
        let iterator = iterator.into_object().ok_or_else(not_iterable)?;
        let next: Value<'js> = iterator.get(PredefinedAtom::Next)?;
        let next = next.into_function().ok_or_else(not_iterable)?;
        loop {
            let result: Value<'js> = next.call((This(iterator.clone()),))?;
            let result = result.into_object().ok_or_else(not_iterable)?;
            if result.get::<_, Coerced<bool>>(PredefinedAtom::Done)?.0 {
                return Ok(());
            }
            take(result.get(PredefinedAtom::Value)?)?;
        }
    }

    /// What makes an iterator of an object; nothing, if nothing does.
    pub(super) fn iteration(&self, object: &Object<'js>) -> Result<Option<Function<'js>>> {
        let method: Value<'js> = object.get(PredefinedAtom::SymbolIterator)?;
        if method.is_undefined() || method.is_null() {
            return Ok(None);
        }
        method.into_function().map(Some).ok_or_else(|| self.type_error("Symbol.iterator must be a function"))
    }
}
