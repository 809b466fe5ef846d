//! Bringing the tools into a registry.

use std::sync::Arc;
use std::time::Duration;

use dsh_fs::Search;
use dsh_lifecycle::{Registrations, Slot};
use dsh_sandbox_policy::{PolicySource, Reach};
use dsh_spill::SpillStore;
use dsh_system_prompt::{PromptError, Section, SystemPrompt};
use dsh_tools_core::{Definition, DefinitionError, RegisterError, Tools};

use crate::SearchToolsConfig;
use crate::access::Access;
use crate::glob::Glob;
use crate::grep::Grep;
use crate::spill::spill;
use crate::text;

/// The search tools and what they share.
///
/// The search is looked up at each call, so it may be mounted later; the policy is asked at each call, so it may change
/// between two.
pub struct SearchTools {
    access: Access,
    spill: Option<Slot<dyn SpillStore>>,
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
        Self { access: Access { search, reach: Reach::new(policy), config }, spill: None }
    }

    /// The same tools with arguments that ask for a wider sandbox mode for one call (spec 10 §B.2): the user is asked
    /// before the call runs. For a search that confines, and where somebody can be asked.
    #[must_use]
    pub fn with_escalation(mut self) -> Self {
        self.access.reach = self.access.reach.with_escalation();
        self
    }

    /// The same tools over a slot for the store of complete results (spec 07 §7.4). What the model called itself, and is
    /// shown in part, is handed over whole to the store that is mounted then, and the result says where it is. While the
    /// slot is empty, nothing is. Registrations of such tools hold the registry until they are dropped.
    ///
    /// A store that fails, panics or takes longer than [`spill_timeout_ms`](SearchToolsConfig::spill_timeout_ms) changes
    /// nothing but what the page says of the rest.
    #[must_use]
    pub fn with_spill(mut self, store: Slot<dyn SpillStore>) -> Self {
        self.spill = Some(store);
        self
    }

    /// Registers `glob` and `grep` for everybody, with the prompt sections `tool:glob` (103) and `tool:grep` (104).
    /// Dropping what it returns takes all of it away; when it fails, nothing stays.
    pub fn register(&self, tools: &Tools, prompt: &SystemPrompt) -> Result<Registrations, SearchToolsError> {
        let access = Arc::new(self.access.clone());
        let config = &access.config;
        let about_glob =
            text::glob_guidance(config.sample_over_cap_glob_results, config.glob_max_results.get());
        let about_grep = text::grep_guidance(config.grep_max_matches.get());
        let mut mounted = Registrations::new();
        mounted.push(tools.register(None, Definition::typed(Glob(Arc::clone(&access)))?)?);
        mounted.push(tools.register(None, Definition::typed(Grep(Arc::clone(&access)))?)?);
        if let Some(store) = &self.spill {
            let deadline = Duration::from_millis(config.spill_timeout_ms.get());
            mounted.extend(spill(tools, Glob(Arc::clone(&access)), store.clone(), deadline));
            mounted.extend(spill(tools, Grep(Arc::clone(&access)), store.clone(), deadline));
        }
        mounted.push(prompt.section(None, Section::new("tool:glob", 103, about_glob))?);
        mounted.push(prompt.section(None, Section::new("tool:grep", 104, about_grep))?);
        Ok(mounted)
    }
}
