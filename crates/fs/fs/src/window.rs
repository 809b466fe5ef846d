//! Which part of a text is shown: a pure rule, fed in pieces.

#[cfg(test)]
mod tests;

use memchr::{memchr, memchr_iter};

/// The rule for what a reader of a text gets to see (spec 07 §6.2).
///
/// Characters are UTF-16 code units, as in the recorded behaviour; a character outside the basic plane counts as two
/// and is never cut in half. Lines end with `\n`; a `\r` before it, or at the very end, is not part of the line.
#[derive(Debug, Clone)]
pub struct LineWindow {
    /// The number of the first line, 1-based.
    pub first: u64,
    /// The character at which each line begins, 1-based: the way on in a line that was cut.
    pub column: u64,
    /// How many lines at most.
    pub max_lines: usize,
    /// How many characters of a line at most; what follows is cut and marked.
    pub max_line_chars: usize,
    /// How many bytes in all at most: UTF-8, marks included, one for each line break between lines. A first line that is
    /// longer is cut, so that a window that begins inside the text is never empty.
    pub max_bytes: usize,
    /// The mark that is put at the end of a cut line.
    pub mark: fn(&Cut) -> String,
    /// Files of at least this many bytes are read in pieces instead of in one.
    pub stream_min_size: u64,
}

/// What the mark of a cut line may speak of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    /// The number of the line.
    pub line: u64,
    /// How many characters are shown.
    pub shown: u64,
    /// How many characters follow.
    pub rest: u64,
    /// The column to go on at.
    pub next_column: u64,
}

/// One line of a window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FsLine {
    /// Its number in the file, 1-based.
    pub number: u64,
    /// Its text without the line break, cut and marked when it was too long.
    pub text: String,
}

impl Default for LineWindow {
    /// The first 2,000 lines, 2,000 characters each, 50 KiB in all, unmarked.
    fn default() -> Self {
        Self {
            first: 1,
            column: 1,
            max_lines: 2000,
            max_line_chars: 2000,
            max_bytes: 51_200,
            mark: |_| String::new(),
            stream_min_size: 10 * 1024 * 1024,
        }
    }
}

impl LineWindow {
    /// Begins to look at a text.
    pub fn start(self) -> WindowBuilder {
        WindowBuilder {
            rule: self,
            number: 1,
            line_has_bytes: false,
            stopped: false,
            bytes: 0,
            lines: Vec::new(),
            current: Current::default(),
        }
    }
}

/// A window in the making. Push the text in pieces of any size, then finish: the pieces don't show in the result.
#[derive(Debug)]
pub struct WindowBuilder {
    rule: LineWindow,
    /// The line that the next byte belongs to.
    number: u64,
    line_has_bytes: bool,
    /// The byte cap was reached: no further line is taken.
    stopped: bool,
    bytes: usize,
    lines: Vec<FsLine>,
    current: Current,
}

/// The line being collected: at most the cap plus one withheld `\r`, however long the line is.
#[derive(Debug, Default)]
struct Current {
    text: String,
    skipped: u64,
    shown: u64,
    rest: u64,
    withheld_cr: bool,
}

impl WindowBuilder {
    /// Takes the next piece of the text.
    pub fn push(&mut self, mut piece: &str) {
        while !piece.is_empty() {
            if !self.wants_line() {
                match self.skip(piece) {
                    Some(rest) => piece = rest,
                    None => return,
                }
                continue;
            }
            let (line, rest) = match memchr(b'\n', piece.as_bytes()) {
                Some(at) => (piece.get(..at), piece.get(at + 1..)),
                None => (Some(piece), None),
            };
            self.current.take(line.unwrap_or_default(), &self.rule);
            let Some(rest) = rest else {
                self.line_has_bytes = true;
                return;
            };
            self.end_line();
            piece = rest;
        }
    }

    /// Ends the text: the lines of the window, and how many lines the text has. A final line break begins no line.
    pub fn finish(mut self) -> (Vec<FsLine>, u64) {
        if self.line_has_bytes {
            if self.wants_line() {
                self.end_line();
            } else {
                self.number += 1;
            }
        }
        (self.lines, self.number - 1)
    }

    fn wants_line(&self) -> bool {
        !self.stopped && self.number >= self.rule.first && self.lines.len() < self.rule.max_lines
    }

