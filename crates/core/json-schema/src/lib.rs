//! The JSON Schema subset that everything in the house speaks: authored, asserted, and judged.
//!
//! A [`Schema`] is one that keeps to the subset of spec 04 §2, compiled once. It comes from JSON
//! ([`Schema::new`]), from the author's short form ([`compile_value`], [`compile_params`]), from the builder
//! ([`Schema::params`] and its neighbours), or from a Rust type ([`Schema::for_input`],
//! [`Schema::for_output`]). Then it judges values: [`Schema::is_valid`] fast, [`Schema::violations`] in words.
//!
//! Schemas of other people ([`Schema::import`], [`Schema::import_params`]) are loosened into the subset where they go beyond
//! it; an [`ImportReport`] says where. With the feature `foreign`, an [`Imported`] judges by the original too, so that what was
//! loosened for the model lets nothing wrong through.
//!
//! ```
//! use dsh_json::object;
//! use dsh_json_schema::Schema;
//!
//! let level = Schema::string().enumeration(["low", "high"]);
//! let schema = Schema::params().required("path", Schema::string()).optional("level", level).build()?;
//!
//! assert!(schema.is_valid(&object! { "path": "a.txt" }));
//! let found = schema.violations(&object! { "level": "hihg" }, "");
//! assert_eq!(
//!     found.to_string(),
//!     r#"path: is required but missing; add it; level: must be one of "low", "high"; found the string "hihg"; did you mean "high"?"#,
//! );
//! # Ok::<(), dsh_json_schema::JsonSchemaError>(())
//! ```
//!
//! Values are [`dsh_json::Json`], so they are lossless and finite already. The crate
//! is pure: no I/O, clock, randomness or async. Properties keep their insertion order everywhere; integer-like
//! names are not moved to the front.

mod assert;
mod author;
mod builder;
mod check;
mod explain;
mod import;
mod lower;
mod path;
mod program;
mod schema;
mod violation;
mod words;

pub use assert::MAX_SCHEMA_ENTRIES;
pub use author::{compile_params, compile_value};
pub use builder::{AnyForm, ArrayForm, Draft, Node, ObjectDraft, ObjectForm, Params, ScalarForm, UnionForm};
pub use check::MAX_CHECK_STEPS;
#[cfg(feature = "foreign")]
pub use import::OriginalCheck;
pub use import::{Fate, ImportError, ImportLimits, ImportReport, Imported, ReportEntry};
pub use lower::{Dropped, LowerError};
pub use schema::{DEFAULT_LISTED, Schema};
pub use violation::{JsonSchemaError, Violation, ViolationKind, Violations};
pub use words::nearest;
