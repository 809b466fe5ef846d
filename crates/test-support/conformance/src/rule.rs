//! Where we decide otherwise.

use dsh_json::{Json, object};

use crate::Fault;
use crate::file::Vector;
use crate::oddities::oddities;

/// A decision of ours that changes recorded outcomes (spec 12 §4). It is about what vectors say, never about which they
/// are.
#[derive(Debug)]
pub struct Rule {
    /// What it is called in the report.
    pub name: &'static str,
    /// Why the outcome differs.
    pub reason: &'static str,
    /// Our own expected value for a vector that it takes; none for every other.
    pub(crate) expected: fn(&Vector) -> Result<Option<Json>, Fault>,
}

/// What holds wherever a text is read. As it stands here: for kinds whose input is read as a whole.
pub(crate) const WHOLE_TEXT: Rule = Rule {
    name: "text is Unicode",
    reason: "half a surrogate pair is refused with JSON_STRING when it is read (design §5)",
    expected: |vector| {
        let odd = oddities(&vector.input_text).lone_surrogate;
        Ok(odd.then(|| object! { "refused": "JSON_STRING" }))
    },
};
