//! The kinds `read-tool`, `write-tool` and `edit-tool`: calls of the file tools on a temporary directory.
//!
//! ```text
//! {files, args | calls, config?, observation_policy?} → lay out → call, or change files from outside → {result(s), files_after}
//! ```
//!
//! The three have one form, and a vector may call any of the tools.

mod compare;
pub(crate) mod edit_tool;
mod editing;
mod layout;
pub(crate) mod read_tool;
mod reading;
mod rules;
mod script;
#[cfg(test)]
mod tests;
mod world;
pub(crate) mod write_tool;
