//! Budgets for output: what is kept of a stream of bytes or of items, and exactly how much is not (spec 08 §3).
//!
//! - [`TextRetainer`] keeps the head of a stream, its tail, or both, in whole characters, and counts the bytes that it let go.
//! - [`ItemRetainer`] keeps the first items, and counts the others.
//! - [`Omission`] says it in words.
//!
//! A retainer decides nothing: budgets, advice and what the omission means are the caller's. Memory is bounded by the
//! budgets and one chunk. Nothing here is async, and nothing fails.
//!
//! ```
//! use dsh_retention::{Budget, TextRetainer};
//!
//! let mut retainer = TextRetainer::new(Budget { head: 6, tail: 4 });
//! retainer.push("one\ntwo\n".as_bytes());
//! retainer.push("three\nfour".as_bytes());
//! let kept = retainer.finish();
//! assert_eq!((kept.head.as_str(), kept.tail.as_str(), kept.omitted), ("one\ntw", "four", 8));
//! ```

mod items;
mod omission;
mod text;
mod utf8;

pub use items::{ItemRetainer, KeptItems};
pub use omission::{Omission, Unit};
pub use text::{Budget, KeptText, TextRetainer};
