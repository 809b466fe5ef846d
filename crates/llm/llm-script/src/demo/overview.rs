//! The overview, written from what the survey has brought.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::apart::{Why, apart};
use super::programs::Count;
use super::results::{Listing, Match, Matches, Reading};
use super::survey::{Survey, is_introduction};

/// How many kinds, or directories, are named.
const MAX_ROWS: usize = 6;

/// How many places of open ends are named.
const MAX_PLACES: usize = 5;

/// How many directories of a sort that are left out are named.
const MAX_APART: usize = 3;

/// What marks an open end.
const MARKS: &str = "TODO or FIXME";

/// How many characters of a line are shown.
const MAX_CHARACTERS: usize = 100;

/// How many characters of an introduction are shown.
const MAX_INTRODUCTION: usize = 240;

/// The overview in Markdown, at most 25 lines. What failed is said instead of what it would have told.
pub(super) fn render(survey: &Survey) -> String {
    let mut out = String::from("# Overview of the workspace\n");
    if let Some(words) = introduction(survey) {
        paragraph(&mut out, &words);
    }
    paragraph(&mut out, &size(survey));
    let rows = [
        ("Kinds", kinds(survey)),
        ("Directories", directories(survey)),
        ("Lines", survey.count.as_ref().map(lines).unwrap_or_default()),
        ("Longest", survey.count.as_ref().map(longest).unwrap_or_default()),
        ("Read", readings(&survey.readings)),
    ];
    let rows: Vec<_> = rows.into_iter().filter(|(_, words)| !words.is_empty()).collect();
    if !rows.is_empty() {
        out.push('\n');
    }
    for (title, words) in rows {
        line(&mut out, &format!("- {title}: {words}"));
    }
    if survey.total() != Some(0) {
        open_ends(&mut out, survey);
    }
    paragraph(&mut out, CLOSING);
    out
}

/// What the workspace says of itself.
fn introduction(survey: &Survey) -> Option<String> {
    survey.readings.iter().find_map(|(path, reading)| {
        let (heading, words) = heading(path, reading.as_ref().ok()?)?;
        let words = if words.is_empty() { ".".to_owned() } else { format!(": {words}") };
        Some(format!("**{heading}**, says {}{words}", code(path)))
    })
}

fn size(survey: &Survey) -> String {
    let own = match &survey.files {
        None => return "The files could not be listed.".to_owned(),
        Some(Err(error)) => return format!("The files could not be listed: {}", first_line(error)),
        Some(Ok(files)) => files,
    };
    let total = survey.total().unwrap_or(own.total);
    let apart = left_out(survey, total > 0);
    let partial = own.partial || survey.left_out().is_some_and(|files| files.partial);
    let partial = if partial { " Not everything could be looked at." } else { "" };
    match (total, apart) {
        (0, None) => format!("It is empty: there are no files in it.{partial}"),
        (0, Some(apart)) => format!("There are no files of its own in it. {apart}{partial}"),
        (total, apart) => {
            let apart = apart.map(|apart| format!(" {apart}")).unwrap_or_default();
            format!("{}.{apart}{partial}", counted(total, "file", "files"))
        }
    }
}

/// What the overview passes over, and why.
fn left_out(survey: &Survey, more: bool) -> Option<String> {
    let listing = match &survey.apart {
        Some(Ok(Listing { total: 0, .. })) => return None,
        Some(Ok(listing)) => listing,
        None | Some(Err(_)) => {
            let sorts = survey.some_apart.as_ref().map(|some| sorts(&some.paths)).unwrap_or_default();
            return Some(match (sorts.is_empty(), more) {
                (true, _) => {
                    "Build output, dependencies and hidden directories are left out, and could not be counted."
                        .to_owned()
                }
                (false, true) => format!("More files are left out, and were not counted:{sorts}."),
                (false, false) => format!("Files are left out, and were not counted:{sorts}."),
            });
        }
    };
    let sorts = sorts(&listing.paths);
    let colon = if sorts.is_empty() { "" } else { ":" };
    let files = match (more, listing.total) {
        (true, 1) => "1 more file is".to_owned(),
        (true, total) => format!("{} more files are", grouped(total)),
        (false, total) => counted(total, "file is", "files are"),
    };
    Some(format!("{files} left out{colon}{sorts}."))
}

