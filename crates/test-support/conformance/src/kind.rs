//! The kinds of vectors.

use dsh_json::Json;

use crate::file::Vector;
use crate::{Fault, Rule};

/// How the vectors of one kind are run.
pub struct Kind {
    /// What the files call it.
    pub name: &'static str,
    /// Where we decide otherwise; the first rule that takes a vector counts.
    pub rules: &'static [Rule],
    /// What it needs that is not built yet.
    pub(crate) lacks: fn() -> Option<&'static str>,
    /// From a vector's input to our output.
    pub(crate) run: fn(&Vector) -> Result<Json, Fault>,
    /// Whether our output is the expected one.
    pub(crate) agrees: fn(got: &Json, expected: &Json) -> bool,
}

/// Every kind that can be run here.
pub const KINDS: &[&Kind] = &[
    #[cfg(feature = "schema")]
    &crate::schema::param_dsl::KIND,
    #[cfg(feature = "schema")]
    &crate::schema::schema_support::KIND,
    #[cfg(feature = "schema")]
    &crate::schema::validate::KIND,
    #[cfg(feature = "schema")]
    &crate::schema::schema_cases::KIND,
    #[cfg(feature = "schema")]
    &crate::schema::dsl_cases::KIND,
    #[cfg(feature = "schema")]
    &crate::schema::value_cases::KIND,
    #[cfg(feature = "sdk")]
    &crate::sdk::TS_RENDER,
    #[cfg(feature = "sdk")]
    &crate::sdk::PY_RENDER,
    #[cfg(feature = "sdk")]
    &crate::sdk::TYPE_CASES,
    #[cfg(feature = "sdk")]
    &crate::sdk::SDK_CASES,
    #[cfg(feature = "scheduler")]
    &crate::scheduler::KIND,
    #[cfg(feature = "files")]
    &crate::files::read_tool::KIND,
    #[cfg(feature = "files")]
    &crate::files::write_tool::KIND,
    #[cfg(feature = "files")]
    &crate::files::edit_tool::KIND,
    #[cfg(feature = "canonicalize")]
    &crate::canonicalize::KIND,
    #[cfg(feature = "spill")]
    &crate::spill::KIND,
];

impl Kind {
    /// The kind of this name.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        KINDS.iter().find(|kind| kind.name == name).copied()
    }
}
