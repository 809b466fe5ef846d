//! The programs that the demonstration writes, and what they return.

use dsh_json::{Json, array, object};
use dsh_llm::ToolSchema;

use super::Wanted;
use super::conversation::{Answer, Called};
use super::results::size;

/// How the tools can be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Means {
    /// One by one.
    Calls,
    /// One by one, and by programs.
    Both,
    /// By programs only.
    Programs,
}

impl Means {
    /// What these tools allow. Programs in another language than TypeScript don't count.
    pub(super) fn of(tools: &[ToolSchema]) -> Self {
        let (programs, calls): (Vec<_>, Vec<_>) = tools.iter().partition(|tool| &*tool.name == RUN_CODE);
        match (programs.iter().any(|tool| tool.description.contains("TypeScript")), calls.is_empty()) {
            (false, _) => Self::Calls,
            (true, false) => Self::Both,
            (true, true) => Self::Programs,
        }
    }
}

/// What the program that counts has returned: of kinds, directories and files the largest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) files: usize,
    pub(super) kinds: Vec<(String, usize)>,
    pub(super) directories: Vec<(String, usize)>,
    /// Lines by kind; an estimate when not all sources were tried.
    pub(super) lines: Vec<(String, usize)>,
    pub(super) longest: Vec<(String, usize)>,
    /// How many files are sources.
    pub(super) sources: usize,
    /// How many of these it tried to read.
    pub(super) tried: usize,
    /// How many of these could not be read.
    pub(super) unreadable: usize,
}

impl Count {
    /// What the result of the program says, if it is one.
    pub(super) fn of(answer: &Answer) -> Option<Self> {
        let value = answer.value()?;
        let number = |name| size(value.get(name)?);
        let rows = |name| {
            let rows = value.get(name)?.as_object()?.iter();
            rows.map(|(name, count)| Some((name.to_string(), size(count)?))).collect::<Option<Vec<_>>>()
        };
        Some(Self {
            files: number("files")?,
            kinds: rows("kinds")?,
            directories: rows("directories")?,
            lines: rows("lines")?,
            longest: rows("longest")?,
            sources: number("sources")?,
            tried: number("tried")?,
            unreadable: number("unreadable")?,
        })
    }
}

/// The call of the program that counts.
pub(super) fn count() -> Wanted {
    (RUN_CODE, object! { "description": COUNTING, "code": COUNT })
}

/// Whether this is the call of that program.
pub(super) fn is_count(call: &Called) -> bool {
    &*call.name == RUN_CODE && call.argument("code") == Some(COUNT)
}

/// The call of a program that makes these calls.
pub(super) fn relay(description: &str, calls: Vec<Wanted>) -> Wanted {
    let rows: Vec<_> = calls.into_iter().map(|(tool, arguments)| array![tool, arguments].to_text()).collect();
    let rows = format!("[\n  {}\n]", rows.join(",\n  "));
    (RUN_CODE, object! { "description": description, "code": RELAY.replacen(HOLE, &rows, 1) })
}

/// The calls that a program made, if this is the call of one that relays; else the call itself.
pub(super) fn unfolded(call: Called) -> Vec<Called> {
    let Some(calls) = relayed(&call) else { return vec![call] };
    let answers = call.answer.map(|answer| answer.and_then(|answer| returned(&answer)));
    let answer_at = |at: usize| match answers.as_ref()? {
        Ok(values) => values.get(at).map(|value| match value.get("error").and_then(Json::as_str) {
            Some(error) => Err(error.to_owned()),
            None => Ok(Answer::Value(value.clone())),
        }),
        Err(error) => Some(Err(error.clone())),
    };
    let call = |(at, (name, arguments)): (usize, (&str, Json))| Called {
        name: name.into(),
        arguments,
        answer: answer_at(at),
    };
    calls
        .iter()
        .filter_map(|row| Some((row.at(0)?.as_str()?, row.at(1)?.clone())))
        .enumerate()
        .map(call)
        .collect()
}

/// The calls in the program that relays.
fn relayed(call: &Called) -> Option<Vec<Json>> {
    let (head, tail) = RELAY.split_once(HOLE)?;
    let code = call.argument("code").filter(|_| &*call.name == RUN_CODE)?;
    let rows = code.strip_prefix(head)?.strip_suffix(tail)?;
    Some(Json::parse(rows).ok()?.as_array()?.to_vec())
}

/// What that program returned.
fn returned(answer: &Answer) -> Result<Vec<Json>, String> {
    let values = answer.value().and_then(|value| value.as_array().map(<[_]>::to_vec));
    values.ok_or_else(|| "the program returned something else".to_owned())
}

const RUN_CODE: &str = "run_code";

/// Counts the project's own files, and the lines of its sources.
const COUNT: &str = include_str!("count.ts");
const COUNTING: &str = "Count files and lines by kind";

/// Makes the calls that are put into its hole.
const RELAY: &str = include_str!("relay.ts");
const HOLE: &str = "[/* tool, arguments */]";
