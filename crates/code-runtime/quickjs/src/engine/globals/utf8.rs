//! UTF-8 that comes in parts.

/// What became of the parts so far. It fits into an integer, so that an engine value can hold it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Utf8 {
    pub(super) mode: Mode,
    /// More parts of the same text will come.
    pub(super) continues: bool,
    /// Some of the text has been given out.
    started: bool,
    /// The beginning of a character whose end has not come.
    held: [u8; 3],
    count: u8,
}

/// How bytes are read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Mode {
    /// Malformed bytes are an error, and not U+FFFD.
    pub(super) fatal: bool,
    /// A byte order mark at the start is text.
    pub(super) keep_mark: bool,
}

/// The bytes are no UTF-8.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Malformed;

const FATAL: u32 = 1 << 24;
const KEEP_MARK: u32 = 1 << 25;
const CONTINUES: u32 = 1 << 26;
const STARTED: u32 = 1 << 27;
const COUNT: u32 = 28;

impl Utf8 {
    pub(super) fn new(mode: Mode) -> Self {
        Self { mode, ..Self::default() }
    }

    pub(super) fn from_bits(bits: u32) -> Self {
        let [first, second, third, flags] = bits.to_le_bytes();
        Self {
            mode: Mode { fatal: bits & FATAL != 0, keep_mark: bits & KEEP_MARK != 0 },
            continues: bits & CONTINUES != 0,
            started: bits & STARTED != 0,
            held: [first, second, third],
            count: (flags >> 4).min(3),
        }
    }

    /// 30 bits.
    pub(super) fn to_bits(self) -> u32 {
        let [first, second, third] = self.held;
        let flag = |set: bool, bit: u32| if set { bit } else { 0 };
        u32::from_le_bytes([first, second, third, 0])
            | flag(self.mode.fatal, FATAL)
            | flag(self.mode.keep_mark, KEEP_MARK)
            | flag(self.continues, CONTINUES)
            | flag(self.started, STARTED)
            | u32::from(self.count) << COUNT
    }

    /// Forgets the text, not how it is to be read.
    pub(super) fn restart(&mut self) {
        *self = Self::new(self.mode);
    }

    /// The text of the next part, as far as it is complete.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<String, Malformed> {
        let mut whole = Vec::with_capacity(3 + bytes.len());
        whole.extend(self.held.iter().take(self.count.into()));
        whole.extend_from_slice(bytes);
        self.count = 0;
        let mut out = String::with_capacity(whole.len());
        let mut rest = whole.len();
        for chunk in whole.utf8_chunks() {
            let (valid, invalid) = (chunk.valid(), chunk.invalid());
            out.push_str(valid);
            rest -= valid.len() + invalid.len();
            if invalid.is_empty() {
                continue;
            }
            let unfinished =
                rest == 0 && str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none());
            if unfinished {
                self.hold(invalid);
            } else {
                self.replace(&mut out)?;
            }
        }
        Ok(self.without_mark(out))
    }

    /// The text of what is left when no more will come.
    pub(super) fn finish(&mut self) -> Result<String, Malformed> {
        let mut out = String::new();
        if self.count > 0 {
            self.count = 0;
            self.replace(&mut out)?;
        }
        Ok(out)
    }

    fn hold(&mut self, bytes: &[u8]) {
        for (held, byte) in self.held.iter_mut().zip(bytes) {
            *held = *byte;
            self.count += 1;
        }
    }

    fn replace(self, out: &mut String) -> Result<(), Malformed> {
        if self.mode.fatal {
            return Err(Malformed);
        }
        out.push(char::REPLACEMENT_CHARACTER);
        Ok(())
    }

    fn without_mark(&mut self, text: String) -> String {
        if self.started || text.is_empty() {
            return text;
        }
        self.started = true;
        match text.strip_prefix('\u{feff}') {
            Some(rest) if !self.mode.keep_mark => rest.to_owned(),
            Some(_) | None => text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(parts: &[&[u8]]) -> String {
        let mut decoder = Utf8::default();
        let mut text = String::new();
        for part in parts {
            text += &decoder.push(part).unwrap();
            decoder = Utf8::from_bits(decoder.to_bits());
        }
        text + &decoder.finish().unwrap()
    }

    #[test]
    fn every_split_gives_the_same_text() {
        let bytes = b"\xef\xbb\xbfa\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xef\xbb\xbf\xff\xe2\x82z\xed\xa0\x80\xf4\x90\x80\x80\xc0\xaf\xf0\x9f\x98";
        let whole = decoded(&[bytes]);
        assert_eq!(whole, format!("aé€😀\u{feff}\u{fffd}\u{fffd}z{}\u{fffd}", "\u{fffd}".repeat(9)));
        assert_eq!(whole, String::from_utf8_lossy(bytes).strip_prefix('\u{feff}').unwrap());
        for first in 0..=bytes.len() {
            for second in first..=bytes.len() {
                let parts = [&bytes[..first], &bytes[first..second], &bytes[second..]];
                assert_eq!(decoded(&parts), whole, "{first} {second}");
            }
        }
        let single: Vec<_> = bytes.chunks(1).collect();
        assert_eq!(decoded(&single), whole);
    }

    #[test]
    fn a_mark_is_kept_when_asked_for() {
        let mut decoder = Utf8::new(Mode { fatal: false, keep_mark: true });
        assert_eq!(decoder.push(b"\xef\xbb\xbfa"), Ok("\u{feff}a".to_owned()));
    }

    #[test]
    fn malformed_bytes_may_be_an_error() {
        let fatal = || Utf8::new(Mode { fatal: true, keep_mark: false });
        assert_eq!(fatal().push(b"a\xff"), Err(Malformed));
        let mut decoder = fatal();
        assert_eq!(decoder.push(b"a\xe2\x82"), Ok("a".to_owned()));
        assert_eq!(decoder.finish(), Err(Malformed));
    }

    #[test]
    fn bits_are_lossless() {
        let mut decoder = Utf8 { continues: true, ..Utf8::new(Mode { fatal: true, keep_mark: true }) };
        decoder.push(b"a\xf0\x9f\x98").unwrap();
        assert_eq!(Utf8::from_bits(decoder.to_bits()), decoder);
        assert!(i32::try_from(decoder.to_bits()).is_ok());
    }
}
