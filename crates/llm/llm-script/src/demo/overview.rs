//! The overview, written from what the survey has brought.

use super::results::{Listing, Matches, Reading};
use super::survey::{Survey, is_introduction};

/// How many rows a list has.
const MAX_ROWS: usize = 8;

/// How many places of open ends are named.
const MAX_PLACES: usize = 5;

/// How many characters of a line are shown.
const MAX_CHARACTERS: usize = 100;

/// The overview in Markdown. What failed is said instead of what it would have told.
pub(super) fn render(survey: &Survey) -> String {
    let mut out = String::from("# Overview of the workspace\n");
    paragraph(&mut out, &introduction(survey));
    if let Some(files) = survey.listing().filter(|files| files.total > 0) {
        let shown = if files.is_complete() { "" } else { SAMPLED };
        let kinds = survey.kinds().into_iter().map(|(kind, count)| {
            let kind =
                if kind.is_empty() { "without extension".to_owned() } else { code(&format!(".{kind}")) };
            (kind, count)
        });
        table(&mut out, &format!("Files by kind{shown}"), kinds.collect());
        let directories =
            survey.directories().into_iter().map(|(name, count)| (code(&format!("{name}/")), count));
        table(&mut out, &format!("Largest directories{shown}"), directories.collect());
    }
    if survey.listing().is_none_or(|files| files.total > 0) {
        open_ends(&mut out, survey.open_ends.as_ref());
    }
    readings(&mut out, &survey.readings);
    paragraph(&mut out, CLOSING);
    out
}

fn introduction(survey: &Survey) -> String {
    let size = match &survey.files {
        None => "The files could not be listed.".to_owned(),
        Some(Err(error)) => format!("The files could not be listed: {}", first_line(error)),
        Some(Ok(Listing { total: 0, .. })) => "It is empty: there are no files in it.".to_owned(),
        Some(Ok(files)) => {
            let partial = if files.partial { " Not everything could be looked at." } else { "" };
            format!(
                "{} in all, hidden and ignored ones included.{partial}",
                counted(files.total, "file", "files")
            )
        }
    };
    match survey
        .readings
        .iter()
        .find_map(|(path, reading)| Some((path, heading(path, reading.as_ref().ok()?)?)))
    {
        Some((path, heading)) => format!("**{heading}**, says {}. {size}", code(path)),
        None => size,
    }
}

fn table(out: &mut String, title: &str, rows: Vec<(String, usize)>) {
    if rows.is_empty() {
        return;
    }
    paragraph(out, &format!("## {title}"));
    out.push('\n');
    let more = rows.len().saturating_sub(MAX_ROWS);
    for (name, count) in rows.into_iter().take(MAX_ROWS) {
        line(out, &format!("- {name}: {count}"));
    }
    if more > 0 {
        line(out, &format!("- and {more} more"));
    }
}

fn open_ends(out: &mut String, found: Option<&Result<Matches, String>>) {
    paragraph(out, "## Open ends");
    match found {
        None => paragraph(out, "They were not searched for."),
        Some(Err(error)) => paragraph(out, &format!("The search for them failed: {}", first_line(error))),
        Some(Ok(Matches { total: 0, .. })) => paragraph(out, "No line says TODO or FIXME."),
        Some(Ok(found)) => {
            let lines = counted(found.total, "line says", "lines say");
            paragraph(out, &format!("{lines} TODO or FIXME. The first:"));
            out.push('\n');
            for place in found.shown.iter().take(MAX_PLACES) {
                let at = code(&format!("{}:{}", place.path, place.line));
                line(out, &format!("- {at} {}", code(&shortened(&place.text))));
            }
        }
    }
}

fn readings(out: &mut String, readings: &[(String, Result<Reading, String>)]) {
    if readings.is_empty() {
        return;
    }
    paragraph(out, "## What was read");
    out.push('\n');
    let mut lines = 0;
    for (path, reading) in readings {
        let path = code(path);
        match reading {
            Ok(reading) if reading.total > reading.lines.len() => {
                line(out, &format!("- {path}: {} of {} lines", reading.lines.len(), reading.total));
            }
            Ok(reading) => line(out, &format!("- {path}: {}", counted(reading.lines.len(), "line", "lines"))),
            Err(error) => line(out, &format!("- {path}: could not be read: {}", first_line(error))),
        }
        lines += reading.as_ref().map_or(0, |reading| reading.lines.len());
    }
    paragraph(out, &format!("{} in all.", counted(lines, "line", "lines")));
}

/// The first heading of the file that introduces the workspace: `# so`, or a line that is underlined.
fn heading(path: &str, reading: &Reading) -> Option<String> {
    if path.contains('/') || !is_introduction(path) {
        return None;
    }
    let underlines = reading.lines.iter().skip(1).map(String::as_str).chain([""]);
    let mut rows = reading.lines.iter().map(String::as_str).zip(underlines);
    let found = rows.find_map(|(text, under)| {
        let hashed = text.trim_start_matches('#');
        let is_hashed = hashed.len() < text.len() && hashed.starts_with(' ');
        let underlined =
            under.len() >= 3 && (under.bytes().all(|b| b == b'=') || under.bytes().all(|b| b == b'-'));
        let is_underlined = underlined && !text.trim().is_empty() && !text.starts_with(['=', '-']);
        (is_hashed || is_underlined).then(|| shortened(hashed.trim()))
    });
    found.filter(|text| !text.is_empty())
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

fn first_line(text: &str) -> String {
    shortened(text.lines().next().unwrap_or_default())
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_CHARACTERS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// A code span that holds the text, backticks and all.
fn code(text: &str) -> String {
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}

fn paragraph(out: &mut String, text: &str) {
    out.push('\n');
    line(out, text);
}

fn line(out: &mut String, text: &str) {
    out.push_str(text);
    out.push('\n');
}

const SAMPLED: &str = ", as far as they were counted";

const CLOSING: &str = "This is the demonstration model: it writes this overview whatever it is asked. \
Configure a model to have your own question answered.";
