//! Bringing the tools into a registry.

use std::sync::Arc;

use dsh_fs::Search;
use dsh_lifecycle::{Registrations, Slot};
use dsh_sandbox_policy::PolicySource;
use dsh_system_prompt::{PromptError, Section, SystemPrompt};
use dsh_tools_core::{Definition, DefinitionError, RegisterError, Tools};

use crate::SearchToolsConfig;
use crate::access::Access;
use crate::glob::Glob;
use crate::grep::Grep;
use crate::text;

/// The search tools and what they share.
///
/// The search is looked up at each call, so it may be mounted later; the policy is asked at each call, so it may change
/// between two.
pub struct SearchTools {
    access: Arc<Access>,
}

/// Why the search tools can't be registered. For the operator.
#[derive(Debug, thiserror::Error)]
pub enum SearchToolsError {
    /// A tool has no valid definition.
    #[error(transparent)]
    Definition(#[from] DefinitionError),
    /// The registry refuses a tool, because another has its name.
    #[error(transparent)]
    Register(#[from] RegisterError),
    /// The prompt refuses a section, because another has its name.
    #[error(transparent)]
    Prompt(#[from] PromptError),
}

impl SearchTools {
    /// The tools over a slot for the search and a source of policies. While the slot is empty, calls fail with
    /// `SEARCH_FAILED`.
    pub fn new(search: Slot<dyn Search>, policy: Arc<dyn PolicySource>, config: SearchToolsConfig) -> Self {
        Self { access: Arc::new(Access { search, policy, config }) }
    }

    /// Registers `glob` and `grep` for everybody, with the prompt sections `tool:glob` (103) and `tool:grep` (104).
    /// Dropping what it returns takes all of it away; when it fails, nothing stays.
    pub fn register(&self, tools: &Tools, prompt: &SystemPrompt) -> Result<Registrations, SearchToolsError> {
        let config = &self.access.config;
        let about_glob =
            text::glob_guidance(config.sample_over_cap_glob_results, config.glob_max_results.get());
        let about_grep = text::grep_guidance(config.grep_max_matches.get());
        let mut mounted = Registrations::new();
        mounted.push(tools.register(None, Definition::typed(Glob(Arc::clone(&self.access)))?)?);
        mounted.push(tools.register(None, Definition::typed(Grep(Arc::clone(&self.access)))?)?);
        mounted.push(prompt.section(None, Section::new("tool:glob", 103, about_glob))?);
        mounted.push(prompt.section(None, Section::new("tool:grep", 104, about_grep))?);
        Ok(mounted)
    }
}