    /// Counts lines that are not shown. Returns what is left where the window begins.
    fn skip<'a>(&mut self, piece: &'a str) -> Option<&'a str> {
        let bytes = piece.as_bytes();
        if self.number < self.rule.first {
            // The break that ends the last line before the window.
            let ahead = usize::try_from(self.rule.first - self.number - 1).unwrap_or(usize::MAX);
            if let Some(at) = memchr_iter(b'\n', bytes).nth(ahead) {
                self.number = self.rule.first;
                self.line_has_bytes = false;
                return piece.get(at + 1..);
            }
        }
        self.number += memchr_iter(b'\n', bytes).count() as u64;
        self.line_has_bytes = bytes.last() != Some(&b'\n');
        None
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.current);
        let number = self.number;
        self.number += 1;
        self.line_has_bytes = false;
        let break_before = usize::from(!self.lines.is_empty());
        let room = self.rule.max_bytes.saturating_sub(self.bytes + break_before);
        let text = line.marked(number, &self.rule);
        let text = if text.len() <= room && self.bytes + break_before <= self.rule.max_bytes {
            text
        } else if self.lines.is_empty() {
            line.fitted(number, room, &self.rule)
        } else {
            self.stopped = true;
            return;
        };
        self.bytes += break_before + text.len();
        self.lines.push(FsLine { number, text });
    }
}

impl Current {
    fn take(&mut self, piece: &str, rule: &LineWindow) {
        if piece.is_empty() {
            return;
        }
        if std::mem::take(&mut self.withheld_cr) {
            self.append("\r", rule);
        }
        let body = piece.strip_suffix('\r').unwrap_or(piece);
        self.withheld_cr = body.len() < piece.len();
        self.append(body, rule);
    }

    fn append(&mut self, text: &str, rule: &LineWindow) {
        let mut text = text;
        let to_skip = rule.column.saturating_sub(self.skipped + 1);
        if to_skip > 0 {
            let (head, units) = split_at_units(text, to_skip, true);
            self.skipped += units;
            text = text.get(head..).unwrap_or_default();
        }
        let room = if self.rest > 0 { 0 } else { (rule.max_line_chars as u64).saturating_sub(self.shown) };
        let (kept, units) = split_at_units(text, room, false);
        self.text.push_str(text.get(..kept).unwrap_or_default());
        self.shown += units;
        self.rest += utf16_len(text.get(kept..).unwrap_or_default());
    }

    fn marked(&self, number: u64, rule: &LineWindow) -> String {
        if self.rest == 0 {
            return self.text.clone();
        }
        let mut text = self.text.clone();
        text.push_str(&(rule.mark)(&self.cut(number, self.shown)));
        text
    }

    /// The longest beginning that fits with its mark; without a mark where not even that fits.
    fn fitted(&self, number: u64, room: usize, rule: &LineWindow) -> String {
        let beginning =
            |bytes: usize| self.text.get(..self.text.floor_char_boundary(bytes)).unwrap_or_default();
        // The mark grows with the numbers in it, so it is made for the worst case first.
        let widest =
            (rule.mark)(&self.cut(number, 0)).len().max((rule.mark)(&self.cut(number, self.shown)).len());
        let kept = room.checked_sub(widest).map(beginning).unwrap_or_default();
        if kept.is_empty() {
            return beginning(room).to_owned();
        }
        format!("{kept}{}", (rule.mark)(&self.cut(number, utf16_len(kept))))
    }

    fn cut(&self, line: u64, shown: u64) -> Cut {
        Cut { line, shown, rest: self.shown + self.rest - shown, next_column: self.skipped + shown + 1 }
    }
}

/// How many bytes of `text` make up at most `units` UTF-16 code units, and how many units those are. With `whole`, a
/// character that only begins within the limit is taken, too.
fn split_at_units(text: &str, units: u64, whole: bool) -> (usize, u64) {
    let limit = usize::try_from(units).unwrap_or(usize::MAX);
    if text.len() <= limit && text.is_ascii() {
        return (text.len(), text.len() as u64);
    }
    let mut taken = 0;
    for (at, char) in text.char_indices() {
        let next = taken + char.len_utf16() as u64;
        if next > units && !(whole && taken < units) {
            return (at, taken);
        }
        taken = next;
    }
    (text.len(), taken)
}

/// The length in UTF-16 code units: one for each character, one more for those of four bytes.
fn utf16_len(text: &str) -> u64 {
    text.as_bytes().iter().map(|byte| u64::from((byte & 0xC0) != 0x80) + u64::from(*byte >= 0xF0)).sum()
}
