//! The rows of `docs/parity.toml`.

use anyhow::{Context, Result};
use toml::Value;

/// One row.
pub(super) struct Row {
    pub(super) key: String,
    /// Counted from 1; 0 where the row can't be found again.
    pub(super) line: usize,
    /// How the item begins, for the reader.
    pub(super) item: String,
    pub(super) answer: Answer,
    /// Keys that a row can't have, or whose values are of the wrong kind.
    pub(super) unknown: Vec<String>,
}

/// What is said of an item.
pub(super) enum Answer {
    /// These tests show it.
    Tested(Vec<String>),
    /// We do otherwise, as decided there.
    Changed(String),
    /// It can't arise, for this reason.
    Absent(String),
    /// It waits for this part.
    Unbuilt(String),
    None,
    Several,
}

/// `absent = "not built yet: PART"`, with words behind a second colon.
const UNBUILT: &str = "not built yet:";

pub(super) fn read(text: &str) -> Result<Vec<Row>> {
    let table: toml::Table = text.parse().context("reading docs/parity.toml")?;
    Ok(table.into_iter().map(|(key, value)| row(key, value, text)).collect())
}

fn row(key: String, value: Value, text: &str) -> Row {
    let head = format!("[\"{key}\"]");
    let line = text.lines().position(|line| line == head).map_or(0, |at| at + 1);
    let mut row = Row { key, line, item: String::new(), answer: Answer::None, unknown: Vec::new() };
    let Value::Table(fields) = value else {
        row.unknown.push("a value".to_owned());
        return row;
    };
    for (name, value) in fields {
        let answer = match (name.as_str(), value) {
            ("item", Value::String(item)) => {
                row.item = item;
                continue;
            }
            ("note", Value::String(_)) => continue,
            ("test", Value::String(test)) => Answer::Tested(vec![test]),
            ("test", Value::Array(tests)) if tests.iter().all(Value::is_str) => {
                Answer::Tested(tests.iter().filter_map(Value::as_str).map(str::to_owned).collect())
            }
            ("changed", Value::String(reason)) => Answer::Changed(reason),
            ("absent", Value::String(reason)) => absent(reason),
            _ => {
                row.unknown.push(name);
                continue;
            }
        };
        row.answer = if matches!(row.answer, Answer::None) { answer } else { Answer::Several };
    }
    row
}

fn absent(reason: String) -> Answer {
    match reason.strip_prefix(UNBUILT) {
        Some(rest) => Answer::Unbuilt(rest.split(':').next().unwrap_or_default().trim().to_owned()),
        None => Answer::Absent(reason),
    }
}
