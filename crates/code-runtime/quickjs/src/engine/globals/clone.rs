//! `structuredClone`: a copy of a value that shares nothing with it.
//!
//! The walk keeps its own stack, so that depth costs memory only. Values are looked at from outside, as `read` does; a getter is
//! the program's own code, is run once, and what it throws is thrown on.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use rquickjs::atom::PredefinedAtom;
use rquickjs::function::{Rest, This};
use rquickjs::object::Filter;
use rquickjs::{Array, Atom, Coerced, FromJs, Function, Object, Result, Type, Value};

use super::bytes::typed_name;
use super::class::Call;
use super::saved::{Kind, prototypes};
use super::{hidden, open};
use crate::engine::realm::{length, quietly};

/// Values between two times that the engine may look up whether the run is over. It does at some of them.
const STRIDE: usize = 8;

pub(super) fn structured_clone<'js>(call: &Call<'_, 'js>) -> Result<Value<'js>> {
    if call.given() == 0 {
        return Err(call.type_error("structuredClone needs the value to clone"));
    }
    let transferred = transferred(call)?;
    let walk = Walk { call, open: Vec::new(), seen: HashMap::new(), steps: 0 };
    let clone = walk.run(call.argument(0))?;
    for buffer in transferred {
        call.saved().buffer.transfer.call::<_, Value<'js>>((This(buffer), 0))?;
    }
    Ok(clone)
}

/// The buffers that are to be detached when they have been copied.
fn transferred<'js>(call: &Call<'_, 'js>) -> Result<Vec<Object<'js>>> {
    let options = call.argument(1);
    if options.is_undefined() || options.is_null() {
        return Ok(Vec::new());
    }
    let Some(options) = options.as_object() else {
        return Err(call.type_error("the options of structuredClone are an object"));
    };
    let list: Value<'js> = options.get("transfer")?;
    if list.is_undefined() {
        return Ok(Vec::new());
    }
    let method = match list.as_object() {
        Some(list) => call.iteration(list)?.map(|method| (list, method)),
        None => None,
    };
    let Some((list, method)) = method else {
        return Err(call.type_error("what is to be transferred is an array"));
    };
    let mut buffers: Vec<Object<'js>> = Vec::new();
    call.each(list, &method, |item| {
        let detached = item.as_object().and_then(|item| {
            quietly(call.ctx(), call.saved().buffer.detached.call::<_, bool>((This(item.clone()),)))
        });
        match item.into_object() {
            Some(buffer) if detached == Some(false) && !buffers.contains(&buffer) => {
                buffers.push(buffer);
                Ok(())
            }
            Some(_) | None => {
                Err(no_clone(call, "what is transferred must be an ArrayBuffer, each once, and not detached"))
            }
        }
    })?;
    Ok(buffers)
}

struct Walk<'a, 'c, 'js> {
    call: &'a Call<'c, 'js>,
    open: Vec<Open<'js>>,
    /// The copy of everything that has one, finished or not: what is shared stays shared.
    seen: HashMap<Object<'js>, Value<'js>>,
    steps: usize,
}

/// A copy that is not complete.
enum Open<'js> {
    Properties {
        source: Object<'js>,
        target: Object<'js>,
        keys: std::vec::IntoIter<Atom<'js>>,
        at: Option<Atom<'js>>,
        enumerable: bool,
    },
    /// Keys and values in turn.
    Map {
        target: Object<'js>,
        items: std::vec::IntoIter<Value<'js>>,
        key: Option<Value<'js>>,
    },
    Set {
        target: Object<'js>,
        items: std::vec::IntoIter<Value<'js>>,
    },
}

