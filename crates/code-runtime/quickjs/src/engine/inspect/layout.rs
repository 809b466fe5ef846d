//! How the parts of a container are laid out: on one line, in columns, or one below the other.

use std::fmt::Write as _;

/// Columns of a line.
pub(super) const WIDTH: usize = 80;
/// Levels of containers that may share a line.
const TOGETHER: usize = 3;
/// Elements from which a list is set in columns.
const COLUMNS_FROM: usize = 7;
/// Columns of a list, at most.
const MAX_COLUMNS: usize = 15;

/// The text of a container with these entries.
pub(super) fn arrange(
    mut entries: Vec<String>,
    prefix: &str,
    open: &str,
    close: &str,
    list: bool,
    nested: usize,
    indent: usize,
) -> String {
    let count = entries.len();
    let head = if prefix.is_empty() { open.to_owned() } else { format!("{prefix} {open}") };
    if list && count >= COLUMNS_FROM {
        entries = columns(entries, indent);
    }
    if nested < TOGETHER && entries.len() == count {
        let start = count + indent + open.len() + prefix.len() + 10;
        let total = entries.iter().map(|entry| width(entry)).sum::<usize>() + count + start;
        if total <= WIDTH && !entries.iter().any(|entry| entry.contains('\n')) {
            return format!("{head} {} {close}", entries.join(", "));
        }
    }
    let line = format!("\n{}", " ".repeat(indent));
    format!("{head}{line}  {}{line}{close}", entries.join(&format!(",{line}  ")))
}

/// Lines of as many short entries as look well beside each other; the entries themselves when they do not.
fn columns(entries: Vec<String>, indent: usize) -> Vec<String> {
    let extra = usize::from(entries.last().is_some_and(|last| last.starts_with("... ")));
    let shown = entries.len() - extra;
    let widths: Vec<_> = entries.iter().take(shown).map(|entry| width(entry)).collect();
    let widest = widths.iter().copied().max().unwrap_or(0);
    let total: usize = widths.iter().map(|width| width + 2).sum();
    let cell = widest + 2;
    if cell * 3 + indent >= WIDTH || !(total > cell * 5 || widest <= 6) {
        return entries;
    }
    let count = column_count(cell, total, shown, entries.len()).min((WIDTH - indent) / cell);
    if count <= 1 {
        return entries;
    }
    let padding: Vec<_> = (0..count)
        .map(|column| widths.iter().skip(column).step_by(count).max().copied().unwrap_or(0) + 2)
        .collect();
    let numbers = entries.iter().take(shown).all(|entry| is_number(entry));
    let mut lines: Vec<_> = entries
        .iter()
        .take(shown)
        .collect::<Vec<_>>()
        .chunks(count)
        .map(|cells| {
            let last = cells.len() - 1;
            let mut line = String::new();
            for (at, (entry, padding)) in cells.iter().zip(&padding).enumerate() {
                let comma = if at < last { ", " } else { "" };
                let target = if at < last { *padding } else { padding - 2 };
                let gap = " ".repeat(target.saturating_sub(width(entry) + comma.len()));
                match (numbers, at < last) {
                    (true, _) => line.extend([&*gap, entry, comma]),
                    (false, true) => line.extend([&**entry, comma, &*gap]),
                    (false, false) => line.push_str(entry),
                }
            }
            line
        })
        .collect();
    lines.extend(entries.into_iter().skip(shown));
    lines
}

/// A number of columns that makes the block about two and a half times as wide as high.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a hundred cells of some eighty characters"
)]
fn column_count(cell: usize, total: usize, shown: usize, all: usize) -> usize {
    let bias = (cell as f64 - total as f64 / all as f64).sqrt();
    let cell = (cell as f64 - 3.0 - bias).max(1.0);
    let count = ((2.5 * cell * shown as f64).sqrt() / cell).round() as usize;
    count.min(TOGETHER * 4).min(MAX_COLUMNS)
}

fn is_number(entry: &str) -> bool {
    entry.starts_with(|first: char| first.is_ascii_digit() || first == '-')
        || matches!(entry, "NaN" | "Infinity")
}

fn width(text: &str) -> usize {
    text.chars().count()
}

/// A string in the quotes that need least escaping.
pub(super) fn quoted(text: &str) -> String {
    let quote = ['\'', '"', '`'].into_iter().find(|quote| !text.contains(*quote)).unwrap_or('\'');
    let mut out = String::with_capacity(text.len() + 2);
    out.push(quote);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\u{8}' => out.push_str("\\b"),
            '\u{b}' => out.push_str("\\v"),
            '\u{c}' => out.push_str("\\f"),
            '\\' => out.push_str("\\\\"),
            c if c == quote => {
                out.push('\\');
                out.push(c);
            }
            c if c.is_control() => {
                // Writing into a `String` can't fail.
                let _ = write!(out, "\\x{:02X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push(quote);
    out
}
