//! Exact text, compact and indented, without recursion.

use std::slice;
use std::sync::Arc;

use crate::Json;

/// Levels up to which the indentation of pretty text grows.
const INDENTED: usize = 32;

pub(crate) fn compact(value: &Json, out: &mut String) {
    write::<false>(value, out);
}

pub(crate) fn pretty(value: &Json) -> String {
    let mut out = String::new();
    write::<true>(value, &mut out);
    out
}

/// The rest of a container that is being written.
enum Rest<'a> {
    Array(slice::Iter<'a, Json>),
    Object(slice::Iter<'a, (Arc<str>, Json)>),
}

fn write<const PRETTY: bool>(root: &Json, out: &mut String) {
    let mut open: Vec<Rest<'_>> = Vec::new();
    let mut value = root;
    loop {
        let mut first = false;
        match value {
            Json::Array(array) if array.is_empty() => out.push_str("[]"),
            Json::Object(object) if object.is_empty() => out.push_str("{}"),
            Json::Array(array) => {
                out.push('[');
                open.push(Rest::Array(array.iter()));
                first = true;
            }
            Json::Object(object) => {
                out.push('{');
                open.push(Rest::Object(object.entries().iter()));
                first = true;
            }
            Json::Null => out.push_str("null"),
            Json::Bool(true) => out.push_str("true"),
            Json::Bool(false) => out.push_str("false"),
            Json::Number(number) => number.write(out),
            Json::String(text) => write_string(text, out),
        }
        // To the next value, closing what has none left.
        value = loop {
            let level = open.len();
            let close = match open.last_mut() {
                None => return,
                Some(Rest::Array(items)) => {
                    if let Some(item) = items.next() {
                        separate::<PRETTY>(first, level, out);
                        break item;
                    }
                    ']'
                }
                Some(Rest::Object(entries)) => {
                    if let Some((key, item)) = entries.next() {
                        separate::<PRETTY>(first, level, out);
                        write_string(key, out);
                        out.push_str(if PRETTY { ": " } else { ":" });
                        break item;
                    }
                    '}'
                }
            };
            open.pop();
            first = false;
            if PRETTY {
                indent(level - 1, out);
            }
            out.push(close);
        };
    }
}

fn separate<const PRETTY: bool>(first: bool, level: usize, out: &mut String) {
    if !first {
        out.push(',');
    }
    if PRETTY {
        indent(level, out);
    }
}

fn indent(level: usize, out: &mut String) {
    out.push('\n');
    for _ in 0..level.min(INDENTED) {
        out.push_str("  ");
    }
}

/// Appends a string literal with the fewest escapes (as ECMAScript's `JSON.stringify`).
pub(crate) fn write_string(text: &str, out: &mut String) {
    out.push('"');
    out.reserve(text.len() + 2);
    let mut rest = text;
    while let Some(at) = rest.as_bytes().iter().position(|byte| ESCAPED[usize::from(*byte)]) {
        out.push_str(&rest[..at]);
        write_escape(rest.as_bytes()[at], out);
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
    out.push('"');
}

fn write_escape(byte: u8, out: &mut String) {
    out.push_str(match byte {
        b'"' => r#"\""#,
        b'\\' => r"\\",
        b'\n' => r"\n",
        b'\r' => r"\r",
        b'\t' => r"\t",
        0x08 => r"\b",
        0x0C => r"\f",
        control => {
            out.push_str(r"\u00");
            out.push(char::from(HEX[usize::from(control >> 4)]));
            out.push(char::from(HEX[usize::from(control & 15)]));
            return;
        }
    });
}

const HEX: [u8; 16] = *b"0123456789abcdef";

/// Whether a byte of a string needs an escape.
const ESCAPED: [bool; 256] = {
    let mut table = [false; 256];
    let mut control = 0;
    while control < 0x20 {
        table[control] = true;
        control += 1;
    }
    table[b'"' as usize] = true;
    table[b'\\' as usize] = true;
    table
};
