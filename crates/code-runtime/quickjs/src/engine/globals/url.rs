//! `URL`: texts of URLs, taken apart and put together. Nothing is opened.

use rquickjs::{CString, Object, Result, Value};
use url::{Url, quirks};

use super::class::{Call, Definition, Known};
use super::query::{Query, parse_url};

pub(super) const URL: Definition = Definition {
    name: "URL",
    length: 1,
    construct: Some(construct),
    attributes: &[
        ("href", |call| read(call, quirks::href), Some(set_href)),
        ("origin", origin, None),
        (
            "protocol",
            |call| read(call, quirks::protocol),
            Some(|call| write(call, |url, text| quirks::set_protocol(url, text).is_ok())),
        ),
        (
            "username",
            |call| read(call, quirks::username),
            Some(|call| write(call, |url, text| quirks::set_username(url, text).is_ok())),
        ),
        (
            "password",
            |call| read(call, quirks::password),
            Some(|call| write(call, |url, text| quirks::set_password(url, text).is_ok())),
        ),
        (
            "host",
            |call| read(call, quirks::host),
            Some(|call| write(call, |url, text| quirks::set_host(url, text).is_ok())),
        ),
        (
            "hostname",
            |call| read(call, quirks::hostname),
            Some(|call| write(call, |url, text| quirks::set_hostname(url, text).is_ok())),
        ),
        (
            "port",
            |call| read(call, quirks::port),
            Some(|call| write(call, |url, text| quirks::set_port(url, text).is_ok())),
        ),
        (
            "pathname",
            |call| read(call, quirks::pathname),
            Some(|call| {
                write(call, |url, text| {
                    quirks::set_pathname(url, text);
                    true
                })
            }),
        ),
        ("search", |call| read(call, quirks::search), Some(set_search)),
        ("searchParams", search_params, None),
        (
            "hash",
            |call| read(call, quirks::hash),
            Some(|call| {
                write(call, |url, text| {
                    quirks::set_hash(url, text);
                    true
                })
            }),
        ),
    ],
    methods: &[
        ("toString", 0, |call| read(call, quirks::href)),
        ("toJSON", 0, |call| read(call, quirks::href)),
    ],
    statics: &[("canParse", 1, can_parse), ("parse", 1, parse)],
    iterator: None,
};

/// The URL of the first argument, relative to the second if that is given; or what is wrong with it.
fn of_arguments(call: &Call<'_, '_>) -> Result<std::result::Result<Url, String>> {
    let text = call.text(0)?;
    let base = call.optional_text(1)?;
    Ok(parse_url(text.as_str(), base.as_ref().map(CString::as_str)))
}

fn construct<'js>(call: &Call<'_, 'js>) -> Result<Value<'js>> {
    let url = of_arguments(call)?.map_err(|problem| call.type_error(&problem))?;
    instance(call, &url)
}

/// An instance holds an object without prototype: `query`, and `params` once they were asked for. So the parameters refer to
/// the text and not to the instance, which goes when the program drops it.
fn instance<'js>(call: &Call<'_, 'js>, url: &Url) -> Result<Value<'js>> {
    let inside = Object::new_proto(call.ctx().clone(), None)?;
    inside.set("query", Query::of_url(call.ctx(), url)?)?;
    call.instance(Known::Url, inside)
}

fn receiver<'js>(call: &Call<'_, 'js>) -> Result<(Object<'js>, Query<'js>, Url)> {
    let (_, inside): (_, Object<'js>) = call.receiver(Known::Url)?;
    let query: Query<'js> = inside.get("query")?;
    match query.url()? {
        Some(url) => Ok((inside, query, url)),
        None => Err(call.type_error("this is no URL any more")),
    }
}

fn read<'js>(call: &Call<'_, 'js>, part: fn(&Url) -> &str) -> Result<Value<'js>> {
    let (_, _, url) = receiver(call)?;
    call.value(part(&url))
}

fn origin<'js>(call: &Call<'_, 'js>) -> Result<Value<'js>> {
    let (_, _, url) = receiver(call)?;
    call.value(quirks::origin(&url))
}

/// Sets a part, if the text is one; what is none changes nothing.
fn write<'js>(call: &Call<'_, 'js>, set: fn(&mut Url, &str) -> bool) -> Result<Value<'js>> {
    let text = call.text(0)?;
    let (_, query, mut url) = receiver(call)?;
    if set(&mut url, text.as_str()) {
        query.set_url(call, url)?;
    }
    Ok(call.undefined())
}

fn set_search<'js>(call: &Call<'_, 'js>) -> Result<Value<'js>> {
    write(call, |url, text| {
        quirks::set_search(url, text);
        true
    })?;
    let (_, query, _) = receiver(call)?;
    query.refresh_list()?;
    Ok(call.undefined())
}

fn set_href<'js>(call: &Call<'_, 'js>) -> Result<Value<'js>> {
    let text = call.text(0)?;
    let (_, query, _) = receiver(call)?;
    let url = parse_url(text.as_str(), None).map_err(|problem| call.type_error(&problem))?;
    query.set_url(call, url)?;
    query.refresh_list()?;
    Ok(call.undefined())
}

fn search_params<'js>(call: &Call<'_, 'js>) -> Result<Value<'js>> {
    let (inside, query, _) = receiver(call)?;
    let known: Value<'js> = inside.get("params")?;
    if known.is_object() {
        return Ok(known);
    }
    query.list()?;
    let params = call.instance(Known::UrlSearchParams, query)?;
    inside.set("params", params.clone())?;
    Ok(params)
}

fn can_parse<'js>(call: &Call<'_, 'js>) -> Result<Value<'js>> {
    call.value(of_arguments(call)?.is_ok())
}

fn parse<'js>(call: &Call<'_, 'js>) -> Result<Value<'js>> {
    match of_arguments(call)? {
        Ok(url) => instance(call, &url),
        Err(_) => Ok(Value::new_null(call.ctx().clone())),
    }
}
