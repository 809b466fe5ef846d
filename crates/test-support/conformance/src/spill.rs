//! The kind `spill`: a text that a tool gives, and whether it is stored and shown in part.
//!
//! ```text
//! {parts, cap, locator, hint, tool, blocks, agent} → a call, over a store that keeps → {text_bytes, spilled}
//! {config}                                         → {config_error}
//! ```

mod asked;
mod play;
mod rules;
#[cfg(test)]
mod tests;

use dsh_json::Json;

use crate::Kind;

pub(crate) const KIND: Kind =
    Kind { name: "spill", rules: &rules::RULES, lacks: || None, run: play::run, agrees: Json::eq };
