//! Keeps what models read within a budget (spec 08 §4).
//!
//! ```text
//! a result, last stage ──────────┐
//!                                ├─→ text over the cap? ─→ a place from the store ─→ preview and notice fit? ─→ stored ─→ shown
//! a program's call, for the log ─┘        └ no: as it is          └───────────────────────┴─ no ───────────────────┴─ no: as it is
//! ```
//!
//! The whole text goes to a [spill store](dsh_spill::SpillStore). In its place stands its head, a line that says how much is
//! left out, its tail, and a notice that says where the whole is and how it is read. All of that together is no larger than
//! the cap.
//!
//! - Of a model's own calls, what the model reads is bounded, after every listener and finaliser has spoken: replaced
//!   values, rewritten content and feedback of policies, too. Of the calls that programs make, the log's copy is; the program
//!   has its value already.
//! - A success of a tool that [pages](dsh_tools_core::Definition::pages) is left alone for the model, which would read the
//!   stored text with just such a tool. The log's copy of one is bounded.
//! - Text blocks count together, and are put together without anything in between. What takes their place stands where the
//!   first of them stood, in one block; blocks of other types stay, in their order.
//! - Failures stay failures, with code and message; values and riding messages are not touched. Meta
//!   that is larger than its own bound is left out.
//! - Whatever goes wrong with a store, the content stays whole and the call what it was. That is reported to the operator
//!   as a warning with tool, call and reason. Nothing is stored before it is certain that the replacement fits, as long as the
//!   store can [say where](dsh_spill::SpillStore::begin) without storing.

mod config;
mod give_up;
mod policy;
mod preview;
mod words;

pub use config::SpillConfig;
pub use policy::SpillPolicy;
