//! What a model is told before the conversation: prompt sections, runtime contexts, and the list of tools.
//!
//! A [`SystemPrompt`] is a registry. Rows put sections, contexts, variables and tools into it, for everybody or for one
//! scope, and each registration takes itself back when it is dropped. [`SystemPrompt::assemble`] reads the registry as
//! one scope sees it and returns an [`Assembly`]:
//!
//! ```text
//! layers ─shadow→ rows ─evaluate→ texts, tools ─order→ draft ─listeners→ assembly ─render→ prompt, context snapshot
//! ```
//!
//! - The nearest entry of a name wins, and one that is shadowed is never evaluated (spec 11 §A.3).
//! - The same entries give the same bytes, in whatever order they were registered.
//! - The prompt is the stable head of a request. What changes while a session runs is a context; a
//!   [`ContextTracker`] says when the conversation needs a new snapshot of them (spec 11 §A.6).
//!
//! The texts themselves belong to those who register them; only the identity and the two lead lines are here. Nothing
//! here does I/O or waits.
//!
//! ```
//! use dsh_system_prompt::{AssembleContext, Section, SystemPrompt};
//!
//! let prompt = SystemPrompt::default();
//! let _role = prompt.section(None, Section::new("role", 0, "You review {{language}} code."))?;
//! let _language = prompt.variable(None, "language", |_| Some("Rust".into()))?;
//!
//! let assembly = prompt.assemble(&AssembleContext::default())?;
//! assert_eq!(assembly.render_prompt()?, "You review Rust code.");
//! # Ok::<(), dsh_system_prompt::PromptError>(())
//! ```

mod assemble;
mod assembly;
mod config;
mod entry;
mod error;
mod interpolate;
mod listener;
mod registry;
mod tool_order;
mod tracker;

pub use assembly::{AssembledText, Assembly, ContextSnapshot, Variables};
pub use config::{HARNESS_IDENTITY, PERSONA, PromptConfig};
pub use entry::{AssembleContext, Context, OfferedTools, Section, Text, ToolsProvider};
pub use error::{EntryKind, PromptError, ProviderError};
pub use interpolate::InterpolationError;
pub use listener::{AssembleListener, Next};
pub use registry::SystemPrompt;
pub use tool_order::{ToolOrder, ToolOrderError, UNLISTED_TOOLS};
pub use tracker::{CONTEXT_FORM, CONTEXT_PLUGIN, ContextTracker, ContextUpdate};
