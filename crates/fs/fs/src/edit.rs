//! Replacing a piece of a text: pure rules, on text that someone else read and will write.
//!
//! ```text
//! line breaks as \n → exact? → as pasted from `read`? → tolerant, if unique → leave out what old and new share → splice
//! ```
//!
//! - **Finding.** Line breaks count as `\n` on both sides. Occurrences are counted from left to right and do not overlap.
//!   Exact occurrences win. Only if there is none, differences are looked past that no reader sees (see [`Tolerance`]), and
//!   only if one place is left then.
//! - **Replacing.** What the old and the new text have in common at both ends is not touched: it keeps its line breaks,
//!   its quotes and its blanks. Of the rest, each line break is written like the one that it replaces; else like the
//!   nearest one of the matched text; else like the end of its own line, or of the line before; else as `\n`.

mod fold;
mod miss;
mod near;
mod numbers;
mod splice;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use memchr::memmem::Finder;

pub use self::miss::EditMiss;
pub use self::near::Near;
use crate::{FsVersion, WriteIntent};

/// So many places are named when there are several.
const NAMED_PLACES: usize = 5;

/// A piece of a text file to be replaced.
#[derive(Debug, Clone)]
pub struct EditRequest {
    /// The text to be found. Not empty.
    pub old: Arc<str>,
    /// What takes its place, literally.
    pub new: Arc<str>,
    /// Whether all occurrences are replaced. Else there must be exactly one.
    pub replace_all: bool,
    /// What must be true for it to happen; looked at before the text is searched.
    pub intent: Option<WriteIntent>,
}

/// An edit that is on the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditOutcome {
    /// The version that was published; a valid guard for the next edit.
    pub version: FsVersion,
    /// The text before, line endings as `\n`, without a byte order mark.
    pub before: Arc<str>,
    /// The text after, in the same form.
    pub after: Arc<str>,
    /// How many occurrences were replaced.
    pub replacements: usize,
    /// What had to be looked past to find the old text.
    pub tolerance: Tolerance,
}

/// Differences between the old text and what stands in the file that were looked past. None at all is an exact match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tolerance {
    /// Each line of the old text began with a line number, as `read` shows them: `12: text`.
    pub line_numbers: bool,
    /// Blanks at the ends of lines.
    pub trailing_blanks: bool,
    /// Quotes, dashes and spaces of typesetting, in place of those of a keyboard.
    pub typography: bool,
}

impl Tolerance {
    /// Whether nothing had to be looked past.
    pub fn is_exact(self) -> bool {
        self == Self::default()
    }
}

/// A text with the replacements in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    /// The whole text.
    pub text: String,
    /// How many occurrences were replaced.
    pub replacements: usize,
    /// What had to be looked past.
    pub tolerance: Tolerance,
}

impl EditRequest {
    /// The text with the replacements made; all else in it stays as it is. Takes time linear in the text and memory of a
    /// few times its size. The intent is not looked at.
    ///
    /// # Errors
    /// [`EditMiss`] when the old text is not there, is there more often than asked for, or when nothing would change.
    pub fn apply(&self, text: &str) -> Result<Edited, EditMiss> {
        let source = splice::Source::of(text);
        let found = self.find(&source.plain).map_err(|lost| self.explain(lost, &source.plain))?;
        let edited =
            Edited { text: source.replace(&found), replacements: found.count, tolerance: found.tolerance };
        if edited.text == text { Err(EditMiss::Unchanged) } else { Ok(edited) }
    }

    /// How often the old text is found in a text that the edit was made on, and what was looked past: to tell afterwards
    /// what an edit did. `None` where [`apply`](Self::apply) finds nothing to replace.
    pub fn found_in(&self, before: &str) -> Option<(usize, Tolerance)> {
        let plain = lf(before);
        self.find(&plain).ok().map(|found| (found.count, found.tolerance))
    }