impl<'js> Walk<'_, '_, 'js> {
    fn run(mut self, value: Value<'js>) -> Result<Value<'js>> {
        let mut next = Some(value);
        loop {
            let finished = match next.take() {
                Some(value) => self.visit(value)?,
                None => self.close(),
            };
            if let Some(value) = finished
                && let Some(root) = self.put(value)?
            {
                return Ok(root);
            }
            next = self.following()?;
        }
    }

    /// The copy, or nothing when one was opened.
    fn visit(&mut self, value: Value<'js>) -> Result<Option<Value<'js>>> {
        self.look_up()?;
        match value.type_of() {
            Type::Undefined
            | Type::Uninitialized
            | Type::Null
            | Type::Bool
            | Type::Int
            | Type::Float
            | Type::BigInt
            | Type::String => return Ok(Some(value)),
            Type::Symbol => return Err(no_clone(self.call, "a symbol can't be cloned")),
            Type::Function | Type::Constructor => {
                return Err(no_clone(self.call, "a function can't be cloned"));
            }
            Type::Promise => return Err(no_clone(self.call, "a promise can't be cloned: await it first")),
            Type::Proxy => return Err(no_clone(self.call, "a proxy can't be cloned")),
            Type::Module | Type::Unknown => return Err(no_clone(self.call, "this value can't be cloned")),
            Type::Array | Type::Exception | Type::Object => {}
        }
        let Some(object) = value.as_object() else { return Ok(Some(value)) };
        if let Some(copy) = self.seen.get(object) {
            return Ok(Some(copy.clone()));
        }
        if let Some(array) = value.as_array() {
            return self.open_array(array).map(|()| None);
        }
        if value.is_error() {
            return self.open_error(object).map(|()| None);
        }
        match self.kind(object)? {
            Some(kind) => self.special(object, kind),
            None => self.open_plain(object).map(|()| None),
        }
    }

    /// What an object is, by its prototypes; nothing if it is a plain one.
    fn kind(&self, object: &Object<'js>) -> Result<Option<Kind<'js>>> {
        let saved = self.call.saved();
        for prototype in prototypes(object) {
            if prototype == *self.call.object_prototype() {
                break;
            }
            if let Some((_, kind)) = saved.kinds.iter().find(|(of, _)| *of == prototype) {
                return Ok(Some(kind.clone()));
            }
            if let Some(name) = saved.class_of(&prototype) {
                return Err(closed(self.call, name));
            }
        }
        Ok(None)
    }

    /// The copy of an object that is not plain inside. What only inherits from such a class is plain after all.
    fn special(&mut self, object: &Object<'js>, kind: Kind<'js>) -> Result<Option<Value<'js>>> {
        let saved = self.call.saved();
        let copy = match kind {
            Kind::Map => match self.items(object, &saved.map.each, true)? {
                Some(items) => {
                    let target: Object<'js> = saved.map.make.construct(())?;
                    self.push(object, Open::Map { target, items, key: None });
                    return Ok(None);
                }
                None => None,
            },
            Kind::Set => match self.items(object, &saved.set.each, false)? {
                Some(items) => {
                    let target: Object<'js> = saved.set.make.construct(())?;
                    self.push(object, Open::Set { target, items });
                    return Ok(None);
                }
                None => None,
            },
            Kind::Date => match self.inside::<f64>(&saved.date_time, object) {
                Some(time) => Some(saved.date.construct((time,))?),
                None => None,
            },
            Kind::Pattern => match self.inside::<Value<'js>>(&saved.pattern_source, object) {
                Some(_) => Some(saved.pattern.construct((object.clone(),))?),
                None => None,
            },
            Kind::Boxed(value_of) => match self.inside::<Value<'js>>(&value_of, object) {
                Some(value) => Some(saved.object.call((value,))?),
                None => None,
            },
            Kind::Buffer => self.buffer(object)?,
            Kind::View => self.view(object)?,
            Kind::Closed(name) => return Err(closed(self.call, name)),
        };
        match copy {
            Some(copy) => {
                self.seen.insert(object.clone(), copy.clone());
                Ok(Some(copy))
            }
            None => self.open_plain(object).map(|()| None),
        }
    }

