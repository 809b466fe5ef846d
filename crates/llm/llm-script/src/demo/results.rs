//! What the results of tools say.
//!
//! Their texts were written for a model, so they are read as one would read them: by their look, without relying on every
//! word. Their values come through a program, which has cut them.

use std::collections::BTreeSet;

use dsh_json::Json;

use super::conversation::Answer;

/// A list of paths, or a page of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Listing {
    pub(super) paths: Vec<String>,
    /// How many there are in all.
    pub(super) total: usize,
    /// Of a page: what it says last of numbers, which is how many top-level entries there are when some of each are
    /// shown.
    entries: Option<usize>,
    /// Whether something could not be looked at.
    pub(super) partial: bool,
}

/// Lines that a search found, or a page of them.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Matches {
    pub(super) shown: Vec<Match>,
    /// How many there are in all.
    pub(super) total: usize,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Match {
    pub(super) path: String,
    pub(super) line: usize,
    pub(super) text: String,
}

/// A file from its first line on.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) lines: Vec<String>,
    /// How many lines the file has.
    pub(super) total: usize,
}

impl Listing {
    pub(super) fn of(answer: &Answer) -> Self {
        match answer {
            Answer::Text(text) => Self::parse(text),
            Answer::Value(value) => Self::read(value),
        }
    }

    /// One path a line; then, set apart by an empty line, how many there are when some are not shown.
    pub(super) fn parse(text: &str) -> Self {
        let (list, notes) = text.split_once("\n\n").unwrap_or((text, ""));
        let list = if list.starts_with("No files") { "" } else { list };
        let paths: Vec<_> = list.lines().map(unquoted).map(str::to_owned).collect();
        let mut notes = notes.lines().filter(|line| !line.is_empty()).peekable();
        // What the note says of the place of all results may have numbers in it.
        let note = notes.next_if(|line| line.starts_with('(')).unwrap_or_default();
        let note = note.split_once(". ").map_or(note, |(first, _)| first);
        Self {
            total: largest_number(note).unwrap_or(0).max(paths.len()),
            paths,
            entries: numbers(note).last(),
            partial: notes.next().is_some(),
        }
    }

    /// `paths`, and `total`.
    fn read(value: &Json) -> Self {
        let paths: Vec<_> = rows(value, "paths").filter_map(Json::as_str).map(str::to_owned).collect();
        Self {
            total: total(value, "total").max(paths.len()),
            paths,
            entries: None,
            partial: value.get("warnings").is_some(),
        }
    }

    pub(super) fn is_complete(&self) -> bool {
        self.total <= self.paths.len()
    }

    /// Whether each entry at the top is there with one path at least.
    pub(super) fn shows_every_entry(&self) -> bool {
        let entries: BTreeSet<_> = self.paths.iter().filter_map(|path| path.split('/').next()).collect();
        self.is_complete() || self.entries == Some(entries.len())
    }
}

impl Matches {
    pub(super) fn of(answer: &Answer) -> Self {
        match answer {
            Answer::Text(text) => Self::parse(text),
            Answer::Value(value) => Self::read(value),
        }
    }

    /// A line with the number of matches; then, for each file, its path with a colon and its lines as `Line n: text`.
    pub(super) fn parse(text: &str) -> Self {
        let mut lines = text.lines();
        let stated = lines.next().and_then(largest_number).unwrap_or(0);
        let mut path = "";
        let mut shown = vec![];
        for line in lines {
            if let Some((number, text)) = matched_line(line) {
                shown.push(Match { path: path.to_owned(), line: number, text: text.trim().to_owned() });
            } else if let Some(next) = line.strip_suffix(':') {
                path = next;
            }
        }
        Self { total: stated.max(shown.len()), shown }
    }

    /// `matches`, and `total`.
    fn read(value: &Json) -> Self {
        let read = |row: &Json| {
            let text = |name| row.get(name).and_then(Json::as_str);
            let (path, line) = (text("path")?.to_owned(), total(row, "lineNumber"));
            Some(Match { path, line, text: text("line")?.trim().to_owned() })
        };
        let shown: Vec<_> = rows(value, "matches").filter_map(read).collect();
        Self { total: total(value, "total").max(shown.len()), shown }
    }
}

/// A path that stands in quotes for its control characters, without the quotes. Its escapes stay; it is only counted.
fn unquoted(path: &str) -> &str {
    let inner = path.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    inner.filter(|inner| inner.contains('\\')).unwrap_or(path)
}

fn matched_line(line: &str) -> Option<(usize, &str)> {
    let (number, text) = line.trim_start().strip_prefix("Line ")?.split_once(':')?;
    Some((number.parse().ok()?, text))
}

impl Reading {
    pub(super) fn of(answer: &Answer) -> Self {
        match answer {
            Answer::Text(text) => Self::parse(text),
            Answer::Value(value) => Self::read(value),
        }
    }

    /// Lines as `n: text`, from 1 on; then a note that says how many there are in all.
    pub(super) fn parse(text: &str) -> Self {
        let mut lines = vec![];
        let mut stated = 0;
        for line in text.lines() {
            if let Some(text) = numbered_line(line, lines.len() + 1) {
                lines.push(text.to_owned());
            } else if line.starts_with('(') {
                stated = largest_number(line).unwrap_or(0);
            }
        }
        Self { total: stated.max(lines.len()), lines }
    }

    /// `lines` as texts, and `totalLines`.
    fn read(value: &Json) -> Self {
        let lines: Vec<_> = rows(value, "lines").filter_map(Json::as_str).map(str::to_owned).collect();
        Self { total: total(value, "totalLines").max(lines.len()), lines }
    }
}