    fn find<'a>(&'a self, plain: &str) -> Result<Found<'a>, Lost> {
        let (old, new) = (lf(&self.old), lf(&self.new));
        if old.is_empty() {
            return Err(Lost::Empty);
        }
        let exact = Places::of(plain, &old);
        if exact.count > 0 {
            return self.choose(exact, plain, old, new, Tolerance::default());
        }
        if let Some(places) = fold::places(plain, &old) {
            let tolerance = fold::differences(plain, &old, &places.first);
            return Self::only(places, plain, old, new, tolerance);
        }
        let Some(pasted) = numbers::strip(&old, &new) else { return Err(Lost::Absent) };
        let numbers = Tolerance { line_numbers: true, ..Tolerance::default() };
        let exact = Places::of(plain, &pasted.old);
        if exact.count > 0 {
            return Self::only(exact, plain, pasted.old.into(), pasted.new, numbers);
        }
        let places = fold::places(plain, &pasted.old).ok_or(Lost::Absent)?;
        let tolerance = fold::differences(plain, &pasted.old, &places.first);
        let tolerance = Tolerance { line_numbers: true, ..tolerance };
        Self::only(places, plain, pasted.old.into(), pasted.new, tolerance)
    }

    /// One exact occurrence, or all if that was asked for.
    fn choose<'a>(
        &self,
        places: Places,
        plain: &str,
        old: Cow<'a, str>,
        new: Cow<'a, str>,
        tolerance: Tolerance,
    ) -> Result<Found<'a>, Lost> {
        if places.count > 1 && !self.replace_all {
            return Err(Lost::Ambiguous { count: places.count, lines: places.lines(plain), exact: true });
        }
        Ok(Found { first: places.first, count: places.count, old, new, tolerance })
    }

    /// One occurrence; several are not replaced, because they are not what was asked for.
    fn only<'a>(
        places: Places,
        plain: &str,
        old: Cow<'a, str>,
        new: Cow<'a, str>,
        tolerance: Tolerance,
    ) -> Result<Found<'a>, Lost> {
        if places.count > 1 {
            return Err(Lost::Ambiguous { count: places.count, lines: places.lines(plain), exact: false });
        }
        Ok(Found { first: places.first, count: 1, old, new, tolerance })
    }

    fn explain(&self, lost: Lost, plain: &str) -> EditMiss {
        match lost {
            Lost::Empty => EditMiss::Empty,
            Lost::Ambiguous { count, lines, exact } => EditMiss::Ambiguous { count, lines, exact },
            Lost::Absent => {
                let (old, new) = (lf(&self.old), lf(&self.new));
                let numbered = numbers::all_carry(&old);
                let old = if numbered { numbers::without(&old).into() } else { old };
                EditMiss::Absent {
                    numbered,
                    is_there_already: !new.trim().is_empty() && Places::of(plain, &new).count > 0,
                    near: near::nearest(plain, &old).map(Box::new),
                }
            }
        }
    }
}

/// Where the old text was found, in the text with `\n` for every line break.
struct Found<'a> {
    first: Range<usize>,
    count: usize,
    old: Cow<'a, str>,
    new: Cow<'a, str>,
    tolerance: Tolerance,
}

/// Why it was not.
enum Lost {
    Empty,
    Absent,
    Ambiguous { count: usize, lines: Vec<u64>, exact: bool },
}

/// The occurrences of something: how many, and where the first ones begin.
struct Places {
    first: Range<usize>,
    count: usize,
    starts: Vec<usize>,
}

impl Places {
    fn of(text: &str, piece: &str) -> Self {
        let mut places = Self { first: 0..0, count: 0, starts: Vec::new() };
        for at in Finder::new(piece).find_iter(text.as_bytes()) {
            places.add(at..at + piece.len());
        }
        places
    }

    fn add(&mut self, place: Range<usize>) {
        if self.starts.len() < NAMED_PLACES {
            self.starts.push(place.start);
        }
        if self.count == 0 {
            self.first = place;
        }
        self.count += 1;
    }

    /// The numbers of the lines in which they begin.
    fn lines(&self, text: &str) -> Vec<u64> {
        let (mut line, mut from) = (1, 0);
        let number = |start: &usize| {
            let between = text.as_bytes().get(from..*start).unwrap_or_default();
            line += memchr::memchr_iter(b'\n', between).count() as u64;
            from = *start;
            line
        };
        self.starts.iter().map(number).collect()
    }
}

/// The text with `\n` for every `\r\n`.
fn lf(text: &str) -> Cow<'_, str> {
    if memchr::memmem::find(text.as_bytes(), b"\r\n").is_some() {
        Cow::Owned(text.replace("\r\n", "\n"))
    } else {
        Cow::Borrowed(text)
    }
}