    /// What a saved method says of an object; nothing, if the object is not of its class.
    fn inside<T: FromJs<'js>>(&self, method: &Function<'js>, object: &Object<'js>) -> Option<T> {
        quietly(self.call.ctx(), method.call((This(object.clone()),)))
    }

    /// What a map or a set holds, as it is now.
    fn items(
        &self,
        object: &Object<'js>,
        each: &Function<'js>,
        keys: bool,
    ) -> Result<Option<std::vec::IntoIter<Value<'js>>>> {
        let items = Rc::new(RefCell::new(Vec::new()));
        let seen = Rc::clone(&items);
        let visit = Function::new(self.call.ctx().clone(), move |Rest(arguments): Rest<Value<'js>>| {
            if let [value, key, ..] = arguments.as_slice() {
                let mut items = seen.borrow_mut();
                if keys {
                    items.push(key.clone());
                }
                items.push(value.clone());
            }
        })?;
        let done = quietly(self.call.ctx(), each.call::<_, ()>((This(object.clone()), visit)));
        Ok(done.map(|()| items.take().into_iter()))
    }

    /// The copy of an `ArrayBuffer`.
    fn buffer(&mut self, object: &Object<'js>) -> Result<Option<Value<'js>>> {
        let saved = self.call.saved();
        match self.inside::<bool>(&saved.buffer.detached, object) {
            None => return Ok(None),
            Some(true) => return Err(no_clone(self.call, "a detached ArrayBuffer can't be cloned")),
            Some(false) => {}
        }
        let get = |getter: &Function<'js>| getter.call::<_, usize>((This(object.clone()),));
        let length = get(&saved.buffer.bytes)?;
        let make = &saved.buffer.make;
        let copy: Object<'js> = if saved.buffer.resizable.call((This(object.clone()),))? {
            let options = Object::new_proto(self.call.ctx().clone(), None)?;
            options.set("maxByteLength", get(&saved.buffer.max_bytes)?)?;
            make.construct((length, options))?
        } else {
            make.construct((length,))?
        };
        if let Some((_, bytes)) = saved.view.make.first()
            && length > 0
        {
            let target: Object<'js> = bytes.construct((copy.clone(),))?;
            let source: Object<'js> = bytes.construct((object.clone(),))?;
            saved.view.put.call::<_, ()>((This(target), source))?;
        }
        Ok(Some(copy.into_value()))
    }

    /// The copy of a typed array or a `DataView`, on the copy of its buffer.
    fn view(&mut self, object: &Object<'js>) -> Result<Option<Value<'js>>> {
        let view = &self.call.saved().view;
        if !view.is_view.call::<_, bool>((object.clone(),))? {
            return Ok(None);
        }
        let name = typed_name(self.call, object)?;
        let (getters, length) = match name {
            Some(_) => (&view.typed, &view.typed_length),
            None => (&view.data, &view.data.bytes),
        };
        let name = name.as_deref().unwrap_or("DataView");
        let gone = || no_clone(self.call, "a view of a detached ArrayBuffer can't be cloned");
        let place = self.inside::<usize>(&getters.offset, object).zip(self.inside::<usize>(length, object));
        let (offset, length) = place.ok_or_else(gone)?;
        let buffer: Object<'js> = getters.buffer.call((This(object.clone()),))?;
        let copy = if let Some(copy) = self.seen.get(&buffer) {
            copy.clone()
        } else {
            let copy = self.buffer(&buffer)?.ok_or_else(|| closed(self.call, "SharedArrayBuffer"))?;
            self.seen.insert(buffer, copy.clone());
            copy
        };
        let Some((_, make)) = view.make.iter().find(|(known, _)| *known == name) else { return Ok(None) };
        make.construct((copy, offset, length)).map(Some)
    }

    fn open_array(&mut self, source: &Array<'js>) -> Result<()> {
        let target = Array::new(self.call.ctx().clone())?.into_object();
        target.set(PredefinedAtom::Length, length(source))?;
        let keys = own_keys(source.as_object())?;
        let source = source.as_object().clone();
        self.push(&source.clone(), Open::Properties { source, target, keys, at: None, enumerable: true });
        Ok(())
    }

    fn open_plain(&mut self, source: &Object<'js>) -> Result<()> {
        let target = Object::new(self.call.ctx().clone())?;
        let (source, keys) = (source.clone(), own_keys(source)?);
        self.push(&source.clone(), Open::Properties { source, target, keys, at: None, enumerable: true });
        Ok(())
    }

    /// An error keeps its name, if it is one of the language's, and its message, stack and cause.
    fn open_error(&mut self, source: &Object<'js>) -> Result<()> {
        let (call, saved) = (self.call, self.call.saved());
        let name = source.get::<_, Value<'js>>("name")?;
        let name = call.text_of(name)?;
        let found = saved.errors.iter().find(|(known, _)| *known == name.as_str());
        let Some((_, make)) = found.or(saved.errors.first()) else { return Ok(()) };
        let target: Object<'js> = match call.own_data(source, "message") {
            Some(message) => {
                make.construct((Coerced::<rquickjs::String<'js>>::from_js(call.ctx(), message)?.0,))?
            }
            None => make.construct(())?,
        };
        let stack = source.get::<_, Value<'js>>(PredefinedAtom::Stack)?;
        if stack.is_string() {
            target.prop(PredefinedAtom::Stack, hidden(stack))?;
        }
        let cause = call.own_data(source, "cause").is_some();
        let keys = if cause { vec![Atom::from_str(call.ctx().clone(), "cause")?] } else { Vec::new() };
        let (source, keys) = (source.clone(), keys.into_iter());
        self.push(&source.clone(), Open::Properties { source, target, keys, at: None, enumerable: false });
        Ok(())
    }

    fn push(&mut self, source: &Object<'js>, copy: Open<'js>) {
        self.seen.insert(source.clone(), copy.target().clone().into_value());
        self.open.push(copy);
    }

    /// The next value that the innermost copy needs, if it needs one.
    fn following(&mut self) -> Result<Option<Value<'js>>> {
        let saved = self.call.saved();
        match self.open.last_mut() {
            None => Ok(None),
            Some(Open::Properties { source, keys, at, .. }) => {
                for key in keys {
                    let value: Value<'js> = source.get(key.clone())?;
                    // A getter may have deleted those that come after it.
                    let own =
                        !value.is_undefined() || saved.has_own.call((source.clone(), key.to_value()?))?;
                    if own {
                        *at = Some(key);
                        return Ok(Some(value));
                    }
                }
                Ok(None)
            }
            Some(Open::Map { items, .. } | Open::Set { items, .. }) => Ok(items.next()),
        }
    }

    /// The innermost copy, finished.
    fn close(&mut self) -> Option<Value<'js>> {
        self.open.pop().map(|copy| copy.target().clone().into_value())
    }

    /// Puts a copy where it belongs; or gives it back, when it is the root.
    fn put(&mut self, value: Value<'js>) -> Result<Option<Value<'js>>> {
        let saved = self.call.saved();
        match self.open.last_mut() {
            None => return Ok(Some(value)),
            Some(Open::Properties { target, at, enumerable, .. }) => match at.take() {
                Some(key) if *enumerable => target.prop(key, open(value))?,
                Some(key) => target.prop(key, hidden(value))?,
                None => {}
            },
            Some(Open::Map { target, key, .. }) => match key.take() {
                Some(key) => saved.map.put.call::<_, ()>((This(target.clone()), key, value))?,
                None => *key = Some(value),
            },
            Some(Open::Set { target, .. }) => saved.set.put.call::<_, ()>((This(target.clone()), value))?,
        }
        Ok(None)
    }

    /// Gives the engine an occasion to end the run: it takes one when it calls a function.
    fn look_up(&mut self) -> Result<()> {
        self.steps += 1;
        if self.steps.is_multiple_of(STRIDE) {
            self.call.saved().view.is_view.call::<_, bool>(())?;
        }
        Ok(())
    }
}

impl<'js> Open<'js> {
    fn target(&self) -> &Object<'js> {
        match self {
            Self::Properties { target, .. } | Self::Map { target, .. } | Self::Set { target, .. } => target,
        }
    }
}

/// Enumerable own keys that are texts.
fn own_keys<'js>(object: &Object<'js>) -> Result<std::vec::IntoIter<Atom<'js>>> {
    let keys = object.own_keys::<Atom<'js>>(Filter::new().string().enum_only());
    keys.collect::<Result<Vec<_>>>().map(Vec::into_iter)
}

fn closed(call: &Call<'_, '_>, class: &str) -> rquickjs::Error {
    no_clone(call, &format!("an instance of {class} can't be cloned"))
}

fn no_clone(call: &Call<'_, '_>, message: &str) -> rquickjs::Error {
    call.dom_exception("DataCloneError", message)
}
