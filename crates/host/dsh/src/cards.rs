//! Cards: what a person sees of a session.
//!
//! ```text
//! events ─fold→ cards ─draw→ text
//! ```
//!
//! The same fold and the same drawing serve a running turn and a stored log, so that a replay shows what was shown.
//! Tools say how their calls and results are to be shown; without a tool, or without its word, there is a plain card.

mod card;
mod changes;
mod draw;
mod fold;
mod question;
pub(crate) mod sheet;

pub(crate) use card::Card;
pub(crate) use draw::{Look, draw};
pub(crate) use fold::Fold;
pub(crate) use question::{Asked, question};
