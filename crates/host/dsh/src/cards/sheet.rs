//! Text on a screen: control characters made visible, lines cut to the width, bodies cut to a few lines.

use std::fmt::Write as _;

use anstyle::Style;
use dsh_user_approval::acts;
pub(crate) use dsh_user_approval::visible as escaped;
use unicode_width::UnicodeWidthChar as _;

/// One line of at most `width` columns. What is left out is marked.
pub(crate) fn fit(text: &str, width: usize) -> String {
    let (mut out, mut used, mut fits) = (String::new(), 0, 0);
    for (count, character) in text.chars().enumerate() {
        let start = out.len();
        match character {
            '\t' => out.push_str("    "),
            _ if acts(character) => out.extend(character.escape_default()),
            _ => out.push(character),
        }
        let columns: usize =
            out.get(start..).unwrap_or_default().chars().map(|shown| shown.width().unwrap_or(0)).sum();
        // Characters without a width could go on for ever.
        if used + columns > width || count > 4 * width {
            out.truncate(fits);
            out.push('…');
            return out;
        }
        used += columns;
        if used < width {
            fits = out.len(); // as far as the mark has room behind it
        }
    }
    out
}

/// A line of prose as lines of at most `width` columns, broken at spaces where there are any. Nothing is left out: characters
/// without a width have a line of their own after some.
pub(crate) fn wrap(line: &str, width: usize) -> Vec<String> {
    let line = escaped(line).replace('\t', "    ");
    let (mut lines, mut last, mut used, mut count) = (Vec::new(), String::new(), 0, 0);
    for word in line.split_inclusive(' ') {
        if used > 0 && used + columns(word.trim_end()) > width {
            lines.push(std::mem::take(&mut last));
            (used, count) = (0, 0);
        }
        for character in word.chars() {
            let room = character.width().unwrap_or(0);
            // The space at the end of a line takes none.
            let is_full = used > 0 && used + room > width && character != ' ';
            if is_full || count >= 4 * width.max(1) {
                lines.push(std::mem::take(&mut last));
                (used, count) = (0, 0);
            }
            last.push(character);
            used += room;
            count += 1;
        }
    }
    lines.push(last);
    for line in &mut lines {
        line.truncate(line.trim_end().len());
    }
    lines
}

/// How many columns a line takes that needs no escapes.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().map(|shown| shown.width().unwrap_or(0)).sum()
}

/// A drawing that grows line by line.
#[derive(Debug)]
pub(crate) struct Sheet {
    width: usize,
    /// The most lines of a body; with 0 there are heads only.
    room: usize,
    out: String,
}

/// Where the lines of a body begin.
const INDENT: &str = "  ";

impl Sheet {
    pub(crate) fn new(width: usize, room: usize) -> Self {
        Self { width, room, out: String::new() }
    }

    pub(crate) fn finish(self) -> String {
        self.out
    }

    /// A mark, a title, and a note behind it. The note is kept whole as far as half of the line; the title gets the
    /// rest.
    pub(crate) fn head(&mut self, mark: (&str, Style), title: (&str, Style), note: (&str, Style)) {
        let ((mark, mark_style), (title, title_style), (note, note_style)) = (mark, title, note);
        let room = self.width.saturating_sub(columns(mark) + 1);
        let note = fit(note, room / 2);
        let taken = if note.is_empty() { 0 } else { INDENT.len() + columns(&note) };
        let title = fit(title, room.saturating_sub(taken));
        let _ = write!(self.out, "{mark_style}{mark}{mark_style:#} {title_style}{title}{title_style:#}");
        if !note.is_empty() {
            let _ = write!(self.out, "{INDENT}{note_style}{note}{note_style:#}");
        }
        self.out.push('\n');
    }

    /// What somebody says, whole lines of it: the first behind the mark, the others below.
    pub(crate) fn speech(&mut self, mark: (&str, Style), text: &str, style: Style) {
        let plain = ("", Style::new());
        let mut lines = self.wrapped(text).into_iter();
        self.head(mark, (&lines.next().unwrap_or_default(), style), plain);
        self.lines(lines.map(|line| (line, style)));
    }

    /// Prose, whole lines of it.
    pub(crate) fn prose(&mut self, text: &str, style: Style) {
        let lines = self.wrapped(text);
        self.lines(lines.into_iter().map(|line| (line, style)));
    }

