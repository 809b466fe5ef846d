//! The tools `glob` and `grep`: what models give to them and read of them (spec 07 §7).
//!
//! The search itself is a [`Search`](dsh_fs::Search) that is looked up for each call; where it may go is asked of the
//! policy for each call, too. This crate checks arguments, and turns complete results into a page for the model, facts
//! for the screen, and the whole value for programs. What is over the cap of a page goes to a
//! [`SpillStore`](dsh_spill::SpillStore), where there is one. Both tools only read, so their calls may overlap.
//!
//! ```
//! use std::sync::Arc;
//!
//! use dsh_lifecycle::Slot;
//! use dsh_sandbox_policy::{SandboxMode, SandboxPolicy};
//! use dsh_system_prompt::SystemPrompt;
//! use dsh_tool_fs_search::{SearchTools, SearchToolsConfig};
//! use dsh_tools_core::Tools;
//!
//! let policy = Arc::new(SandboxPolicy::new(SandboxMode::ReadOnly, "/work", []));
//! let search = SearchTools::new(Slot::empty(), Arc::new(policy), SearchToolsConfig::default());
//! let (tools, prompt) = (Tools::new(), SystemPrompt::default());
//! let mounted = search.register(&tools, &prompt)?;
//! assert!(tools.view(None).get("grep").is_some());
//!
//! drop(mounted);
//! assert!(tools.view(None).get("grep").is_none());
//! # Ok::<(), dsh_tool_fs_search::SearchToolsError>(())
//! ```

mod access;
mod config;
mod glob;
mod grep;
mod page;
mod register;
mod sample;
mod spill;
mod text;
mod view;

pub use config::SearchToolsConfig;
pub use register::{SearchTools, SearchToolsError};