fn rows<'v>(value: &'v Json, name: &str) -> impl Iterator<Item = &'v Json> {
    value.get(name).and_then(Json::as_array).unwrap_or_default().iter()
}

fn total(value: &Json, name: &str) -> usize {
    value.get(name).and_then(size).unwrap_or(0)
}

/// A value that counts something.
pub(super) fn size(value: &Json) -> Option<usize> {
    value.as_u64().and_then(|size| usize::try_from(size).ok())
}

fn numbered_line(line: &str, number: usize) -> Option<&str> {
    let text = line.trim_start().strip_prefix(&number.to_string())?.strip_prefix(':')?;
    Some(text.strip_prefix(' ').unwrap_or(text))
}

/// The largest number in a sentence: of "100 of 2315 files" it is the total.
fn largest_number(sentence: &str) -> Option<usize> {
    numbers(sentence).max()
}

fn numbers(sentence: &str) -> impl Iterator<Item = usize> {
    sentence.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing(paths: &[&str], total: usize) -> Listing {
        let paths = paths.iter().map(|path| (*path).to_owned()).collect();
        Listing { paths, total, entries: None, partial: false }
    }

    #[test]
    fn a_listing_is_read() {
        let check = |text: &str, want: Listing| assert_eq!(Listing::parse(text), want);
        check("No files found", listing(&[], 0));
        check("\"src/a\\nb.rs\"\n\"a\"", listing(&["src/a\\nb.rs", "\"a\""], 2));
        check(
            "a\n\n(These are the first 1 of 12 files. The complete list is at /tmp/4711/glob-results.txt. Read it.)",
            Listing { entries: Some(12), ..listing(&["a"], 12) },
        );
        check("a.rs\n(group)/page.tsx\n[id].tsx", listing(&["a.rs", "(group)/page.tsx", "[id].tsx"], 3));
        check(
            "a\nb/2024.txt\n\n(These are the first 2 of 2315 files. Narrow the pattern or the path to see the others.)",
            Listing { entries: Some(2315), ..listing(&["a", "b/2024.txt"], 2315) },
        );
        check(
            "a\n\n(These are 1 of 41 files, taken in turn from 1 of 7 top-level entries. Narrow the pattern or the path \
             to see the others. To see an entry that is missing here, give it as the path.)",
            Listing { entries: Some(7), ..listing(&["a"], 41) },
        );
        let partial =
            "\n\nNot everything could be searched:\n- secret: could not be read (Permission denied)";
        check(&format!("a{partial}"), Listing { partial: true, ..listing(&["a"], 1) });
        check(&format!("No files found{partial}"), Listing { partial: true, ..listing(&[], 0) });
        check(
            &format!("a\n\n(These are the first 1 of 9 files.){partial}"),
            Listing { partial: true, entries: Some(9), ..listing(&["a"], 9) },
        );
    }

    #[test]
    fn a_page_may_show_every_entry() {
        let check = |text: &str, want| assert_eq!(Listing::parse(text).shows_every_entry(), want, "{text}");
        check("a\nb/c", true);
        check("a/1\na/2\nb\n\n(These are 3 of 41 files, taken in turn from 2 of 2 top-level entries.)", true);
        check("a/1\nb\n\n(These are 2 of 41 files, taken in turn from 2 of 7 top-level entries.)", false);
        check("a/1\nb\n\n(These are the first 2 of 41 files.)", false);
    }

    #[test]
    fn matches_are_read() {
        let check = |text: &str, total, want: &[(&str, usize, &str)]| {
            let row = |(path, line, text): &(&str, usize, &str)| Match {
                path: (*path).to_owned(),
                line: *line,
                text: (*text).to_owned(),
            };
            assert_eq!(Matches::parse(text), Matches { shown: want.iter().map(row).collect(), total });
        };
        check("No matches found", 0, &[]);
        check("Found 1 match\n\na.rs:\nLine 3:   // TODO: this", 1, &[("a.rs", 3, "// TODO: this")]);
        check(
            "Found 3 of 512 matches\n\na.rs:\nLine 1: TODO\nLine 20: Line 3: FIXME\n\nb c.rs:\nLine 7: TODO:\n\n\
             (509 more matches are not shown. Narrow the pattern, the path or the include to see them.)\n\n\
             Not everything could be searched:\n- big: has a line of over 9 bytes, not searched further",
            512,
            &[("a.rs", 1, "TODO"), ("a.rs", 20, "Line 3: FIXME"), ("b c.rs", 7, "TODO:")],
        );
    }

    #[test]
    fn a_file_is_read() {
        let check = |body: &str, lines: &[&str], total| {
            let text = format!("<path>(a) 9</path>\n<type>file</type>\n<content>\n{body}\n</content>");
            let lines = lines.iter().map(|line| (*line).to_owned()).collect();
            assert_eq!(Reading::parse(&text), Reading { lines, total });
        };
        check("(The file is empty.)", &[], 0);
        check("1: # a\n2: \n3: (b)\n\n(End of the file, 3 lines in all.)", &["# a", "", "(b)"], 3);
        check("1: a\n2: b\n\n(Lines 1-2 of 40. Go on with offset 3.)", &["a", "b"], 40);
        let capped = "(Lines 1-1 of 40; more would exceed the size of one result. Go on with offset 2.)";
        check(&format!("1: a\n\n{capped}"), &["a"], 40);
    }
}