    fn wrapped(&self, text: &str) -> Vec<String> {
        let room = self.width.saturating_sub(INDENT.len());
        text.lines().flat_map(|line| wrap(line, room)).collect()
    }

    /// One line of a body.
    pub(crate) fn line(&mut self, text: &str, style: Style) {
        let text = fit(text, self.width.saturating_sub(INDENT.len()));
        if text.is_empty() {
            self.out.push('\n');
            return;
        }
        let _ = writeln!(self.out, "{INDENT}{style}{text}{style:#}");
    }

    /// One line of a body as it is, behind a sign. It was broken to the width before.
    pub(crate) fn behind(&mut self, sign: &str, text: &str, style: Style) {
        let _ = writeln!(self.out, "{INDENT}{sign} {style}{text}{style:#}");
    }

    /// As many lines as there is room for, and how many more there are.
    pub(crate) fn lines<T: AsRef<str>>(&mut self, lines: impl IntoIterator<Item = (T, Style)>) {
        let mut lines = lines.into_iter();
        for (line, style) in lines.by_ref().take(self.room) {
            self.line(line.as_ref(), style);
        }
        if self.room > 0 {
            self.more(lines.count());
        }
    }

    fn more(&mut self, count: usize) {
        if count > 0 {
            let plural = if count == 1 { "" } else { "s" };
            self.line(&format!("… {count} more line{plural}"), Style::new().dimmed());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_acts_on_a_terminal() {
        assert_eq!(
            escaped("a\u{1b}[2J\r\u{7}\u{9b}1m\u{202e}x\u{7f}"),
            r"a\u{1b}[2J\r\u{7}\u{9b}1m\u{202e}x\u{7f}"
        );
        assert_eq!(escaped("a\tb\nc é 漢"), "a\tb\nc é 漢");
    }

    #[test]
    fn a_line_is_cut_to_its_width() {
        let rows = [
            ("", 0, ""),
            ("a", 0, "…"),
            ("abc", 3, "abc"),
            ("abcd", 3, "ab…"),
            ("漢字漢", 6, "漢字漢"),
            ("漢字漢", 5, "漢字…"),
            ("漢字漢", 4, "漢…"),
            ("a\tb", 6, "a    b"),
            ("a\nb", 4, r"a\nb"),
            ("a\u{1b}b", 8, r"a\u{1b}b"),
            ("a\u{1b}b", 7, "a…"),
        ];
        for (text, width, expected) in rows {
            assert_eq!(fit(text, width), expected, "{text:?} in {width}");
        }
    }

    #[test]
    fn prose_is_broken_at_spaces() {
        let rows: [(&str, usize, &[&str]); 9] = [
            ("", 5, &[""]),
            ("one two", 7, &["one two"]),
            ("one two", 6, &["one", "two"]),
            ("one  two", 4, &["one", "two"]),
            ("one two three", 8, &["one two", "three"]),
            ("abcdefg", 3, &["abc", "def", "g"]),
            ("a bcdefg", 3, &["a", "bcd", "efg"]),
            ("漢字漢", 4, &["漢字", "漢"]),
            ("  x", 5, &["  x"]),
        ];
        for (text, width, expected) in rows {
            assert_eq!(wrap(text, width), expected, "{text:?} in {width}");
        }
    }

    #[test]
    fn characters_without_a_width_have_an_end() {
        let text = "\u{301}".repeat(100) + "end";
        let lines = wrap(&text, 10);
        assert_eq!((lines.concat(), lines.len()), (text, 3));
        assert!(fit(&"\u{301}".repeat(1_000), 10).chars().count() < 50);
    }

    #[test]
    fn a_body_says_what_it_leaves_out() {
        let check = |count: usize, room: usize, expected: &str| {
            let mut sheet = Sheet::new(20, room);
            sheet.lines(["a", "b", "c"].into_iter().take(count).map(|line| (line, Style::new())));
            assert_eq!(sheet.finish(), expected);
        };
        check(0, 1, "");
        check(1, 1, "  a\n");
        check(2, 1, "  a\n  \u{1b}[2m… 1 more line\u{1b}[0m\n");
        check(3, 1, "  a\n  \u{1b}[2m… 2 more lines\u{1b}[0m\n");
        check(3, 0, "");
    }
}
