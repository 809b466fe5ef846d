//! `URLSearchParams`: names and values in order, alone or as the query of a URL.

use rquickjs::function::This;
use rquickjs::object::Filter;
use rquickjs::{Array, Atom, Object, Result, String as JsString, Value};
use url::form_urlencoded::byte_serialize;

use super::class::{Call, Definition, Known};
use super::open;
use super::output::Output;
use super::query::{List, Query};

pub(super) const PARAMS: Definition = Definition {
    name: "URLSearchParams",
    length: 0,
    construct: Some(construct),
    attributes: &[("size", size, None)],
    methods: &[
        ("append", 2, append),
        ("delete", 1, delete),
        ("get", 1, get),
        ("getAll", 1, get_all),
        ("has", 1, has),
        ("set", 2, set),
        ("sort", 0, sort),
        ("toString", 0, to_string),
        ("entries", 0, |call| iterator(call, BOTH)),
        ("forEach", 1, for_each),
        ("keys", 0, |call| iterator(call, NAMES)),
        ("values", 0, |call| iterator(call, VALUES)),
    ],
    statics: &[],
    iterator: Some("entries"),
};

pub(super) const ITERATOR: Definition = Definition {
    name: "URLSearchParams Iterator",
    length: 0,
    construct: None,
    attributes: &[],
    methods: &[("next", 0, next)],
    statics: &[],
    iterator: None,
};

/// What an iterator gives.
const BOTH: i32 = 0;
const NAMES: i32 = 1;
const VALUES: i32 = 2;

fn construct<'js>(call: &Call<'_, 'js>) -> Result<Value<'js>> {
    let list = List::new(call.ctx())?;
    let init = call.argument(0);
    if let Some(object) = init.as_object() {
        match call.iteration(object)? {
            Some(method) => call.each(object, &method, |item| pair(call, &list, &item))?,
            None => record(call, &list, object)?,
        }
    } else if let Some(text) = call.optional_text(0)? {
        let text = text.as_str();
        list.parse(text.strip_prefix('?').unwrap_or(text))?;
    }
    call.instance(Known::UrlSearchParams, Query::of_list(call.ctx(), list)?)
}

/// Adds an item of what was iterated over: a pair, which is iterated over, too.
fn pair<'js>(call: &Call<'_, 'js>, list: &List<'js>, item: &Value<'js>) -> Result<()> {
    let no_pair = || call.type_error("each item must be a pair: a name and a value");
    let item = item.as_object().ok_or_else(no_pair)?;
    let method = call.iteration(item)?.ok_or_else(no_pair)?;
    let mut texts = Vec::with_capacity(2);
    call.each(item, &method, |part| {
        if texts.len() == 2 {
            return Err(no_pair());
        }
        texts.push(call.text_of(part)?);
        Ok(())
    })?;
    match texts.as_slice() {
        [name, value] => list.push(name.as_str(), value.as_str()),
        _ => Err(no_pair()),
    }
}

/// Adds the properties of an object.
fn record<'js>(call: &Call<'_, 'js>, list: &List<'js>, object: &Object<'js>) -> Result<()> {
    for key in object.own_keys::<Atom<'js>>(Filter::new().string().enum_only()) {
        let key = key?;
        let name = call.text_of(key.to_value()?)?;
        let value = call.text_of(object.get(key)?)?;
        list.push(name.as_str(), value.as_str())?;
    }
    Ok(())
}

fn receiver<'js>(call: &Call<'_, 'js>) -> Result<Query<'js>> {
    call.receiver(Known::UrlSearchParams).map(|(_, query)| query)
}

/// Writes the list into the URL that it belongs to, if there is one. Without memory for that both stay as they were.
fn replace<'js>(call: &Call<'_, 'js>, query: &Query<'js>, list: List<'js>) -> Result<Value<'js>> {
    if let Some(mut url) = query.url()? {
        let text = serialized(call, &list)?.to_cstring()?;
        let text = text.as_str();
        url.set_query((!text.is_empty()).then_some(text));
        query.set_url(call, url)?;
    }
    query.set_list(list)?;
    Ok(call.undefined())
}

fn serialized<'js>(call: &Call<'_, 'js>, list: &List<'js>) -> Result<JsString<'js>> {
    let mut out = Output::new(call);
    for (at, pair) in list.pairs().enumerate() {
        let (name, value) = pair?;
        if at > 0 {
            out.push("&")?;
        }
        for (text, before) in [(name, ""), (value, "=")] {
            out.push(before)?;
            let text = text.to_cstring()?;
            byte_serialize(text.as_str().as_bytes()).try_for_each(|part| out.push(part))?;
        }
    }
    out.finish()
}

fn size<'js>(call: &Call<'_, 'js>) -> Result<Value<'js>> {
    call.value(receiver(call)?.list()?.len())
}

fn append<'js>(call: &Call<'_, 'js>) -> Result<Value<'js>> {
    let query = receiver(call)?;
    let (name, value) = (call.text(0)?, call.text(1)?);
    let list = query.list()?;
    if query.url()?.is_none() {
        list.push(name.as_str(), value.as_str())?;
        return Ok(call.undefined());
    }
    let longer = kept(call, &list, |_| Ok(true))?;
    longer.push(name.as_str(), value.as_str())?;
    replace(call, &query, longer)
}

