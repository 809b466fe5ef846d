//! Every text that a model reads.

use std::fmt::Write as _;

use dsh_fs::{SearchWarning, one_line};
use dsh_tools_core::ToolError;

use crate::page::FilePage;
use crate::sample::{Basis, Sample};
use crate::spill::{Lost, Rest};

pub(crate) const GLOB_DESCRIPTION: &str = "Finds files by name. Hidden and ignored files are found, too; the data of \
    version control is not. Files come in the order of their last change, the oldest first.";

pub(crate) const GREP_DESCRIPTION: &str = "Finds lines by a regular expression. Each line is searched on its own. \
    Hidden, ignored and binary files are passed over.";

/// Stands for a line that can't be shown.
pub(crate) const NOT_TEXT: &str = "[this line is not UTF-8 text]";

pub(crate) const STOPPED_EARLY: &str = "the search stopped early, so there is more than was found";

/// The part of the prompt about `glob`.
pub(crate) fn glob_guidance(sampled: bool, max_results: usize) -> String {
    let shown = match (sampled, max_results) {
        (true, _) => "some from each top-level entry of the searched directory",
        (false, 1) => "the first one",
        (false, _) => "the first ones",
    };
    let files = count(max_results, "file", "files");
    format!(
        "Use `glob` to find files by name. A pattern without `/`, such as `*.rs`, is compared with file names at any \
         depth; one with `/`, such as `src/**/*.ts`, with whole paths below `path`. Of more than {files} you see {shown}; \
         narrow `pattern` or `path` to see the others."
    )
}

/// The part of the prompt about `grep`.
pub(crate) fn grep_guidance(max_matches: usize) -> String {
    let matches = if max_matches == 1 { "match".to_owned() } else { format!("{max_matches} matches") };
    format!(
        "Use `grep` to find lines in files by a regular expression, in the syntax of Rust: a literal `(`, `[`, `{{` or \
         `.` needs a backslash, and there is no lookaround. Limit the files with `path` and `include` (one glob, such as \
         `*.{{ts,tsx}}`); an `include` also opens the hidden and ignored files that it matches. You see the first \
         {matches}; narrow the search to see the others."
    )
}

/// What a `glob` found.
pub(crate) fn glob_result(sample: &Sample<'_>, total: usize, rest: &Rest, warnings: &[String]) -> String {
    let mut text = if sample.paths.is_empty() {
        "No files found".to_owned()
    } else {
        path_list(sample.paths.iter().copied())
    };
    let go_on = how_to_go_on(rest, "Narrow the pattern or the path to see the others.");
    let shown = sample.paths.len();
    // Writing to a `String` can't fail.
    let _ = match sample.basis {
        Basis::All => Ok(()),
        Basis::Head if shown == 1 => write!(text, "\n\n(This is the first of {total} files. {go_on})"),
        Basis::Head => write!(text, "\n\n(These are the first {shown} of {total} files. {go_on})"),
        Basis::Entries { reached, total: entries } => write!(
            text,
            "\n\n({} {shown} of {total} files, taken in turn from {reached} of {}. {go_on}{})",
            if shown == 1 { "This is" } else { "These are" },
            count(entries, "top-level entry", "top-level entries"),
            if reached < entries {
                " To see an entry that is missing here, give it as the path."
            } else {
                ""
            }
        ),
    };
    push_warnings(&mut text, warnings);
    text
}

/// One path per line.
pub(crate) fn path_list<'a>(paths: impl Iterator<Item = &'a str>) -> String {
    paths.map(one_line).collect::<Vec<_>>().join("\n")
}

/// What a `grep` found.
pub(crate) fn grep_result(pages: &[FilePage<'_>], total: usize, rest: &Rest, warnings: &[String]) -> String {
    let shown: usize = pages.iter().map(|page| page.lines.len()).sum();
    let mut text = match (shown, total) {
        (_, 0) => "No matches found".to_owned(),
        _ if shown < total => format!("Found {shown} of {total} matches"),
        _ => format!("Found {}", count(total, "match", "matches")),
    };
    for page in pages {
        // Writing to a `String` can't fail.
        let _ = write!(text, "\n\n{}:", one_line(page.path));
        for (number, line) in &page.lines {
            let _ = write!(text, "\nLine {number}: {line}");
        }
    }
    if shown < total {
        let go_on = how_to_go_on(rest, "Narrow the pattern, the path or the include to see them.");
        let _ = write!(text, "\n\n(The others are not shown. {go_on})");
    }
    push_warnings(&mut text, warnings);
    text
}

/// How to see what is not shown.
fn how_to_go_on(rest: &Rest, narrow: &str) -> String {
    let why = match rest {
        Rest::NotKept => return narrow.to_owned(),
        Rest::Kept(saved) => {
            return format!(
                "The complete list is at {}. {}",
                one_line(saved.locator.as_str()),
                saved.retrieval_hint
            );
        }
        Rest::Lost(Lost::NoOwner) => ", because this call belongs to no session".to_owned(),
        Rest::Lost(Lost::Failed) => String::new(),
        Rest::Lost(Lost::Late(limit)) => format!(" within {} ms", limit.as_millis()),
    };
    format!("The complete list could not be saved{why}. {narrow}")
}

/// A number with its noun.
fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

fn push_warnings(text: &mut String, warnings: &[String]) {
    if warnings.is_empty() {
        return;
    }
    text.push_str("\n\nNot everything could be searched:");
    for warning in warnings {
        text.push_str("\n- ");
        text.push_str(warning);
    }
}

/// One thing that could not be searched.
pub(crate) fn warning(warning: &SearchWarning) -> String {
    format!("{}: {}", one_line(&warning.path), warning.kind)
}

pub(crate) fn more_warnings(more: usize) -> String {
    format!("and {more} more")
}

/// What stands behind the beginning of a long line.
pub(crate) fn cut_mark(bytes: usize) -> String {
    format!(" [cut; the line has {bytes} bytes]")
}

pub(crate) fn unavailable() -> ToolError {
    ToolError::new("SearchError", "SEARCH_FAILED", "there is no search in this session; use other tools")
}

pub(crate) fn blank(field: &str) -> ToolError {
    ToolError::plain(format!("`{field}` is blank; give a value, or leave it out where it is optional"))
}

pub(crate) fn empty_pattern() -> ToolError {
    ToolError::plain("`pattern` is empty and would match every line; give a regular expression")
}

pub(crate) fn negative_include() -> ToolError {
    ToolError::plain("`include` can't begin with `!`; name the files to search, not those to leave out")
}

pub(crate) fn several_includes() -> ToolError {
    ToolError::plain("`include` is one glob; put alternatives in braces, such as `*.{ts,tsx}`")
}

/// The title of a call of `glob`.
pub(crate) fn glob_title(pattern: &str, path: Option<&str>) -> String {
    let place = path.map(|path| format!(" in {}", one_line(path))).unwrap_or_default();
    format!("Find {}{place}", one_line(pattern))
}

/// The title of a call of `grep`.
pub(crate) fn grep_title(pattern: &str, path: Option<&str>, include: Option<&str>) -> String {
    let place = path.map(|path| format!(" in {}", one_line(path))).unwrap_or_default();
    let files = include.map(|include| format!(" ({})", one_line(include))).unwrap_or_default();
    format!("Search for {}{place}{files}", one_line(pattern))
}
