//! Putting the new text in, and nothing else.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem::Finder;

use super::{Found, lf};

/// A text, and the same with `\n` for every line break.
pub(super) struct Source<'a> {
    text: &'a str,
    pub(super) plain: Cow<'a, str>,
    /// Where in `plain` the line breaks are that have a `\r` before them in `text`.
    marked: Vec<usize>,
}

/// The part of a found place that is really replaced, by what.
struct Change<'a> {
    lead: usize,
    tail: usize,
    new: &'a str,
}

impl<'a> Source<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let returns = Finder::new("\r\n");
        let marked = returns.find_iter(text.as_bytes()).enumerate().map(|(before, at)| at - before).collect();
        Self { text, plain: lf(text), marked }
    }

    /// The text with all that was found replaced.
    pub(super) fn replace(&self, found: &Found<'_>) -> String {
        let place = self.plain.get(found.first.clone()).unwrap_or_default();
        let change = change(place, &found.old, &found.new, found.tolerance.trailing_blanks);
        let breaks = if self.marked.is_empty() || !change.new.contains('\n') {
            Vec::new()
        } else {
            memchr::memchr_iter(b'\n', self.plain.as_bytes()).collect()
        };
        let mut out = String::with_capacity(self.text.len() + found.new.len() * found.count.min(1024));
        let mut copied = 0;
        let mut put = |place: Range<usize>| {
            let core = place.start + change.lead..place.end - change.tail;
            out.push_str(self.text.get(copied..self.stored(core.start)).unwrap_or_default());
            self.put(&mut out, change.new, &place, &core, &breaks);
            copied = self.stored(core.end);
        };
        if found.count == 1 {
            put(found.first.clone());
        } else {
            for at in Finder::new(found.old.as_bytes()).find_iter(self.plain.as_bytes()) {
                put(at..at + found.old.len());
            }
        }
        out.push_str(self.text.get(copied..).unwrap_or_default());
        out
    }

    /// Where a place of `plain` is in `text`: before the `\r` of a line break.
    fn stored(&self, at: usize) -> usize {
        at + self.marked.partition_point(|marked| *marked < at)
    }

    /// Writes the new text with the line breaks of where it goes. Without `breaks`, they are `\n`.
    fn put(&self, out: &mut String, new: &str, place: &Range<usize>, core: &Range<usize>, breaks: &[usize]) {
        if breaks.is_empty() {
            return out.push_str(new);
        }
        let at = |at: usize| breaks.partition_point(|line_break| *line_break < at);
        let (first, past) = (at(core.start), at(core.end));
        // Like the one that it replaces; beyond those, like the last one of them.
        let replaced = breaks.get(first..past).unwrap_or_default();
        let before = first.checked_sub(1).and_then(|before| breaks.get(before));
        let after = breaks.get(past);
        let nearest =
            replaced.last().or(before.filter(|before| **before >= place.start)).or(after).or(before);
        let mut replaced = replaced.iter();
        for line in new.split_inclusive('\n') {
            let Some(line) = line.strip_suffix('\n') else { return out.push_str(line) };
            let like = replaced.next().or(nearest);
            let is_marked = like.is_some_and(|like| self.marked.binary_search(like).is_ok());
            out.push_str(line);
            out.push_str(if is_marked { "\r\n" } else { "\n" });
        }
    }
}

/// Leaves out what old and new share at both ends: by characters, and where those of the place are not one for one those
/// of the old text, by whole lines.
fn change<'a>(place: &str, old: &str, new: &'a str, by_lines: bool) -> Change<'a> {
    let split = |text| if by_lines { lines(text) } else { chars(text) };
    let (place, old, pieces) = (split(place), split(old), split(new));
    let bytes =
        |pieces: Option<&[&str]>| pieces.unwrap_or_default().iter().map(|piece| piece.len()).sum::<usize>();
    let lead = old.iter().zip(&pieces).take_while(|(old, new)| old == new).count();
    let room = old.len().min(pieces.len()) - lead;
    let ends = old.iter().rev().zip(pieces.iter().rev()).take(room);
    let tail = ends.take_while(|(old, new)| old == new).count();
    let kept = bytes(pieces.get(..lead))..bytes(pieces.get(..pieces.len() - tail));
    Change {
        lead: bytes(place.get(..lead)),
        tail: bytes(place.get(place.len().saturating_sub(tail)..)),
        new: new.get(kept).unwrap_or_default(),
    }
}

fn chars(text: &str) -> Vec<&str> {
    text.char_indices().filter_map(|(at, char)| text.get(at..at + char.len_utf8())).collect()
}

/// The lines with their breaks, and what follows the last break.
fn lines(text: &str) -> Vec<&str> {
    let last = text.rfind('\n').map_or(0, |at| at + 1);
    let (whole, rest) = text.split_at(last);
    whole.split_inclusive('\n').chain([rest]).collect()
}
