//! `TextEncoder` and `TextDecoder`, for UTF-8.

use rquickjs::function::This;
use rquickjs::{Coerced, Object, Result, String as JsString, Value};

use super::bytes::{Bytes, new_bytes, typed_name};
use super::class::{Call, Definition, Known};
use super::open;
use super::output::Output;
use super::utf8::{Mode, Utf8};

pub(super) const ENCODER: Definition = Definition {
    name: "TextEncoder",
    length: 0,
    construct: Some(|call| call.instance(Known::TextEncoder, true)),
    attributes: &[("encoding", |call| encoding(call, Known::TextEncoder), None)],
    methods: &[("encode", 0, encode), ("encodeInto", 2, encode_into)],
    statics: &[],
    iterator: None,
};

pub(super) const DECODER: Definition = Definition {
    name: "TextDecoder",
    length: 0,
    construct: Some(new_decoder),
    attributes: &[
        ("encoding", |call| encoding(call, Known::TextDecoder), None),
        ("fatal", |call| setting(call, |mode| mode.fatal), None),
        ("ignoreBOM", |call| setting(call, |mode| mode.keep_mark), None),
    ],
    methods: &[("decode", 0, decode)],
    statics: &[],
    iterator: None,
};

/// The names that UTF-8 has.
const LABELS: [&str; 6] =
    ["unicode-1-1-utf-8", "unicode11utf8", "unicode20utf8", "utf-8", "utf8", "x-unicode20utf8"];

fn encoding<'js>(call: &Call<'_, 'js>, known: Known) -> Result<Value<'js>> {
    call.receiver::<Value<'js>>(known)?;
    call.value("utf-8")
}

fn encode<'js>(call: &Call<'_, 'js>) -> Result<Value<'js>> {
    call.receiver::<Value<'js>>(Known::TextEncoder)?;
    match call.optional_text(0)? {
        Some(text) => new_bytes(call, text.as_str().as_bytes()),
        None => new_bytes(call, &[]),
    }
}

fn encode_into<'js>(call: &Call<'_, 'js>) -> Result<Value<'js>> {
    call.receiver::<Value<'js>>(Known::TextEncoder)?;
    let text = call.text(0)?;
    let target = call.argument(1).into_object();
    let target = match target {
        Some(target) if typed_name(call, &target)?.as_deref() == Some("Uint8Array") => target,
        Some(_) | None => return Err(call.type_error("encodeInto writes into a Uint8Array")),
    };
    let view = &call.saved().view;
    let room: usize = view.typed_length.call((This(target.clone()),))?;
    let text = text.as_str();
    let fits = text.get(..text.floor_char_boundary(room)).unwrap_or(text);
    if !fits.is_empty() {
        view.put.call::<_, ()>((This(target), new_bytes(call, fits.as_bytes())?))?;
    }
    let result = Object::new(call.ctx().clone())?;
    result.prop("read", open(fits.encode_utf16().count()))?;
    result.prop("written", open(fits.len()))?;
    Ok(result.into_value())
}

fn new_decoder<'js>(call: &Call<'_, 'js>) -> Result<Value<'js>> {
    if let Some(label) = call.optional_text(0)? {
        let name = label.as_str().trim_matches(['\t', '\n', '\u{c}', '\r', ' ']).to_ascii_lowercase();
        if !LABELS.contains(&&*name) {
            let message = format!("there is no decoder for `{name}`: only for utf-8");
            return Err(call.range_error(&message));
        }
    }
    let mode = Mode { fatal: option(call, "fatal")?, keep_mark: option(call, "ignoreBOM")? };
    call.instance(Known::TextDecoder, Utf8::new(mode).to_bits())
}

fn setting<'js>(call: &Call<'_, 'js>, of: fn(Mode) -> bool) -> Result<Value<'js>> {
    let (_, bits) = call.receiver(Known::TextDecoder)?;
    call.value(of(Utf8::from_bits(bits).mode))
}

fn decode<'js>(call: &Call<'_, 'js>) -> Result<Value<'js>> {
    let (object, bits) = call.receiver(Known::TextDecoder)?;
    let mut decoder = Utf8::from_bits(bits);
    let stream = option(call, "stream")?;
    let source = call.argument(0);
    let bytes = match Bytes::of(call, &source)? {
        None if !source.is_undefined() => {
            return Err(call.type_error("decode takes an ArrayBuffer, a typed array or a DataView"));
        }
        bytes => bytes,
    };
    if !decoder.continues {
        decoder.restart();
    }
    decoder.continues = stream;
    let text = decoded(call, &mut decoder, bytes.as_ref());
    if text.is_err() {
        decoder.restart();
    }
    call.hold(Known::TextDecoder, &object, decoder.to_bits())?;
    text.map(JsString::into_value)
}

fn decoded<'js>(
    call: &Call<'_, 'js>,
    decoder: &mut Utf8,
    bytes: Option<&Bytes<'js>>,
) -> Result<JsString<'js>> {
    let malformed = || call.type_error("the bytes are no UTF-8");
    let mut text = Output::new(call);
    if let Some(bytes) = bytes {
        bytes.parts(call, |part| text.push(&decoder.push(part).map_err(|_| malformed())?))?;
    }
    if !decoder.continues {
        text.push(&decoder.finish().map_err(|_| malformed())?)?;
    }
    text.finish()
}

/// A setting of the options that are the second argument.
fn option(call: &Call<'_, '_>, name: &str) -> Result<bool> {
    let options = call.argument(1);
    if options.is_undefined() || options.is_null() {
        return Ok(false);
    }
    let Some(options) = options.as_object() else {
        return Err(call.type_error("the options of a TextDecoder are an object"));
    };
    Ok(options.get::<_, Coerced<bool>>(name)?.0)
}
