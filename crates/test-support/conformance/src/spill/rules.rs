//! Where we decide otherwise about large results.

use dsh_json::{Json, object};

use super::asked::{Asked, Blocks};
use super::play::is_paged;
use crate::file::Vector;
use crate::rule::WHOLE_TEXT;
use crate::{Fault, Rule};

pub(super) const RULES: [Rule; 3] = [
    WHOLE_TEXT,
    Rule {
        name: "a picture exempts no text",
        reason: "the blocks of text are bounded, and the others kept in their places (spec 08 §6.4)",
        expected: |vector| ours(vector, |asked, _| asked.blocks == Blocks::Picture),
    },
    Rule {
        name: "a notice has our own words",
        reason: "whether it fits into a small cap depends on them (spec 08 §4.4)",
        expected: |vector| {
            ours(vector, |asked, notice| {
                asked.blocks != Blocks::Picture && asked.cap.abs_diff(notice) <= ELSEWHERE
            })
        },
    },
];

/// How much longer or shorter another notice may be, with the same locator and hint.
const ELSEWHERE: u64 = 512;

/// How many bytes a notice has beside its two numbers, the locator and the hint.
pub(super) const WORDS: usize = 71;

/// What we make of it, where that differs from what was recorded and this decision may be why.
fn ours(vector: &Vector, decided: fn(&Asked, u64) -> bool) -> Result<Option<Json>, Fault> {
    let Some(asked) = Asked::of(&vector.input)? else { return Ok(None) };
    let is_large = asked.blocks != Blocks::Text(0) && asked.text.len() as u64 > asked.cap;
    let notice = notice_bytes(&asked);
    let spilled = asked.owned && !is_paged(&asked) && is_large && notice <= asked.cap;
    let recorded = vector.output.get("spilled").and_then(Json::as_bool);
    // Only texts that might be shown in part are a matter of decisions.
    let is_asked = asked.owned && !is_paged(&asked) && is_large;
    let differs = recorded.is_some_and(|recorded| recorded != spilled);
    let ours = object! { "text_bytes": asked.text.len(), "spilled": spilled };
    Ok((is_asked && differs && decided(&asked, notice)).then_some(ours))
}

/// The size of the notice when nothing else is shown.
pub(super) fn notice_bytes(asked: &Asked) -> u64 {
    let hint: Vec<&str> = asked.hint.split_whitespace().collect();
    let hint: usize = hint.iter().map(|word| word.len() + 1).sum();
    let numbers = 2 * asked.text.len().to_string().len();
    (WORDS + numbers + asked.locator.len() + hint) as u64
}
