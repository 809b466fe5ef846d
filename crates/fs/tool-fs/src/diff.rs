//! Differences of texts, by lines.

#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use dsh_tools_core::{FileDiff, Json, array, object};
use memchr::{memchr_iter, memrchr_iter};
use similar::{DiffOp, TextDiff};

/// Equal lines that are shown around a change.
const CONTEXT: usize = 3;
/// Texts are compared in pieces of so many bytes before they are compared byte by byte.
const PIECE: usize = 4096;
/// When a difference takes longer, what is left of the texts counts as replaced as a whole.
const PATIENCE: Duration = Duration::from_millis(200);

/// The changes from one text to another, in order: one entry for each group, with the lines around it on both sides.
/// Line breaks are `\n`; one at the end of a group is not part of it (spec 07 §6.6).
///
/// Time is bounded: what both texts begin and end with is not looked at line by line, and texts without a line in common
/// are one change.
pub(crate) fn hunks(path: &Arc<str>, before: &str, after: &str) -> Vec<FileDiff> {
    let (before, after) = differing(before, after);
    let (old, new) = (lines(before), lines(after));
    if let Some(whole) = all_replaced(path, &old, &new) {
        return whole;
    }
    let diff = TextDiff::configure().timeout(PATIENCE).diff_slices(&old, &new);
    let groups = diff.grouped_ops(CONTEXT);
    groups.iter().filter_map(|group| hunk(path, group, &old, &new)).collect()
}

/// One whole-file change, for when there is nothing to compare with.
pub(crate) fn whole_file(path: &Arc<str>, content: &Arc<str>) -> FileDiff {
    FileDiff { path: Arc::clone(path), old_text: None, new_text: Arc::clone(content) }
}

/// The differences as a tool keeps them for the screen.
pub(crate) fn to_meta(diffs: &[FileDiff]) -> Json {
    let rows: Vec<Json> = diffs
        .iter()
        .map(|diff| object! { "path": &diff.path, "oldText": diff.old_text.clone(), "newText": &diff.new_text })
        .collect();
    if rows.is_empty() {
        object! { "diffs": array![] }
    } else {
        object! { "diffs": rows }
    }
}

/// The differences that a stored result has, if it has any and they are well-formed.
pub(crate) fn from_meta(meta: Option<&Json>) -> Option<Vec<FileDiff>> {
    let diffs: Vec<FileDiff> = meta?.get("diffs")?.read().ok()?;
    (!diffs.is_empty()).then_some(diffs)
}

fn hunk(path: &Arc<str>, group: &[DiffOp], old: &[&str], new: &[&str]) -> Option<FileDiff> {
    let (first, last) = (group.first()?, group.last()?);
    let side = |from: Range<usize>, to: Range<usize>, lines: &[&str]| text(lines.get(from.start..to.end)?);
    Some(FileDiff {
        path: Arc::clone(path),
        old_text: side(first.old_range(), last.old_range(), old),
        new_text: side(first.new_range(), last.new_range(), new).unwrap_or_default(),
    })
}

/// The middle parts in which two texts differ, with as many equal lines around as are shown, and one more.
fn differing<'a>(before: &'a str, after: &'a str) -> (&'a str, &'a str) {
    let (old, new) = (before.as_bytes(), after.as_bytes());
    let lead = lead(old, new);
    let rest = |text: &'a [u8]| text.get(lead..).unwrap_or_default();
    let tail = tail(rest(old), rest(new));
    // The last line that begins within what is shared, and the lines of context before it.
    let head = old.get(..lead).unwrap_or_default();
    let from = memrchr_iter(b'\n', head).nth(CONTEXT + 1).map_or(0, |at| at + 1);
    let end = old.get(old.len() - tail..).unwrap_or_default();
    let left_out = memchr_iter(b'\n', end).nth(CONTEXT + 1).map_or(0, |at| end.len() - at - 1);
    let middle = |text: &'a str| text.get(from..text.len() - left_out).unwrap_or(text);
    (middle(before), middle(after))
}

/// How many bytes two texts begin with alike: by pieces first, because most is alike.
fn lead(old: &[u8], new: &[u8]) -> usize {
    let pieces = old.chunks(PIECE).zip(new.chunks(PIECE)).take_while(|(old, new)| old == new);
    let whole = pieces.map(|(piece, _)| piece.len()).sum();
    let (old, new) = (old.get(whole..).unwrap_or_default(), new.get(whole..).unwrap_or_default());
    whole + old.iter().zip(new).take_while(|(old, new)| old == new).count()
}

/// How many bytes they end with alike.
fn tail(old: &[u8], new: &[u8]) -> usize {
    let pieces = old.rchunks(PIECE).zip(new.rchunks(PIECE)).take_while(|(old, new)| old == new);
    let whole: usize = pieces.map(|(piece, _)| piece.len()).sum();
    let old = old.get(..old.len() - whole).unwrap_or_default();
    let new = new.get(..new.len() - whole).unwrap_or_default();
    whole + old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count()
}

/// One change of everything, if there is no line that both sides have.
fn all_replaced(path: &Arc<str>, old: &[&str], new: &[&str]) -> Option<Vec<FileDiff>> {
    let known: HashSet<&str> = old.iter().copied().collect();
    if old.is_empty() || new.iter().any(|line| known.contains(line)) {
        return None;
    }
    let new_text = text(new).unwrap_or_default();
    Some(vec![FileDiff { path: Arc::clone(path), old_text: text(old), new_text }])
}

fn text(lines: &[&str]) -> Option<Arc<str>> {
    let text: String = lines.concat();
    (!lines.is_empty()).then(|| text.strip_suffix('\n').unwrap_or(&text).into())
}

/// Lines with their breaks, so that a missing one at the end is a difference.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}