/// A list of those pairs that are wanted.
fn kept<'js>(
    call: &Call<'_, 'js>,
    list: &List<'js>,
    mut keep: impl FnMut(&(JsString<'js>, JsString<'js>)) -> Result<bool>,
) -> Result<List<'js>> {
    let rest = List::new(call.ctx())?;
    for pair in list.pairs() {
        let pair = pair?;
        if keep(&pair)? {
            rest.push_pair(pair)?;
        }
    }
    Ok(rest)
}

fn delete<'js>(call: &Call<'_, 'js>) -> Result<Value<'js>> {
    let query = receiver(call)?;
    let (name, value) = (call.text(0)?, call.optional_text(1)?);
    let rest = kept(call, &query.list()?, |pair| Ok(!List::is(pair, &name, value.as_ref())?))?;
    replace(call, &query, rest)
}

fn get<'js>(call: &Call<'_, 'js>) -> Result<Value<'js>> {
    let query = receiver(call)?;
    let name = call.text(0)?;
    for pair in query.list()?.pairs() {
        let pair = pair?;
        if List::is(&pair, &name, None)? {
            return Ok(pair.1.into_value());
        }
    }
    Ok(Value::new_null(call.ctx().clone()))
}

fn get_all<'js>(call: &Call<'_, 'js>) -> Result<Value<'js>> {
    let query = receiver(call)?;
    let name = call.text(0)?;
    let values = Array::new(call.ctx().clone())?;
    let mut end = 0_u32;
    for pair in query.list()?.pairs() {
        let pair = pair?;
        if List::is(&pair, &name, None)? {
            values.as_object().prop(end, open(pair.1))?;
            end += 1;
        }
    }
    Ok(values.into_value())
}

fn has<'js>(call: &Call<'_, 'js>) -> Result<Value<'js>> {
    let query = receiver(call)?;
    let (name, value) = (call.text(0)?, call.optional_text(1)?);
    for pair in query.list()?.pairs() {
        if List::is(&pair?, &name, value.as_ref())? {
            return call.value(true);
        }
    }
    call.value(false)
}

fn set<'js>(call: &Call<'_, 'js>) -> Result<Value<'js>> {
    let query = receiver(call)?;
    let (name, value) = (call.text(0)?, call.text(1)?);
    let list = List::new(call.ctx())?;
    let mut done = false;
    for pair in query.list()?.pairs() {
        let pair = pair?;
        if !List::is(&pair, &name, None)? {
            list.push_pair(pair)?;
        } else if !done {
            list.push(name.as_str(), value.as_str())?;
            done = true;
        }
    }
    if !done {
        list.push(name.as_str(), value.as_str())?;
    }
    replace(call, &query, list)
}

/// Sorts by name, by the units of UTF-16 as the language orders texts; equal names keep their order.
fn sort<'js>(call: &Call<'_, 'js>) -> Result<Value<'js>> {
    let query = receiver(call)?;
    let mut pairs = Vec::new();
    for pair in query.list()?.pairs() {
        let pair = pair?;
        pairs.push((pair.0.clone().to_cstring()?, pair));
    }
    pairs.sort_by(|(one, _), (other, _)| one.as_str().encode_utf16().cmp(other.as_str().encode_utf16()));
    let list = List::new(call.ctx())?;
    pairs.into_iter().try_for_each(|(_, pair)| list.push_pair(pair))?;
    replace(call, &query, list)
}

fn to_string<'js>(call: &Call<'_, 'js>) -> Result<Value<'js>> {
    serialized(call, &receiver(call)?.list()?).map(JsString::into_value)
}

/// Calls a function for each pair, also for those that it adds.
fn for_each<'js>(call: &Call<'_, 'js>) -> Result<Value<'js>> {
    let query = receiver(call)?;
    let Some(visit) = call.argument(0).into_function() else {
        return Err(call.type_error("forEach needs a function"));
    };
    let mut at = 0;
    loop {
        let list = query.list()?;
        if at >= list.len() {
            return Ok(call.undefined());
        }
        let (name, value) = list.pair(at)?;
        visit.call::<_, Value<'js>>((This(call.argument(1)), value, name, call.this()))?;
        at += 1;
    }
}

fn iterator<'js>(call: &Call<'_, 'js>, gives: i32) -> Result<Value<'js>> {
    let state = Object::new_proto(call.ctx().clone(), None)?;
    state.set("query", receiver(call)?)?;
    state.set("gives", gives)?;
    state.set("at", 0)?;
    call.instance(Known::UrlSearchParamsIterator, state)
}

fn next<'js>(call: &Call<'_, 'js>) -> Result<Value<'js>> {
    let (_, state): (_, Object<'js>) = call.receiver(Known::UrlSearchParamsIterator)?;
    let (query, at): (Query<'js>, usize) = (state.get("query")?, state.get("at")?);
    let list = query.list()?;
    let result = Object::new(call.ctx().clone())?;
    let value = if at < list.len() {
        state.set("at", at + 1)?;
        let (name, value) = list.pair(at)?;
        match state.get("gives")? {
            NAMES => name.into_value(),
            VALUES => value.into_value(),
            _ => {
                let pair = Array::new(call.ctx().clone())?;
                pair.as_object().prop(0, open(name))?;
                pair.as_object().prop(1, open(value))?;
                pair.into_value()
            }
        }
    } else {
        call.undefined()
    };
    result.prop("value", open(value))?;
    result.prop("done", open(at >= list.len()))?;
    Ok(result.into_value())
}
