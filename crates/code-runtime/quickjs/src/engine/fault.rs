//! What the model reads about a program that threw: the error, its place, and the line.

use std::fmt::Write as _;

use rquickjs::Value;

use super::inspect::inspect;
use super::realm::{Realm, UNRENDERABLE, quietly};
use crate::excerpt::excerpt;

/// The name that stands for the program in stacks.
pub(super) const FILE: &str = "program.ts";
/// Frames of a stack that are shown.
const FRAMES: usize = 8;

/// The text of a thrown value: `name: message`, the place with the source line, the frames.
pub(super) fn describe<'js>(realm: &Realm<'js>, thrown: &Value<'js>, source: &str, header: usize) -> String {
    let Some(error) = thrown.as_object().filter(|thrown| realm.is_error(thrown)) else {
        if thrown.is_object() || thrown.is_symbol() {
            return format!("thrown: {}", inspect(realm, thrown));
        }
        let text = quietly(thrown.ctx(), realm.coerced(thrown.clone()));
        return text.map_or_else(|| UNRENDERABLE.to_owned(), |text| format!("thrown: {text}"));
    };
    let mut out = realm.thrown_text(thrown);
    let stack = quietly(thrown.ctx(), error.get::<_, Value<'js>>("stack"))
        .filter(|stack| !stack.is_undefined())
        .and_then(|stack| quietly(thrown.ctx(), realm.coerced(stack)))
        .unwrap_or_default();
    let frames: Vec<_> = stack.lines().filter_map(|line| Frame::of(line, header)).collect();
    if let Some(Frame { line, column, .. }) = frames.first() {
        let _ = write!(out, "\n{}", excerpt(source, *line, *column));
    } else if !stack.trim().is_empty() && frames.is_empty() {
        // Not the engine's: the program wrote it.
        let _ = write!(out, "\n{}", stack.trim_end());
    }
    for frame in frames.iter().skip(1).take(FRAMES) {
        let _ = write!(out, "\n    at {}line {}, column {}", frame.function, frame.line, frame.column);
    }
    out
}

/// One line of a stack that lies in the program.
struct Frame {
    /// The function with a space behind, or nothing.
    function: String,
    line: usize,
    column: usize,
}

impl Frame {
    fn of(text: &str, header: usize) -> Option<Self> {
        let text = text.trim().strip_prefix("at ")?;
        let (function, place) = match text.rsplit_once(" (") {
            Some((function, place)) => (function, place.strip_suffix(')')?),
            None => ("", text),
        };
        let mut numbers = place.strip_prefix(FILE)?.strip_prefix(':')?.split(':');
        let line: usize = numbers.next()?.parse().ok()?;
        let column: usize = numbers.next()?.parse().ok()?;
        let column = if line == 1 { column.saturating_sub(header).max(1) } else { column };
        let function = match function {
            "" | "<anonymous>" | "<eval>" => String::new(),
            name => format!("{name}, "),
        };
        Some(Self { function, line, column })
    }
}

/// The place of a syntax error that the engine found, from its stack.
pub(super) fn place(stack: &str, header: usize) -> Option<(usize, usize)> {
    stack.lines().find_map(|line| Frame::of(line, header)).map(|frame| (frame.line, frame.column))
}
