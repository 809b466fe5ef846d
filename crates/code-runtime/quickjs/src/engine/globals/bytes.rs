//! Bytes that a program holds, handed to Rust.

use rquickjs::function::This;
use rquickjs::{ArrayBuffer, Object, Result, String as JsString, TypedArray, Value};

use super::class::Call;
use crate::engine::realm::quietly;

/// Bytes that Rust looks at in one go.
const PART: usize = 32 << 10;

/// The part of a buffer that a view shows, or all of it.
pub(super) struct Bytes<'js> {
    buffer: Object<'js>,
    offset: usize,
    length: usize,
}

impl<'js> Bytes<'js> {
    /// The bytes of an `ArrayBuffer`, a `SharedArrayBuffer`, or a view of one: none, when it is detached. Nothing for what is
    /// none of these.
    pub(super) fn of(call: &Call<'_, 'js>, value: &Value<'js>) -> Result<Option<Self>> {
        let Some(object) = value.as_object() else { return Ok(None) };
        let view = &call.saved().view;
        if view.is_view.call((object.clone(),))? {
            let typed = typed_name(call, object)?.is_some();
            let getters = if typed { &view.typed } else { &view.data };
            let buffer = getters.buffer.call((This(object.clone()),))?;
            // Those of a `DataView` throw when its buffer is detached, or too short by now.
            let of =
                |getter: &rquickjs::Function<'js>| quietly(call.ctx(), getter.call((This(object.clone()),)));
            let place = of(&getters.offset).zip(of(&getters.bytes));
            let (offset, length) = place.unwrap_or((0, 0));
            return Ok(Some(Self { buffer, offset, length }));
        }
        if let Some(length) = quietly(call.ctx(), call.saved().buffer.bytes.call((This(object.clone()),))) {
            return Ok(Some(Self { buffer: object.clone(), offset: 0, length }));
        }
        let shared = ArrayBuffer::from_object(object.clone());
        if shared.is_none() {
            call.ctx().catch();
        }
        Ok(shared.map(|shared| Self { buffer: object.clone(), offset: 0, length: shared.len() }))
    }

    /// Hands on the bytes, a bounded part at a time.
    ///
    /// The engine writes them as hexadecimal digits, which is the quickest way out of it that is safe.
    pub(super) fn parts(
        &self,
        call: &Call<'_, 'js>,
        mut take: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let view = &call.saved().view;
        let Some((_, make)) = view.make.first() else { return Ok(()) };
        let mut at = 0;
        while at < self.length {
            let count = (self.length - at).min(PART);
            let part: Object<'js> = make.construct((self.buffer.clone(), self.offset + at, count))?;
            let digits: JsString<'js> = view.to_hex.call((This(part),))?;
            take(&from_hex(digits.to_cstring()?.as_str()))?;
            at += count;
        }
        Ok(())
    }
}

/// The name of a typed array's class; nothing for what is none.
pub(super) fn typed_name<'js>(call: &Call<'_, 'js>, object: &Object<'js>) -> Result<Option<String>> {
    call.saved().view.typed_name.call((This(object.clone()),))
}

/// A new `Uint8Array`, in the engine's memory.
pub(super) fn new_bytes<'js>(call: &Call<'_, 'js>, bytes: &[u8]) -> Result<Value<'js>> {
    TypedArray::<u8>::new_copy(call.ctx().clone(), bytes).map(TypedArray::into_value)
}

fn from_hex(digits: &str) -> Vec<u8> {
    let digit = |byte: u8| if byte.is_ascii_digit() { byte - b'0' } else { byte - b'a' + 10 };
    let pair = |pair: &[u8; 2]| digit(pair[0]) << 4 | digit(pair[1]);
    digits.as_bytes().as_chunks().0.iter().map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_bytes() {
        let every: Vec<u8> = (0..=255).collect();
        let digits: String = every.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
        assert_eq!(from_hex(&digits), every);
        assert!(from_hex("").is_empty());
    }
}
