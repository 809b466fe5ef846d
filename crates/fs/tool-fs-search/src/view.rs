//! What the screen shows: facts that are kept with a result, and cards that are made of them (spec 07 §7.5).

use std::sync::Arc;

use dsh_json::Json;
use dsh_tools_core::{FileMatches, Match, ResultView, SearchView, StoredResult};

use crate::page::FilePage;
use crate::sample::Sample;

/// The shown paths, as many as `max_bytes` of JSON hold, and one in any case.
pub(crate) fn paths_meta(sample: &Sample<'_>, total: usize, max_bytes: usize) -> Option<Json> {
    let view = |paths, truncated| SearchView::Paths { paths, truncated, total: total as u64 };
    let mut budget = Budget::of(&view(Vec::new(), sample.paths.len() < total), max_bytes)?;
    let mut paths: Vec<Arc<str>> = Vec::new();
    for path in &sample.paths {
        if !budget.take(text_bytes(path)) && !paths.is_empty() {
            break;
        }
        paths.push(Arc::from(*path));
    }
    let truncated = paths.len() < total;
    Json::from_serialize(&view(paths, truncated)).ok()
}

/// The shown matches, as many as `max_bytes` of JSON hold, and one in any case.
pub(crate) fn matches_meta(pages: &[FilePage<'_>], total: usize, max_bytes: usize) -> Option<Json> {
    let view = |files, truncated| SearchView::Matches { files, truncated, total: total as u64 };
    let shown: usize = pages.iter().map(|page| page.lines.len()).sum();
    let mut budget = Budget::of(&view(Vec::new(), shown < total), max_bytes)?;
    let mut files: Vec<FileMatches> = Vec::new();
    'files: for page in pages {
        let mut file = FileMatches { path: page.path.into(), matches: Vec::new() };
        // The first match brings a comma too many.
        let mut room = budget.take(text_bytes(page.path) + r#"{"path":,"matches":[]}"#.len() - 1);
        for (line_number, line) in &page.lines {
            let bytes = text_bytes(line) + line_number.to_string().len() + r#"{"lineNumber":,"line":}"#.len();
            room = budget.take(bytes) && room;
            if !room && (!files.is_empty() || !file.matches.is_empty()) {
                if !file.matches.is_empty() {
                    files.push(file);
                }
                break 'files;
            }
            file.matches.push(Match { line_number: *line_number, line: (&**line).into() });
        }
        files.push(file);
    }
    let kept: usize = files.iter().map(|file| file.matches.len()).sum();
    Json::from_serialize(&view(files, kept < total)).ok()
}

/// The card of a `glob`, when its facts are those of one.
pub(crate) fn paths_card(result: &StoredResult<'_>) -> Option<ResultView> {
    let view = stored(result)?;
    let valid = matches!(&view, SearchView::Paths { paths, total, .. } if paths.len() as u64 <= *total);
    valid.then_some(ResultView::Search(view))
}

/// The card of a `grep`, when its facts are those of one.
pub(crate) fn matches_card(result: &StoredResult<'_>) -> Option<ResultView> {
    let view = stored(result)?;
    let SearchView::Matches { files, total, .. } = &view else { return None };
    let lines = || files.iter().flat_map(|file| &file.matches);
    let valid = lines().count() as u64 <= *total && lines().all(|found| found.line_number > 0);
    valid.then_some(ResultView::Search(view))
}

fn stored(result: &StoredResult<'_>) -> Option<SearchView> {
    if result.is_error { None } else { result.meta?.read().ok() }
}

/// What is left of a limit on JSON text.
struct Budget(usize);

impl Budget {
    fn of(empty: &SearchView, max_bytes: usize) -> Option<Self> {
        let envelope = Json::from_serialize(empty).ok()?.to_text().len();
        // The first item of a list has no comma before it.
        Some(Self((max_bytes + 1).saturating_sub(envelope)))
    }

    /// Takes an item with its comma. Once something did not fit, nothing does.
    fn take(&mut self, bytes: usize) -> bool {
        let left = self.0.checked_sub(bytes + 1);
        self.0 = left.unwrap_or(0);
        left.is_some()
    }
}

/// The bytes of a text in JSON, quotes included.
fn text_bytes(text: &str) -> usize {
    Json::from(text).to_text().len()
}

#[cfg(test)]
mod tests;
