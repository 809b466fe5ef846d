//! Which matches are shown, and how much of each.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::grep::GrepLine;
use crate::text;

/// The matches of one file, in order.
pub(crate) struct FilePage<'a> {
    pub(crate) path: &'a str,
    pub(crate) lines: Vec<(u64, Cow<'a, str>)>,
}

/// What a page takes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    pub(crate) matches: usize,
    pub(crate) line_bytes: usize,
    /// Of all lines, with their files and numbers. One match is always shown.
    pub(crate) bytes: usize,
}

impl Room {
    /// How many of the matches, by file and line, fit.
    pub(crate) fn takes<'a>(self, matches: impl IntoIterator<Item = (&'a str, &'a str)>) -> usize {
        /// The most that stands around a path or a line: breaks, `Line`, a number, a mark.
        const AROUND: usize = 64;
        let (mut bytes, mut last) = (0_usize, None);
        let fits = |(number, (path, line)): &(usize, (&'a str, &'a str))| {
            let file = if last == Some(*path) { 0 } else { path.len() + AROUND };
            last = Some(*path);
            bytes = bytes.saturating_add(file + line.len().min(self.line_bytes) + AROUND);
            *number == 0 || bytes <= self.bytes
        };
        matches.into_iter().take(self.matches).enumerate().take_while(fits).count()
    }
}

/// The first matches, as far as there is room, together by file in the order in which the files come.
pub(crate) fn page(matches: &[GrepLine], room: Room) -> Vec<FilePage<'_>> {
    let mut files: Vec<FilePage<'_>> = Vec::new();
    let mut known: HashMap<&str, usize> = HashMap::new();
    let shown = room.takes(matches.iter().map(|found| (&*found.path, &*found.line)));
    for found in matches.iter().take(shown) {
        let at = *known.entry(&found.path).or_insert(files.len());
        let line = (found.line_number, preview(&found.line, room.line_bytes));
        match files.get_mut(at) {
            Some(file) => file.lines.push(line),
            None => files.push(FilePage { path: &found.path, lines: vec![line] }),
        }
    }
    files
}

/// At most `max_bytes` of a line, whole characters, and a mark when that is not all.
pub(crate) fn preview(line: &str, max_bytes: usize) -> Cow<'_, str> {
    if line.len() <= max_bytes {
        return Cow::Borrowed(line);
    }
    let kept = line.get(..line.floor_char_boundary(max_bytes)).unwrap_or_default();
    Cow::Owned(format!("{kept}{}", text::cut_mark(line.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preview_ends_between_characters() {
        let rows = [
            ("abc", 4, "abc"),
            ("abc", 3, "abc"),
            ("abc", 2, "ab [cut; the line has 3 bytes]"),
            ("aéz", 2, "a [cut; the line has 4 bytes]"),
            ("aéz", 3, "aé [cut; the line has 4 bytes]"),
            ("🦀", 1, " [cut; the line has 4 bytes]"),
            ("", 1, ""),
        ];
        for (line, max, shown) in rows {
            assert_eq!(preview(line, max), shown);
        }
    }

    #[test]
    fn matches_of_a_file_stand_together_at_its_first_place() {
        let line = |path: &str, line_number| GrepLine { path: path.into(), line_number, line: "x".into() };
        let matches = [line("b", 1), line("a", 7), line("b", 2), line("c", 1)];
        let shown: Vec<(&str, Vec<u64>)> =
            page(&matches, Room { matches: 3, line_bytes: 10, bytes: usize::MAX })
                .into_iter()
                .map(|file| (file.path, file.lines.iter().map(|(number, _)| *number).collect()))
                .collect();
        assert_eq!(shown, [("b", vec![1, 2]), ("a", vec![7])]);
    }
}
