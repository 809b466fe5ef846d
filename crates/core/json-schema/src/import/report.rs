//! What became of each keyword of a foreign schema.

use std::fmt;

use crate::path::Path;
use crate::words;

/// The longest note of an entry, in characters.
const MAX_NOTE_CHARS: usize = 120;
/// The longest path that an entry holds.
const MAX_PATH_CHARS: usize = 480;
/// The longest path that the table shows.
const MAX_SHOWN_PATH: usize = 72;

/// What became of a keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fate {
    /// The imported schema asks for the same.
    Enforced,
    /// The description says it, and the imported schema does not ask for it.
    Described,
    /// The imported schema does not have it.
    Dropped,
}

impl Fate {
    /// The word that the table shows.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Enforced => "enforced",
            Self::Described => "described",
            Self::Dropped => "dropped",
        }
    }
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One keyword at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportEntry {
    path: String,
    keyword: String,
    fate: Fate,
    narrows: bool,
    note: String,
}

impl ReportEntry {
    /// The node, as a path of the foreign schema such as `schema.$defs.Node.properties.limit`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The keyword, such as `minimum`; in parentheses what is no keyword: `(depth)`, `(size)`, `(schema)`.
    pub fn keyword(&self) -> &str {
        &self.keyword
    }

    /// What became of it.
    pub fn fate(&self) -> Fate {
        self.fate
    }

    /// Whether the imported schema refuses values here that the foreign one takes (see [`ImportReport`]).
    pub fn narrows(&self) -> bool {
        self.narrows
    }

    /// How, or why; may be empty.
    pub fn note(&self) -> &str {
        &self.note
    }
}

/// What became of the keywords that the subset does not have as they were written, in document order.
///
/// Keywords that were kept as they are have no entry, nor have those that ask for nothing (`$schema`, `$id`,
/// `$comment`, definitions). What a `$ref` points at is reported once, at its own place.
///
/// An imported schema takes whatever the foreign one takes, but for what has an entry that
/// [narrows](ReportEntry::narrows) (spec 04 §12): a node without `type` that has `properties` or `items` means an object
/// or an array; where alternatives are joined into one object, a property keeps the types that they declare; and
/// arguments are an object, so other alternatives at their root are left out. A root of arguments that says nothing of
/// its type is an object without an entry.
///
/// `Display` writes a table for a person.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportReport {
    entries: Vec<ReportEntry>,
    counts: [usize; 3],
    narrowed: usize,
}

impl ImportReport {
    /// The listed entries; [`count`](ImportReport::count) knows the others too.
    pub fn entries(&self) -> &[ReportEntry] {
        &self.entries
    }

    /// How many keywords had that fate, listed or not.
    pub fn count(&self, fate: Fate) -> usize {
        match fate {
            Fate::Enforced => self.counts[0],
            Fate::Described => self.counts[1],
            Fate::Dropped => self.counts[2],
        }
    }

    /// How many entries are not listed.
    pub fn truncated(&self) -> usize {
        self.counts.iter().sum::<usize>().saturating_sub(self.entries.len())
    }

    /// Whether the imported schema takes exactly what the foreign one takes.
    pub fn is_exact(&self) -> bool {
        self.narrowed == 0 && self.count(Fate::Described) == 0 && self.count(Fate::Dropped) == 0
    }

    /// Lists an entry, or only counts it when `limit` are listed.
    pub(super) fn add(&mut self, limit: usize, path: &Path<'_>, keyword: &str, found: Finding) {
        let Finding { fate, narrows, note } = found;
        match fate {
            Fate::Enforced => self.counts[0] = self.counts[0].saturating_add(1),
            Fate::Described => self.counts[1] = self.counts[1].saturating_add(1),
            Fate::Dropped => self.counts[2] = self.counts[2].saturating_add(1),
        }
        self.narrowed = self.narrowed.saturating_add(usize::from(narrows));
        if self.entries.len() < limit {
            let note = words::shorten(&note, MAX_NOTE_CHARS);
            let keyword = words::shorten(keyword, MAX_NOTE_CHARS);
            let path = words::shorten_middle(&path.render(), MAX_PATH_CHARS);
            self.entries.push(ReportEntry { path, keyword, fate, narrows, note });
        }
    }
}

/// What an entry says beside its place.
pub(super) struct Finding {
    fate: Fate,
    narrows: bool,
    note: String,
}

impl Finding {
    pub(super) fn new(fate: Fate, note: impl Into<String>) -> Self {
        Self { fate, narrows: false, note: note.into() }
    }

    pub(super) fn narrowing(fate: Fate, note: impl Into<String>) -> Self {
        Self { fate, narrows: true, note: note.into() }
    }
}

impl fmt::Display for ImportReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.entries.is_empty() && self.truncated() == 0 {
            return f.write_str("every keyword was kept");
        }
        let rows: Vec<[String; 4]> = self
            .entries
            .iter()
            .map(|entry| {
                let narrows = if entry.narrows { " (narrows)" } else { "" };
                [
                    words::shorten_middle(&one_line(&entry.path), MAX_SHOWN_PATH),
                    one_line(&entry.keyword),
                    format!("{}{narrows}", entry.fate),
                    one_line(&entry.note),
                ]
            })
            .collect();
        let width = |column: usize, name: &str| {
            let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
            cells.chain([name.len()]).max().unwrap_or_default()
        };
        let widths = [width(0, "path"), width(1, "keyword"), width(2, "fate")];
        let head = ["path", "keyword", "fate", "note"].map(str::to_owned);
        for [path, keyword, fate, note] in std::iter::once(&head).chain(&rows) {
            let line = format!("{path:0$}  {keyword:1$}  {fate:2$}  {note}", widths[0], widths[1], widths[2]);
            writeln!(f, "{}", line.trim_end())?;
        }
        let [enforced, described, dropped] =
            [Fate::Enforced, Fate::Described, Fate::Dropped].map(|fate| self.count(fate));
        write!(f, "{enforced} enforced otherwise, {described} described, {dropped} dropped")?;
        match self.truncated() {
            0 => Ok(()),
            more => write!(f, "; {more} more are not listed"),
        }
    }
}

fn one_line(text: &str) -> String {
    text.replace(|letter: char| letter.is_control(), " ")
}
