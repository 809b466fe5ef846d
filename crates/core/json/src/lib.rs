//! Lossless JSON values: what crosses every edge of the house, read once and then shared.
//!
//! A [`Json`] is immutable and cheap to clone at every level. Text from outside becomes one in
//! [`Json::parse`], Rust values in [`Json::from_serialize`]; [`Json::read`] gives the typed view back.
//! Nothing here overflows the stack on deep values, and nothing is rounded or replaced silently: what
//! JSON can't hold exactly (`-0`, integers beyond 64 bits, lone surrogates) is refused with a code, a
//! position and a path.
//!
//! ```
//! use dsh_json::{Json, array, object};
//!
//! let call = Json::parse(r#"{"path": "src/lib.rs", "lines": [1, 20]}"#)?;
//! assert_eq!(call, object! { "path": "src/lib.rs", "lines": array![1, 20] });
//!
//! let error = Json::parse(r#"{"lines": [1, -0]}"#).unwrap_err();
//! assert_eq!((error.code(), error.path()), ("JSON_NUMBER", "$.lines[1]"));
//! # Ok::<(), dsh_json::JsonError>(())
//! ```
//!
//! The crate is pure: no I/O, clock or async. Schemas are `dsh-json-schema`'s subject.
#![expect(clippy::indexing_slicing, reason = "offsets and indices come from the structures they index")]

mod canonical;
mod convert;
mod de;
mod deserialize;
mod error;
mod macros;
mod number;
mod object;
mod parse;
mod path;
mod schema;
mod ser;
mod serialize;
mod share;
mod stack;
mod syntax;
mod value;
mod write;

pub use error::{JsonError, Position};
pub use number::Number;
pub use object::{Object, ObjectIter};
pub use parse::{Limits, Parsed};
pub use value::{Array, Json, Kind};
