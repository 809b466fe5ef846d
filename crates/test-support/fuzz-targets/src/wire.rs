//! What an engine and its host say to each other (spec 06 §8.12): whatever arrives is a message or none, and a message
//! arrives as it was sent.

use std::fmt::Debug;

use dsh_code_runtime::wire::{FromEngine, ToEngine};

use crate::Met;

pub(crate) fn wire(bytes: &[u8]) -> Met {
    let Ok(text) = str::from_utf8(bytes) else { return Met::Refused };
    let to = round(text, ToEngine::decode, ToEngine::encode);
    let from = round(text, FromEngine::decode, FromEngine::encode);
    assert!(!(to && from), "a message of both sides: {text}");
    Met::taken(to || from)
}

fn round<T: Debug + PartialEq>(
    text: &str,
    decode: impl Fn(&str) -> Option<T>,
    encode: impl Fn(&T) -> String,
) -> bool {
    let Some(message) = decode(text) else { return false };
    let sent = encode(&message);
    let arrived = decode(&sent).unwrap_or_else(|| panic!("was sent and is no message: {sent}"));
    assert!(arrived == message, "{arrived:?}\n{message:?}");
    assert_eq!(encode(&arrived), sent);
    true
}
