//! How texts are stored: UTF-8, and UTF-16 with a byte order mark.
//!
//! Both are one-to-one: what decodes strictly encodes to the same bytes, so that what can be read can be edited without
//! loss. Everything else is refused with a guess, because a guess that is wrong would show a text that nobody wrote. A
//! search takes the same two by the same marks; it passes over malformed places, as it does in UTF-8.

use std::borrow::Cow;

/// So many bytes at the start tell how a file is stored, and whether it is text (spec 07 §3.5).
pub(crate) const HEAD: usize = 8192;
/// UTF-16 is decoded in pieces of this size, so that its text takes no more than a few of them.
const STEP: usize = 64 * 1024;
const MARK: char = '\u{feff}';

/// How a text is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    Utf8 { marked: bool },
    Utf16(Order),
}

/// Which byte of a unit comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Little,
    Big,
}

/// A place that is no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Flaw {
    /// Where, in the bytes that were looked at.
    pub(crate) at: usize,
    pub(crate) what: What,
}

/// What is wrong there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    /// A NUL character, as binary files have.
    Nul,
    /// A whole file in an encoding that is not taken.
    Other(&'static str),
    /// A byte that UTF-8 does not have there.
    Byte(u8),
    /// A half of a surrogate pair, in UTF-16.
    Surrogate,
    /// The end, within a character.
    End,
}

impl Encoding {
    /// How a file with these first bytes is stored: all bytes, or [`HEAD`] of them.
    pub(crate) fn of(head: &[u8]) -> Result<Self, Flaw> {
        let other = |name| Err(Flaw { at: 0, what: What::Other(name) });
        let encoding = match head {
            [0xFF, 0xFE, 0, 0, ..] => return other("UTF-32 (little endian)"),
            [0, 0, 0xFE, 0xFF, ..] => return other("UTF-32 (big endian)"),
            [0xFF, 0xFE, ..] => Self::Utf16(Order::Little),
            [0xFE, 0xFF, ..] => Self::Utf16(Order::Big),
            _ => Self::Utf8 { marked: head.starts_with(&[0xEF, 0xBB, 0xBF]) },
        };
        let nul = match encoding {
            Self::Utf8 { .. } => memchr::memchr(0, head),
            Self::Utf16(_) => head.as_chunks().0.iter().position(|unit| *unit == [0, 0]).map(|at| at * 2),
        };
        let Some(at) = nul else { return Ok(encoding) };
        match encoding {
            Self::Utf8 { .. } => unmarked_utf16(head).map_or(Err(Flaw { at, what: What::Nul }), other),
            Self::Utf16(_) => Err(Flaw { at, what: What::Nul }),
        }
    }

    /// How many bytes the byte order mark takes.
    pub(crate) fn mark(self) -> usize {
        match self {
            Self::Utf8 { marked: false } => 0,
            Self::Utf8 { marked: true } => 3,
            Self::Utf16(_) => 2,
        }
    }

    /// Text from the front of `bytes`, and how many of them it took: none, when there is no whole character. What follows
    /// the `last` bytes is the end of the file.
    pub(crate) fn decode(self, bytes: &[u8], last: bool) -> Result<(Cow<'_, str>, usize), Flaw> {
        match self {
            Self::Utf8 { .. } => utf8(bytes, last).map(|text| (Cow::Borrowed(text), text.len())),
            Self::Utf16(order) => {
                let step = bytes.get(..STEP).unwrap_or(bytes);
                let last = last && step.len() == bytes.len();
                utf16(step, order, last).map(|(text, used)| (Cow::Owned(text), used))
            }
        }
    }

    /// A text as it is stored.
    pub(crate) fn encode(self, text: &str) -> Cow<'_, [u8]> {
        match self {
            Self::Utf8 { marked: false } => Cow::Borrowed(text.as_bytes()),
            Self::Utf8 { marked: true } => format!("{MARK}{text}").into_bytes().into(),
            Self::Utf16(order) => {
                let to = match order {
                    Order::Little => u16::to_le_bytes,
                    Order::Big => u16::to_be_bytes,
                };
                let mut bytes = Vec::with_capacity(text.len() * 2 + self.mark());
                for char in [MARK].into_iter().chain(text.chars()) {
                    bytes.extend(char.encode_utf16(&mut [0; 2]).iter().flat_map(|unit| to(*unit)));
                }
                bytes.into()
            }
        }
    }
}

fn utf8(bytes: &[u8], last: bool) -> Result<&str, Flaw> {
    match simdutf8::compat::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(error) => {
            let at = error.valid_up_to();
            let (front, rest) = bytes.split_at_checked(at).unwrap_or_default();
            let what = match (error.error_len(), rest.first()) {
                (Some(_), Some(byte)) => What::Byte(*byte),
                (None, Some(_)) if last => What::End,
                (_, _) => return simdutf8::basic::from_utf8(front).map_err(|_| Flaw { at, what: What::End }),
            };
            Err(Flaw { at, what })
        }
    }
}

fn utf16(bytes: &[u8], order: Order, last: bool) -> Result<(String, usize), Flaw> {
    let from = match order {
        Order::Little => u16::from_le_bytes,
        Order::Big => u16::from_be_bytes,
    };
    let (units, half) = bytes.as_chunks();
    let whole = units.len() * 2;
    let mut text = String::with_capacity(units.len());
    let mut used = 0;
    for char in char::decode_utf16(units.iter().map(|unit| from(*unit))) {
        match char {
            Ok(char) => {
                text.push(char);
                used += char.len_utf16() * 2;
            }
            // The first half of a pair whose second is yet to come.
            Err(lone) if !last && used + 2 == whole && lone.unpaired_surrogate() < 0xDC00 => break,
            Err(_) => return Err(Flaw { at: used, what: What::Surrogate }),
        }
    }
    if last && !half.is_empty() {
        return Err(Flaw { at: whole, what: What::End });
    }
    Ok((text, used))
}

/// Latin text with a NUL in every other byte.
fn unmarked_utf16(head: &[u8]) -> Option<&'static str> {
    let (pairs, _) = head.as_chunks::<2>();
    let low = pairs.iter().filter(|[first, second]| *first != 0 && *second == 0).count();
    let high = pairs.iter().filter(|[first, second]| *first == 0 && *second != 0).count();
    let most = (pairs.len() / 10 * 9).max(4);
    if low >= most {
        Some("UTF-16 (little endian, without a mark)")
    } else if high >= most {
        Some("UTF-16 (big endian, without a mark)")
    } else {
        None
    }
}

/// What text that is not UTF-8 probably is, by the statistics of browsers; none, where control characters are as frequent
/// as in binary data.
pub(crate) fn guess(sample: &[u8]) -> Option<&'static str> {
    let is_binary = |byte: &&u8| byte.is_ascii_control() && !b"\t\n\x0c\r\x1b".contains(byte);
    if sample.iter().filter(is_binary).count() > sample.len() / 50 {
        return None;
    }
    let mut detector = chardetng::EncodingDetector::new(chardetng::Iso2022JpDetection::Allow);
    detector.feed(sample, true);
    Some(match detector.guess(None, chardetng::Utf8Detection::Deny).name() {
        "windows-1252" => "Latin-1 (windows-1252)",
        name => name,
    })
}

#[cfg(test)]
mod tests;
