//! A registry with the file tools over a temporary workspace.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dsh_agent::Agent;
use dsh_fs::{FileSystem, Intents};
use dsh_fs_local::{LocalFs, canonical_policy};
use dsh_lifecycle::{Registrations, Slot, SteppingClock};
use dsh_sandbox_policy::SandboxMode;
use dsh_scope::Scope;
use dsh_session::{Header, Session, SessionSpec, Vocabulary};
use dsh_spill::SpillStore;
use dsh_system_prompt::SystemPrompt;
use dsh_tool_fs::{FsTools, FsToolsConfig};
use dsh_tools_core::{CallInput, Json, ToolResult, Tools};

pub(crate) struct World {
    dir: tempfile::TempDir,
    pub(crate) tools: Tools,
    /// Empty, until a test puts something in.
    pub(crate) spill: Slot<dyn SpillStore>,
    pub(crate) intents: Slot<dyn Intents>,
    _mounted: Registrations,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with(SandboxMode::WorkspaceWrite, FsToolsConfig::default())
    }

    pub(crate) fn with(mode: SandboxMode, config: FsToolsConfig) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let fs: Arc<dyn FileSystem> = Arc::new(LocalFs::default());
        let policy = Arc::new(canonical_policy(mode, dir.path(), []));
        let (tools, prompt) = (Tools::new(), SystemPrompt::default());
        let (spill, intents) = (Slot::empty(), Slot::empty());
        let all = FsTools::new(Slot::filled(fs), Arc::new(policy), config)
            .with_intents(intents.clone())
            .with_spill(spill.clone());
        let mounted = all.register(&tools, &prompt).unwrap();
        Self { dir, tools, spill, intents, _mounted: mounted }
    }

    pub(crate) fn dir(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    pub(crate) fn put(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.dir().join(name);
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Json) -> Arc<ToolResult> {
        self.tools.execute(CallInput::new("call-1", tool, arguments)).await
    }

    /// A call of a session.
    pub(crate) async fn call_of(&self, header: Header, tool: &str, arguments: Json) -> Arc<ToolResult> {
        self.tools.execute(of_session(header, tool, arguments)).await
    }

    /// What the model reads of a call, with the workspace as `$DIR` and what holds it as `$UP`.
    pub(crate) async fn text(&self, tool: &str, arguments: Json) -> String {
        let (result, dir) = (self.call(tool, arguments).await, self.dir());
        let named = dsh_llm::plain_text(&result.content).replace(dir.to_str().unwrap(), "$DIR");
        named.replace(dir.parent().unwrap().to_str().unwrap(), "$UP")
    }
}

/// What is called by the agent of a session.
pub(crate) fn of_session(header: Header, tool: &str, arguments: Json) -> CallInput {
    let session = Session::create(SessionSpec {
        header,
        vocabulary: Arc::new(Vocabulary::core()),
        clock: Arc::new(SteppingClock::starting_at(0)),
        sink: None,
    });
    CallInput { agent: Some(Agent::new(Scope::root(), session)), ..CallInput::new("c", tool, arguments) }
}