/// Which directories are left out, by the reason; empty when there are none.
fn sorts(paths: &[String]) -> String {
    let mut names: BTreeMap<Why, Vec<String>> = BTreeMap::new();
    for found in paths.iter().filter_map(|path| apart(path)) {
        let known = names.entry(found.why).or_default();
        let name = code(&format!("{}/", found.name));
        if !known.contains(&name) {
            known.push(name);
        }
    }
    let sorts: Vec<_> = names
        .into_iter()
        .map(|(why, mut names)| {
            names.sort();
            let sort = match why {
                Why::Build => "what looks like build output in",
                Why::Dependencies => "what looks like dependencies in",
                Why::Hidden => "what is hidden in",
            };
            format!(" {sort} {}", some_of(&names, MAX_APART))
        })
        .collect();
    sorts.join(";")
}

fn kinds(survey: &Survey) -> String {
    let rows = survey.kinds().into_iter().map(|(kind, count)| (kind_name(&kind), count));
    shares(survey, rows.collect(), "others")
}

fn kind_name(kind: &str) -> String {
    if kind.is_empty() { "no extension".to_owned() } else { code(&format!(".{kind}")) }
}

fn directories(survey: &Survey) -> String {
    if let Some((count, is_exact)) = survey.uncounted_directories() {
        return format!("{}{} at the top", if is_exact { "" } else { "at least " }, grouped(count));
    }
    let rows = survey.directories().into_iter().map(|(name, count)| (code(&format!("{name}/")), count));
    shares(survey, rows.collect(), "elsewhere")
}

/// The largest shares, and what is left of all files.
fn shares(survey: &Survey, mut rows: Vec<(String, usize)>, rest: &str) -> String {
    rows.truncate(MAX_ROWS);
    if rows.is_empty() {
        return String::new();
    }
    let total = survey.total().unwrap_or(0);
    let left = total.saturating_sub(rows.iter().map(|(_, count)| count).sum());
    rows.extend((left > 0).then(|| (rest.to_owned(), left)));
    let rows: Vec<_> = rows.into_iter().map(|(name, count)| format!("{name} {}", grouped(count))).collect();
    rows.join(", ")
}

/// Lines by kind. Estimates are rounded, so that they look like what they are.
fn lines(count: &Count) -> String {
    let is_sample = count.tried < count.sources;
    let number = |lines| {
        if is_sample { format!("about {}", grouped(rounded(lines))) } else { grouped(lines) }
    };
    let rows = by_count(&count.lines).into_iter();
    let rows: Vec<_> = rows.map(|(kind, lines)| format!("{} {}", kind_name(kind), number(lines))).collect();
    if rows.is_empty() {
        return String::new();
    }
    let note = match (is_sample, count.unreadable) {
        (true, unreadable) => {
            let read = grouped(count.tried.saturating_sub(unreadable));
            format!(" ({read} of {} source files were read)", grouped(count.sources))
        }
        (false, 0) => String::new(),
        (false, unreadable) => {
            format!(" ({} could not be read)", counted(unreadable, "source file", "source files"))
        }
    };
    format!("{}{note}", rows.join(", "))
}

fn longest(count: &Count) -> String {
    let rows = by_count(&count.longest).into_iter();
    let rows = rows.map(|(path, lines)| format!("{} ({})", code(path), counted(lines, "line", "lines")));
    rows.collect::<Vec<_>>().join(", ")
}

fn by_count(rows: &[(String, usize)]) -> Vec<(&str, usize)> {
    let mut rows: Vec<_> =
        rows.iter().map(|(name, count)| (&**name, *count)).filter(|(_, count)| *count > 0).collect();
    rows.sort_by_key(|(_, count)| Reverse(*count));
    rows
}

/// The number in two digits that count.
fn rounded(number: usize) -> usize {
    let unit = 10_usize.pow(number.checked_ilog10().unwrap_or(0).saturating_sub(1));
    (number + unit / 2) / unit * unit
}

fn readings(readings: &[(String, Result<Reading, String>)]) -> String {
    let row = |(path, reading): &(String, Result<Reading, String>)| {
        let words = match reading {
            Ok(reading) if reading.total > reading.lines.len() => {
                format!("{} of {} lines", grouped(reading.lines.len()), grouped(reading.total))
            }
            Ok(reading) => counted(reading.lines.len(), "line", "lines"),
            Err(error) => format!("failed: {}", first_line(error)),
        };
        format!("{} ({words})", code(path))
    };
    readings.iter().map(row).collect::<Vec<_>>().join(", ")
}

