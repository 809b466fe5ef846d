//! What a row may use.

use std::sync::Arc;

use dsh_agent::Hooks;
use dsh_agent_loop::AgentLoop;
use dsh_code_runtime::CodeRuntime;
use dsh_fs::{FileSystem, Intents, Search};
use dsh_lifecycle::Slot;
use dsh_llm::Model;
use dsh_mcp_server::McpServerConfig;
use dsh_permission_presets::Presets;
use dsh_permission_rules::RulesConfig;
use dsh_session::{Vocabulary, VocabularyError};
use dsh_spill::SpillStore;
use dsh_system_prompt::SystemPrompt;
use dsh_tools_core::{Presentation, Tools};
use dsh_user_approval::{Answerer, Approvals};
use parking_lot::Mutex;
use tokio_util::task::TaskTracker;

use crate::{Environment, ModelChoice, SharedPolicy, WorkerEntry};

/// The registries and service slots of one harness. A slot is empty until the row that provides it is mounted, and is
/// looked up when it is used; so rows don't depend on each other's order for more than the order of calls.
pub struct Host {
    /// The tools, and those who listen to their calls.
    pub tools: Tools,
    /// What models are told.
    pub prompt: SystemPrompt,
    /// Who takes part in turns, and who is told of what happens to agents.
    pub hooks: Hooks,
    /// The model.
    pub model: Slot<dyn Model>,
    /// Files.
    pub fs: Slot<dyn FileSystem>,
    /// Searches.
    pub search: Slot<dyn Search>,
    /// How changes of files are guarded.
    pub intents: Slot<dyn Intents>,
    /// What runs programs.
    pub runtime: Slot<dyn CodeRuntime>,
    /// How tools are presented to models where a scope says nothing else.
    pub presentation: Presentation,
    /// The program that becomes a worker for programs of models.
    pub worker: WorkerEntry,
    /// Where texts go that are too large to show.
    pub spill: Slot<dyn SpillStore>,
    /// What runs turns.
    pub turns: Slot<AgentLoop>,
    /// The bounds of whoever serves the tools to a client of the Model Context Protocol.
    pub mcp: Slot<McpServerConfig>,
    /// What tools may reach.
    pub policy: Arc<SharedPolicy>,
    /// Work in the background: whoever shuts the harness down waits for it, so it ends by itself or when its row is
    /// unmounted.
    pub tasks: TaskTracker,
    /// Whether results are read by no model and kept in no log, so that they are given whole.
    pub whole_results: bool,
    /// Directories, clock and ids.
    pub environment: Environment,
    /// The model that was asked for above the configuration, if any.
    pub model_choice: Option<ModelChoice>,
    /// The embedder's own model, if any.
    pub own_model: Option<Arc<dyn Model>>,
    /// The embedder's own spill store, if any.
    pub own_spill_store: Option<Arc<dyn SpillStore>>,
    /// The directory that relative paths of the configuration start at.
    pub config_base: std::path::PathBuf,
    /// Who asks people about calls.
    pub approvals: Slot<Approvals>,
    /// The permission presets.
    pub presets: Slot<Presets>,
    /// The rules by names of tools.
    pub rules: Slot<RulesConfig>,
    /// The preset that was asked for above the configuration, if any.
    pub preset_choice: Option<Arc<str>>,
    /// Somebody who can be asked, if anybody can.
    pub answerer: Option<Arc<dyn Answerer>>,
    vocabulary: Mutex<Vocabulary>,
}

impl Host {
    pub(crate) fn new(
        environment: Environment,
        policy: SharedPolicy,
        model_choice: Option<ModelChoice>,
        config_base: std::path::PathBuf,
    ) -> Self {
        Self {
            tools: Tools::new(),
            prompt: SystemPrompt::default(),
            hooks: Hooks::default(),
            model: Slot::empty(),
            fs: Slot::empty(),
            search: Slot::empty(),
            intents: Slot::empty(),
            runtime: Slot::empty(),
            presentation: Presentation::Both,
            worker: WorkerEntry::Reexec,
            spill: Slot::empty(),
            turns: Slot::empty(),
            mcp: Slot::empty(),
            policy: Arc::new(policy),
            tasks: TaskTracker::new(),
            environment,
            model_choice,
            own_model: None,
            own_spill_store: None,
            approvals: Slot::empty(),
            presets: Slot::empty(),
            rules: Slot::empty(),
            whole_results: false,
            preset_choice: None,
            answerer: None,
            config_base,
            vocabulary: Mutex::new(Vocabulary::core()),
        }
    }

    /// Declares event types of a plugin. A log that holds an undeclared one is refused, so this happens while the
    /// plugin is mounted, before any session is opened.
    pub fn declare(
        &self,
        declare: impl FnOnce(Vocabulary) -> Result<Vocabulary, VocabularyError>,
    ) -> Result<(), VocabularyError> {
        let mut vocabulary = self.vocabulary.lock();
        *vocabulary = declare(vocabulary.clone())?;
        Ok(())
    }

    /// The event types that sessions of this host may hold.
    pub fn vocabulary(&self) -> Vocabulary {
        self.vocabulary.lock().clone()
    }
}
