//! Where we decide otherwise about same calls.

use dsh_json::{Json, object};

use super::reading::{JAVASCRIPT, OURS, Reading, canonical, unreadable, value};
use super::sequence::{Entry, entries};
use super::simulation::{DECIDED, Decisions, simulated};
use crate::fault::required_text;
use crate::file::Vector;
use crate::rule::WHOLE_TEXT;
use crate::{Fault, Rule};

pub(super) const RULES: [Rule; 5] = [
    WHOLE_TEXT,
    Rule {
        name: "unreadable arguments count",
        reason: "text that our reader refuses reaches listeners as it is, so that repeats are noticed (design §4.5, §5)",
        expected: |vector| match Asked::of(vector)? {
            Some(Asked::Arguments(text)) => Ok(unread(vector, text)),
            Some(Asked::Sequence(entries)) => Ok(refusals(vector, &entries)),
            None => Ok(None),
        },
    },
    Rule {
        name: "integers are compared exactly",
        reason: "64 bits are kept, where JavaScript takes the nearest double (design §5)",
        expected: |vector| explained(vector, Reading { doubles: true, ..OURS }),
    },
    Rule {
        name: "`__proto__` is a key",
        reason: "it is one like any other, so that calls that differ in it differ (spec 09 §C.7, 8)",
        expected: |vector| explained(vector, Reading { loses_proto: true, ..OURS }),
    },
    Rule {
        name: "keys are sorted as texts",
        reason: "the canonical form is RFC 8785, where JavaScript puts keys like integers first (design §5)",
        expected: |vector| explained(vector, Reading { indices_first: true, ..OURS }),
    },
];

/// What a vector is about; a kind that nobody knows is the run's to report.
enum Asked<'a> {
    Arguments(&'a str),
    Sequence(Vec<Entry>),
}

impl<'a> Asked<'a> {
    fn of(vector: &'a Vector) -> Result<Option<Self>, Fault> {
        let input = &vector.input;
        match input.get("kind").and_then(Json::as_str) {
            Some("canonical_arguments") => Ok(Some(Self::Arguments(required_text(input, "arguments_text")?))),
            Some("sequence") => Ok(Some(Self::Sequence(entries(input)?))),
            Some(_) | None => Ok(None),
        }
    }
}

/// The text as a string, where it was recorded that the call came nowhere or was read otherwise.
fn unread(vector: &Vector, text: &str) -> Option<Json> {
    if value(text).is_some() {
        return None;
    }
    unreadable(text)?;
    let ours = object! { "canonical": Json::from(text).to_text() };
    (vector.output != ours).then_some(ours)
}

/// What we make of a sequence, where it was recorded without the calls whose arguments can't be read.
fn refusals(vector: &Vector, entries: &[Entry]) -> Option<Json> {
    let with = |decisions| simulated(&vector.input, entries, decisions);
    let ours = with(DECIDED);
    // Text that is no JSON counts elsewhere, too, or does not.
    let explains = [true, false].into_iter().any(|counts_no_json| {
        let theirs = Decisions { reading: JAVASCRIPT, counts_no_json, counts_lossy: false };
        with(theirs).as_ref() == Some(&vector.output)
    });
    let alone = with(Decisions { counts_no_json: false, counts_lossy: false, ..DECIDED });
    ours.filter(|ours| explains && *ours != vector.output && alone.as_ref() != Some(ours))
}

/// What we make of it, where the way in which JavaScript reads it explains what was recorded, and `alone` is a part of that.
fn explained(vector: &Vector, alone: Reading) -> Result<Option<Json>, Fault> {
    let Some(asked) = Asked::of(vector)? else { return Ok(None) };
    let with = |reading| match &asked {
        Asked::Arguments(text) => Some(object! { "canonical": canonical(&value(text)?, reading) }),
        Asked::Sequence(entries) => simulated(&vector.input, entries, Decisions { reading, ..DECIDED }),
    };
    let (ours, theirs): (Option<Json>, _) = (with(OURS), with(JAVASCRIPT));
    let is_explained = theirs.as_ref() == Some(&vector.output) && ours != theirs && with(alone) != ours;
    Ok(ours.filter(|_| is_explained))
}
