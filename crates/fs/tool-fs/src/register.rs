//! Bringing the tools into a registry.

use std::sync::Arc;

use dsh_fs::{FileSystem, Intents};
use dsh_lifecycle::{Registrations, Slot};
use dsh_sandbox_policy::{PolicySource, Reach};
use dsh_spill::SpillStore;
use dsh_system_prompt::{PromptError, Section, SystemPrompt};
use dsh_tools_core::{Definition, DefinitionError, RegisterError, Tools};

use crate::access::Access;
use crate::config::FsToolsConfig;
use crate::edit::{self, Edit};
use crate::read::{self, Read};
use crate::write::{self, Write};

/// The file tools and what they share.
///
/// The file system is looked up at each call, so it may be mounted later; the policy is asked at each call, so it may
/// change between two.
pub struct FsTools {
    access: Access,
    config: FsToolsConfig,
}

/// Why the file tools can't be registered. For the operator.
#[derive(Debug, thiserror::Error)]
pub enum FsToolsError {
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

impl FsTools {
    /// The tools over a slot for the file system and a source of policies.
    pub fn new(fs: Slot<dyn FileSystem>, policy: Arc<dyn PolicySource>, config: FsToolsConfig) -> Self {
        let (reach, intents, spill) = (Reach::new(policy), Slot::empty(), Slot::empty());
        Self { access: Access { fs, reach, intents, spill }, config }
    }

    /// The same tools with somebody to ask how changes are guarded, and to tell what was seen. Looked up at each call;
    /// while the slot is empty, changes are unconditional.
    #[must_use]
    pub fn with_intents(mut self, intents: Slot<dyn Intents>) -> Self {
        self.access.intents = intents;
        self
    }

    /// The same tools with a store whose texts `read` shows by their locators. Looked up at each call; a store that takes longer
    /// than [`read_stored_ms`](FsToolsConfig::read_stored_ms), fails or does not keep its word is a failure of the call.
    #[must_use]
    pub fn with_spill(mut self, spill: Slot<dyn SpillStore>) -> Self {
        self.access.spill = spill;
        self
    }

    /// The same tools with arguments that ask for a wider sandbox mode for one call (spec 10 §B.2): the user is asked
    /// before the call runs. For a file system that confines, and where somebody can be asked.
    #[must_use]
    pub fn with_escalation(mut self) -> Self {
        self.access.reach = self.access.reach.with_escalation();
        self
    }

    /// Registers `read`, `write` and `edit` for everybody, with the prompt sections `tool:read` (100), `tool:write` (101)
    /// and `tool:edit` (102).
    /// Dropping what it returns takes all of it away; when it fails, nothing stays.
    pub fn register(&self, tools: &Tools, prompt: &SystemPrompt) -> Result<Registrations, FsToolsError> {
        let read = Definition::typed(Read { access: self.access.clone(), config: self.config.clone() })?;
        let write = Definition::typed(Write { access: self.access.clone() })?;
        let edit = Definition::typed(Edit { access: self.access.clone() })?;
        let mut all = Registrations::new();
        all.push(tools.register(None, read)?);
        all.push(tools.register(None, write)?);
        all.push(tools.register(None, edit)?);
        all.push(prompt.section(None, Section::new("tool:read", 100, read::PROMPT))?);
        all.push(prompt.section(None, Section::new("tool:write", 101, write::PROMPT))?);
        all.push(prompt.section(None, Section::new("tool:edit", 102, edit::PROMPT))?);
        Ok(all)
    }
}
