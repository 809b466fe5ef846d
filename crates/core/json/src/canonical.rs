//! Canonical text by RFC 8785.

use std::sync::Arc;
use std::{slice, vec};

use crate::write::write_string;
use crate::{Json, Number, Object};

/// The rest of a container that is being written.
enum Rest<'a> {
    Array(slice::Iter<'a, Json>),
    Object(vec::IntoIter<&'a (Arc<str>, Json)>),
}

pub(crate) fn canonical(root: &Json) -> String {
    let mut out = String::new();
    let mut open: Vec<Rest<'_>> = Vec::new();
    let mut value = root;
    loop {
        let mut first = false;
        match value {
            Json::Array(array) => {
                out.push('[');
                open.push(Rest::Array(array.iter()));
                first = true;
            }
            Json::Object(object) => {
                out.push('{');
                open.push(Rest::Object(sorted(object)));
                first = true;
            }
            Json::Null => out.push_str("null"),
            Json::Bool(true) => out.push_str("true"),
            Json::Bool(false) => out.push_str("false"),
            Json::Number(number) => write_number(*number, &mut out),
            Json::String(text) => write_string(text, &mut out),
        }
        value = loop {
            let (next, close) = match open.last_mut() {
                None => return out,
                Some(Rest::Array(items)) => (items.next().map(|item| (None, item)), ']'),
                Some(Rest::Object(entries)) => (entries.next().map(|(key, item)| (Some(key), item)), '}'),
            };
            let Some((key, next)) = next else {
                open.pop();
                out.push(close);
                first = false;
                continue;
            };
            if !first {
                out.push(',');
            }
            if let Some(key) = key {
                write_string(key, &mut out);
                out.push(':');
            }
            break next;
        };
    }
}

fn sorted(object: &Object) -> vec::IntoIter<&(Arc<str>, Json)> {
    let mut entries: Vec<_> = object.entries().iter().collect();
    entries.sort_unstable_by(|(a, _), (b, _)| {
        if a.is_ascii() || b.is_ascii() { a.cmp(b) } else { a.encode_utf16().cmp(b.encode_utf16()) }
    });
    entries.into_iter()
}

/// What is exactly a double is written as one; other integers with all their digits.
fn write_number(number: Number, out: &mut String) {
    if number.is_exact_f64() {
        out.push_str(ryu_js::Buffer::new().format_finite(number.as_f64()));
    } else {
        number.write(out);
    }
}
