//! Spec 07 §6.2 a second time, as naively as possible: what a read shows of a text. It also knows how the original decides
//! where we differ.

use dsh_json::{Json, object};
use dsh_tool_fs::FsToolsConfig;

use crate::file::HALF;

/// Where our decisions change what is shown. All on: ours. All off: the original's.
#[derive(Debug, Clone, Copy)]
pub(super) struct Decisions {
    /// The mark of a cut line says how to go on.
    pub(super) marks_go_on: bool,
    /// No cut through a character.
    pub(super) whole_characters: bool,
    /// A first line over the byte cap is cut.
    pub(super) never_empty: bool,
}

pub(super) const OURS: Decisions = Decisions { marks_go_on: true, whole_characters: true, never_empty: true };
pub(super) const THEIRS: Decisions =
    Decisions { marks_go_on: false, whole_characters: false, never_empty: false };

/// What is asked for.
pub(super) struct Asked {
    offset: u64,
    limit: u64,
    max_line: usize,
    max_bytes: usize,
}

impl Asked {
    /// Of good arguments that the original knows, too.
    pub(super) fn of(arguments: &Json, config: &FsToolsConfig) -> Option<Self> {
        let number = |name: &str, default: u64| match arguments.get(name) {
            None => Some(default),
            Some(number) => number.as_u64().filter(|number| *number > 0),
        };
        let limit = config.read_limit.get();
        if arguments.get("column").is_some() {
            return None;
        }
        Some(Self {
            offset: number("offset", 1)?,
            limit: number("limit", limit)?,
            max_line: usize::try_from(config.read_max_line_length.get()).ok()?,
            max_bytes: usize::try_from(config.read_max_bytes.get()).ok()?,
        })
    }
}

/// The value of a read.
pub(super) fn value(path: &str, text: &str, asked: &Asked, decisions: Decisions) -> Json {
    let body = text.strip_suffix('\n').unwrap_or(text);
    let lines: Vec<&str> = if text.is_empty() { Vec::new() } else { body.split('\n').collect() };
    let (mut shown, mut bytes) = (Vec::new(), 0);
    let from = usize::try_from(asked.offset - 1).unwrap_or(usize::MAX);
    for (number, line) in (1_u64..).zip(&lines).skip(from) {
        if shown.len() as u64 == asked.limit {
            break;
        }
        let line = line.strip_suffix('\r').unwrap_or(line);
        let mut cut = cut(line, number, asked.max_line, decisions);
        let separator = usize::from(!shown.is_empty());
        if bytes + separator + cut.len() > asked.max_bytes {
            if !decisions.never_empty || !shown.is_empty() {
                break;
            }
            cut = fitted(line, number, asked, decisions);
        }
        bytes += separator + cut.len();
        shown.push(object! { "number": number, "text": cut });
    }
    object! { "path": path, "offset": asked.offset, "lines": shown, "totalLines": lines.len() as u64 }
}

/// A line with its mark, when it is longer than the cap.
fn cut(line: &str, number: u64, max: usize, decisions: Decisions) -> String {
    if units(line) <= max {
        return line.to_owned();
    }
    let mut kept = first_units(line, max).to_owned();
    let shown = units(&kept);
    if shown < max && !decisions.whole_characters {
        kept.push(HALF);
    }
    kept + &mark(line, number, shown, max, decisions)
}

/// The longest beginning of a first line that fits into the byte cap with its mark; without one, when no mark fits.
fn fitted(line: &str, number: u64, asked: &Asked, decisions: Decisions) -> String {
    let text = first_units(line, asked.max_line);
    let mark = |shown: usize| mark(line, number, shown, asked.max_line, decisions);
    let widest = mark(0).len().max(mark(units(text)).len());
    let beginning = |bytes: usize| text.get(..text.floor_char_boundary(bytes)).unwrap_or_default();
    match asked.max_bytes.checked_sub(widest).map(beginning) {
        None | Some("") => beginning(asked.max_bytes).to_owned(),
        Some(kept) => format!("{kept}{}", mark(units(kept))),
    }
}

fn mark(line: &str, number: u64, shown: usize, max: usize, decisions: Decisions) -> String {
    if !decisions.marks_go_on {
        return format!("... (line truncated to {max} chars)");
    }
    let (rest, next) = (units(line) - shown, shown + 1);
    format!(
        "… [line cut after {shown} characters, {rest} more; go on with offset {number}, limit 1, column {next}]"
    )
}

/// The length in UTF-16 code units.
fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

/// The longest beginning of at most so many UTF-16 code units.
fn first_units(text: &str, max: usize) -> &str {
    let mut taken = 0;
    let end = text.char_indices().find_map(|(at, char)| {
        taken += char.len_utf16();
        (taken > max).then_some(at)
    });
    text.get(..end.unwrap_or(text.len())).unwrap_or_default()
}