fn open_ends(out: &mut String, survey: &Survey) {
    let found = match &survey.open_ends {
        None => return paragraph(out, &format!("{MARKS} was not searched for.")),
        Some(Err(error)) => {
            return paragraph(out, &format!("The search for {MARKS} failed: {}", first_line(error)));
        }
        Some(Ok(found)) => found,
    };
    let own: Vec<_> = found.shown.iter().filter(|found| apart(&found.path).is_none()).collect();
    let words = how_many(found, own.len(), survey.left_out().is_some_and(|files| files.total == 0));
    if own.is_empty() {
        return paragraph(out, &words);
    }
    paragraph(out, &format!("{words} The first:"));
    out.push('\n');
    for Match { path, line: number, text } in own.into_iter().take(MAX_PLACES) {
        let at = code(&format!("{path}:{number}"));
        line(out, &format!("- {at} {}", code(&shortened(text, MAX_CHARACTERS))));
    }
}

/// How many lines are open ends of the project's own files. A page of matches tells all only when nothing is left out.
fn how_many(found: &Matches, own: usize, nothing_apart: bool) -> String {
    let is_page = found.shown.len() < found.total;
    match (own, is_page) {
        (0, false) => format!("No line says {MARKS}."),
        (0, true) => {
            format!("None of the first {} lines that say {MARKS} is in these files.", found.shown.len())
        }
        (own, true) if !nothing_apart => {
            format!("At least {} {MARKS}.", counted(own, "line says", "lines say"))
        }
        (_, true) => format!("{} {MARKS}.", counted(found.total, "line says", "lines say")),
        (own, false) => format!("{} {MARKS}.", counted(own, "line says", "lines say")),
    }
}

/// The first heading of the file that introduces the workspace, `# so` or a line that is underlined, and the paragraph
/// below it.
fn heading(path: &str, reading: &Reading) -> Option<(String, String)> {
    if path.contains('/') || !is_introduction(path) {
        return None;
    }
    let heading_at = |at: usize| {
        let text = reading.lines.get(at)?;
        let under = reading.lines.get(at + 1).map_or("", |under| under.trim_end());
        let hashed = text.trim_start_matches('#');
        let is_hashed = hashed.len() < text.len() && hashed.starts_with(' ');
        let underlined =
            under.len() >= 3 && (under.bytes().all(|b| b == b'=') || under.bytes().all(|b| b == b'-'));
        let is_underlined = underlined && !text.trim().is_empty() && !text.starts_with(['=', '-']);
        let words = hashed.trim();
        let next = at + if is_hashed { 1 } else { 2 };
        ((is_hashed || is_underlined) && !words.is_empty()).then_some((words, next))
    };
    let (words, below) = (0..reading.lines.len()).find_map(heading_at)?;
    let next =
        (below..reading.lines.len()).find(|at| heading_at(*at).is_some()).unwrap_or(reading.lines.len());
    let section = reading.lines.get(below..next).unwrap_or_default();
    Some((shortened(words, MAX_CHARACTERS), first_paragraph(section)))
}

/// The first lines of running text, as one: no pictures, markup, lists and tables.
fn first_paragraph(lines: &[String]) -> String {
    let is_text =
        |text: &str| text.starts_with(|first: char| first.is_alphanumeric() || "`*\"'(".contains(first));
    let is_listed = |text: &str| text.starts_with("* ") || text.starts_with("```");
    let lines = lines.iter().map(|text| text.trim()).skip_while(|text| !is_text(text) || is_listed(text));
    let words: Vec<_> = lines.take_while(|text| !text.is_empty() && !is_listed(text)).collect();
    shortened(&words.join(" "), MAX_INTRODUCTION)
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{} {}", grouped(count), if count == 1 { one } else { many })
}

/// A number with a comma at every thousand.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// At most so many of the names, and how many more there are.
fn some_of(names: &[String], max: usize) -> String {
    let shown = names.iter().take(max).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(max) {
        0 => shown,
        more => format!("{shown} and {} more", grouped(more)),
    }
}

fn first_line(text: &str) -> String {
    shortened(text.lines().next().unwrap_or_default(), MAX_CHARACTERS)
}

fn shortened(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default().trim_end()),
        None => text.to_owned(),
    }
}

/// A code span that holds the text, backticks and all, on one line.
fn code(text: &str) -> String {
    let text = text.replace(char::is_control, "\u{fffd}");
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

const CLOSING: &str = "To have your own question answered, configure a model.";
