//! Models that answer without a network: a script from a file, and a demonstration.
//!
//! - [`ScriptedModel`] plays the steps of a JSON file, one per request (spec 12 §2). The same file streams the same
//!   chunks, whatever it is asked, so that a session can be made again.
//! - [`DemoModel`] looks around in a workspace with the ordinary tools, runs a program that counts, and writes an
//!   overview. It is a real, if narrow, model: all it knows is the conversation and the tools ([`next_step`]).
//!
//! Both answer in steps ([`Step`]) that are streamed in the same way. The only time here is the delay that a script asks
//! for; reading the file is the caller's.
//!
//! ```
//! use dsh_llm_script::ScriptedModel;
//!
//! let model = ScriptedModel::from_text(r#"{ "steps": [ { "text": "Hello." } ] }"#)?.named("greeting");
//!
//! let typo = ScriptedModel::from_text(r#"{ "steps": [ { "txt": "Hello." } ] }"#).unwrap_err();
//! assert_eq!(typo.to_string(), "$.steps[0].txt: unknown field");
//! # Ok::<(), dsh_llm_script::ScriptError>(())
//! ```

mod demo;
mod model;
mod play;
mod script;

pub use demo::{DemoModel, next_step};
pub use model::ScriptedModel;
pub use script::{Script, ScriptError, Step, ToolCall};
