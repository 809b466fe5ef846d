//! The tools as declarations in the language that a model writes programs in (spec 05).
//!
//! ```text
//! [ToolDecl] ──sort──▶ types ──▶ declarations ──frame──▶ the prompt's section
//!                                     └───────▶ bindings: how each tool is called
//! ```
//!
//! [`render`] makes the whole section; [`type_text`] makes the text of one type. The same tools give the same bytes, in
//! whatever order they come. Schemas arrive lowered and asserted; where there is none, the type is `unknown` or `Any`.
//!
//! ```
//! use dsh_json_schema::Schema;
//! use dsh_tool_sdk::{Language, Limits, ToolDecl, render};
//!
//! let tool = ToolDecl {
//!     name: "word-count".into(),
//!     description: "Counts words.".into(),
//!     parameters: Some(Schema::params().required("text", Schema::string()).build()?),
//!     output: Some(Schema::integer().build()?),
//! };
//! let sdk = render(Language::TypeScript, &[tool], &Limits::default())?;
//! assert_eq!(sdk.bindings()[0].call, r#"tools["word-count"]"#);
//! assert!(sdk.declarations().contains("\"word-count\": number;"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The crate is pure, and keeps nothing between two calls: caches are the caller's. Nothing recurses, and time and
//! memory are linear in the input.

mod comment;
mod language;
mod outline;
mod prose;
mod python;
mod sdk;
mod text;
mod typescript;

pub use language::{Language, UnknownLanguage};
pub use sdk::{Binding, Limits, Place, Sdk, SdkError, ToolDecl, render, type_text};
