//! A line of the program, with a mark below it.

use std::fmt::Write as _;

/// Characters of a line that are shown.
const WIDTH: usize = 100;

/// `line L, column C` and the line itself, both counted from 1; of a long line the part around the column.
pub(crate) fn excerpt(source: &str, line: usize, column: usize) -> String {
    let mut out = format!("at line {line}, column {column}");
    let Some(text) = source.split('\n').nth(line.saturating_sub(1)) else { return out };
    let text = text.strip_suffix('\r').unwrap_or(text);
    let skipped = column.saturating_sub(1 + WIDTH / 2);
    let shown: String = text.chars().skip(skipped).take(WIDTH).collect();
    if shown.trim().is_empty() {
        return out;
    }
    let before: String = shown
        .chars()
        .take(column - 1 - skipped.min(column - 1))
        .map(|c| if c == '\t' { '\t' } else { ' ' })
        .collect();
    let gutter = line.to_string();
    let _ = write!(out, "\n{gutter} | {shown}\n{} | {before}^", " ".repeat(gutter.len()));
    out
}

/// The place of a byte offset: line and column, in characters from 1.
pub(crate) fn place(source: &str, offset: usize) -> (usize, usize) {
    let before = &source[..source.floor_char_boundary(offset)];
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.bytes().filter(|byte| *byte == b'\n').count() + 1, before[start..].chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_stands_below_the_column() {
        assert_eq!(excerpt("a\n\tb é c\n", 2, 4), "at line 2, column 4\n2 | \tb é c\n  | \t  ^");
        assert_eq!(excerpt("a", 7, 1), "at line 7, column 1");
        assert_eq!(place("a\nbé!", 5), (2, 3));
    }

    #[test]
    fn a_long_line_shows_what_is_around_the_column() {
        let line = format!("{}X{}", "a".repeat(5_000), "b".repeat(5_000));
        let text = excerpt(&line, 1, 5_001);
        let mut lines = text.lines().skip(1);
        let (shown, mark) = (lines.next().unwrap(), lines.next().unwrap());
        assert_eq!(shown.chars().count(), WIDTH + 4);
        assert_eq!(shown.chars().nth(mark.chars().count() - 1), Some('X'));
    }
}
