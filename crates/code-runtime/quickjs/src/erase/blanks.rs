//! A text in which spans become spaces. Lines stay lines, and a character of any width becomes one space.

use oxc_span::Span;

/// Marks a byte that goes away with the character it belongs to. No UTF-8 text has it.
const GONE: u8 = 0xff;

/// The text, and questions about it.
pub(super) struct Blanks<'s> {
    source: &'s str,
    bytes: Vec<u8>,
}

impl<'s> Blanks<'s> {
    pub(super) fn new(source: &'s str) -> Self {
        Self { source, bytes: source.as_bytes().to_vec() }
    }

    pub(super) fn into_text(mut self) -> String {
        self.bytes.retain(|byte| *byte != GONE);
        String::from_utf8(self.bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }

    /// Blanks a span.
    pub(super) fn blank(&mut self, span: Span) {
        let (start, end) = (offset(span.start), offset(span.end));
        let Some(text) = self.source.get(start..end) else { return };
        for (at, c) in text.char_indices() {
            if matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}') {
                continue;
            }
            for (n, byte) in self.bytes.iter_mut().skip(start + at).take(c.len_utf8()).enumerate() {
                *byte = if n == 0 { b' ' } else { GONE };
            }
        }
    }

    /// Blanks a span that is a statement or a member of its own: what stands before it must not join what stands behind.
    pub(super) fn remove(&mut self, span: Span) {
        self.blank(span);
        self.put(span.start, b';');
    }

    /// Puts a character where one was blanked.
    pub(super) fn put(&mut self, at: u32, byte: u8) {
        let at = self.source.floor_char_boundary(offset(at));
        if let Some(target) = self.bytes.get_mut(at) {
            *target = byte;
        }
    }

    /// Whether a line ends in the span.
    pub(super) fn breaks(&self, start: u32, end: u32) -> bool {
        self.source
            .get(offset(start)..offset(end))
            .is_some_and(|text| text.contains(['\n', '\r', '\u{2028}', '\u{2029}']))
    }

    /// The place of the next token: behind spaces and comments.
    pub(super) fn token(&self, from: u32) -> u32 {
        let mut at = offset(from);
        loop {
            let rest = self.source.get(at..).unwrap_or_default();
            let trimmed = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
            at += rest.len() - trimmed.len();
            let comment = if trimmed.starts_with("//") {
                trimmed.find(['\n', '\r', '\u{2028}', '\u{2029}']).unwrap_or(trimmed.len())
            } else if trimmed.starts_with("/*") {
                trimmed.find("*/").map_or(trimmed.len(), |end| end + 2)
            } else {
                return u32::try_from(at).unwrap_or(u32::MAX);
            };
            at += comment;
        }
    }

    /// The byte at a place, 0 behind the end.
    pub(super) fn byte(&self, at: u32) -> u8 {
        self.source.as_bytes().get(offset(at)).copied().unwrap_or(0)
    }

    /// The word that starts at a place.
    pub(super) fn word(&self, at: u32) -> &'s str {
        let rest = self.source.get(offset(at)..).unwrap_or_default();
        let end = rest.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '$')).unwrap_or(rest.len());
        rest.get(..end).unwrap_or_default()
    }
}

fn offset(at: u32) -> usize {
    usize::try_from(at).unwrap_or(usize::MAX)
}
