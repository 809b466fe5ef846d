//! The names of directories and files: one safe segment each, whatever they are made from (spec 08 §2.2).
//!
//! A suggested name is looked at in UTF-16 units. Letters, digits, `.`, `_` and `-` of ASCII stay; every other unit becomes
//! `~` and four upper-case hexadecimal digits. An empty name is `~`, and one of one or two dots has them written as units.
//! So different names stay different.
//!
//! A name that gets longer than [`LONGEST`] is cut: what fits of it, no unit in part; then `~` and the first twelve
//! lower-case hexadecimal digits of the BLAKE3 digest of the suggested name; then, if it is sixteen bytes or less, the
//! extension, from the last dot on.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

/// How many digits of a digest are part of a name.
pub(crate) const DIGITS: usize = 12;
/// The longest encoded name: a file's name has 255 bytes on most systems, with the digits of its text in front.
const LONGEST: usize = 255 - DIGITS - 1;
/// The longest extension that a name keeps when it is cut, with its dot.
const EXTENSION: usize = 16;

/// The name of a session's directory. Of the id there is only a digest in it.
pub(crate) fn session(id: &str) -> String {
    Sha256::digest(id).iter().take(DIGITS / 2).fold("session-".to_owned(), |mut name, byte| {
        // Writing to a text does not fail.
        let _ = write!(name, "{byte:02x}");
        name
    })
}

/// A suggested name as a part of a file's name.
pub(crate) fn encode(name: &str) -> String {
    match name {
        "" => return "~".to_owned(),
        "." => return "~002E".to_owned(),
        ".." => return "~002E~002E".to_owned(),
        _ => {}
    }
    let (whole, fits) = encode_within(name, LONGEST);
    if fits {
        return whole;
    }
    let digest = blake3::hash(name.as_bytes()).to_hex();
    let digest = digest.as_str().get(..DIGITS).unwrap_or_default();
    // A last dot in front is no extension's. What is longer in UTF-8 is not shorter in the encoding.
    let dot = name.rfind('.').filter(|dot| *dot > 0 && name.len() - dot <= EXTENSION);
    let extension = dot.and_then(|dot| name.get(dot..)).map(|extension| encode_within(extension, EXTENSION));
    let extension = extension.and_then(|(extension, fits)| fits.then_some(extension)).unwrap_or_default();
    let (kept, _) = encode_within(name, LONGEST - 1 - DIGITS - extension.len());
    format!("{kept}~{digest}{extension}")
}

/// What of a name fits in so many bytes, and whether that is all of it.
fn encode_within(name: &str, most: usize) -> (String, bool) {
    let mut encoded = String::new();
    for unit in name.encode_utf16() {
        let plain = u8::try_from(unit).ok().filter(|byte| is_plain(*byte));
        if encoded.len() + if plain.is_some() { 1 } else { 5 } > most {
            return (encoded, false);
        }
        match plain {
            Some(byte) => encoded.push(char::from(byte)),
            // Writing to a text does not fail.
            None => _ = write!(encoded, "~{unit:04X}"),
        }
    }
    (encoded, true)
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-')
}

/// Whether this is the name of a session's directory.
pub(crate) fn is_session(name: &str) -> bool {
    name.strip_prefix("session-").is_some_and(|digits| digits.len() == DIGITS && is_hex(digits))
}

/// Whether this is the name of a text.
pub(crate) fn is_text(name: &str) -> bool {
    name.split_once('-').is_some_and(|(digits, name)| {
        let is_encoded = !name.is_empty() && name.bytes().all(|byte| is_plain(byte) || byte == b'~');
        digits.len() == DIGITS && is_hex(digits) && is_encoded
    })
}

/// The name of a text that is not whole yet.
pub(crate) fn staged(process: u32, number: u64) -> String {
    format!(".spill-{process}-{number}.tmp")
}

/// Whether this is such a name.
pub(crate) fn is_staged(name: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    name.strip_prefix(".spill-")
        .and_then(|name| name.strip_suffix(".tmp")?.split_once('-'))
        .is_some_and(|(process, number)| is_number(process) && is_number(number))
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests;
