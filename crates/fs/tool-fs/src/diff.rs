//! Differences of texts, by lines.

#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use dsh_tools_core::{FileDiff, Json, array, object};
use similar::{DiffOp, TextDiff};

/// Equal lines that are shown around a change.
const CONTEXT: usize = 3;
/// When a difference takes longer, what is left of the texts counts as replaced as a whole.
const PATIENCE: Duration = Duration::from_millis(200);

/// The changes from one text to another, in order: one entry for each group, with the lines around it on both sides.
/// Line breaks are `\n`; one at the end of a group is not part of it (spec 07 §6.6).
pub(crate) fn hunks(path: &Arc<str>, before: &str, after: &str) -> Vec<FileDiff> {
    let (old, new) = (lines(before), lines(after));
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

fn text(lines: &[&str]) -> Option<Arc<str>> {
    let text: String = lines.concat();
    (!lines.is_empty()).then(|| text.strip_suffix('\n').unwrap_or(&text).into())
}

/// Lines with their breaks, so that a missing one at the end is a difference.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}
