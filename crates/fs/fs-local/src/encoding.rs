//! Whole contents as text that can be written back without loss: UTF-8, and UTF-16 that says so.
//!
//! Both are one-to-one: what decodes strictly encodes to the same bytes. Everything else is refused with a guess, because
//! a guess that is wrong would change bytes that nobody wanted changed.

use std::borrow::Cow;

use dsh_fs::{FsError, FsErrorCode, one_line};

use crate::text::utf16;

/// A text, and how it was stored.
#[derive(Debug)]
pub(crate) struct Decoded {
    /// The text without its byte order mark, line endings as stored.
    pub(crate) text: String,
    encoding: Encoding,
}

#[derive(Debug, Clone, Copy)]
enum Encoding {
    Utf8 { marked: bool },
    Utf16 { big_endian: bool },
}

const MARK: char = '\u{feff}';

impl Decoded {
    /// Decodes a whole file. `FS_NOT_TEXT` for a NUL anywhere, and for what is neither of the two.
    pub(crate) fn of(bytes: Vec<u8>, display: &str) -> Result<Self, FsError> {
        let refuse =
            |what: String| FsError::new(FsErrorCode::NotText, format!("{} {what}", one_line(display)));
        // UTF-32 begins like UTF-16, and is full of NULs then.
        let big_endian = match bytes.as_slice() {
            [0xFF, 0xFE, rest @ ..] if !rest.starts_with(&[0, 0]) => false,
            [0xFE, 0xFF, ..] => true,
            _ => return utf8(bytes).map_err(refuse),
        };
        let from = if big_endian { u16::from_be_bytes } else { u16::from_le_bytes };
        let (pairs, rest) = bytes.as_chunks::<2>();
        let units = pairs.iter().skip(1).map(|pair| from(*pair));
        let decoded: Result<String, _> = char::decode_utf16(units).collect();
        match decoded {
            Ok(text) if rest.is_empty() && !text.contains('\0') => {
                Ok(Self { text, encoding: Encoding::Utf16 { big_endian } })
            }
            Ok(_) | Err(_) => Err(refuse("begins like UTF-16 text, but is none".into())),
        }
    }

    /// Another text as this one was stored.
    pub(crate) fn encode<'a>(&self, text: &'a str) -> Cow<'a, [u8]> {
        match self.encoding {
            Encoding::Utf8 { marked: false } => Cow::Borrowed(text.as_bytes()),
            Encoding::Utf8 { marked: true } => format!("{MARK}{text}").into_bytes().into(),
            Encoding::Utf16 { big_endian } => {
                let to = if big_endian { u16::to_be_bytes } else { u16::to_le_bytes };
                let mut bytes = Vec::with_capacity(text.len() * 2);
                for char in [MARK].into_iter().chain(text.chars()) {
                    bytes.extend(char.encode_utf16(&mut [0; 2]).iter().flat_map(|unit| to(*unit)));
                }
                bytes.into()
            }
        }
    }
}

fn utf8(bytes: Vec<u8>) -> Result<Decoded, String> {
    if let Some(at) = memchr::memchr(0, &bytes) {
        return Err(match utf16(bytes.get(..8192.min(bytes.len())).unwrap_or_default()) {
            Some(encoding) => format!("is not UTF-8 text: it looks like {encoding}"),
            None => format!("is not text: it has a NUL at byte {at}, as binary files do"),
        });
    }
    if let Err(error) = simdutf8::compat::from_utf8(&bytes) {
        let at = error.valid_up_to();
        let byte = bytes.get(at).copied().unwrap_or_default();
        let guess = guess(&bytes);
        return Err(format!("is not UTF-8 text: byte {at} (0x{byte:02x}) is invalid; it looks like {guess}"));
    }
    let mut text = String::from_utf8(bytes).map_err(|_| "is not UTF-8 text".to_owned())?;
    let marked = text.starts_with(MARK);
    if marked {
        text.drain(..MARK.len_utf8());
    }
    Ok(Decoded { text, encoding: Encoding::Utf8 { marked } })
}

/// What an encoding of single and double bytes probably is, by the statistics of browsers.
fn guess(bytes: &[u8]) -> &'static str {
    let mut detector = chardetng::EncodingDetector::new(chardetng::Iso2022JpDetection::Allow);
    detector.feed(bytes, true);
    match detector.guess(None, chardetng::Utf8Detection::Deny).name() {
        "windows-1252" => "Latin-1 (windows-1252)",
        name => name,
    }
}

#[cfg(test)]
mod tests;
