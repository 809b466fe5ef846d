//! The file tools in a temporary workspace, as several sessions call them.

use std::path::PathBuf;
use std::sync::Arc;

use dsh_agent::Agent;
use dsh_fs::{FileSystem, Intents};
use dsh_fs_local::{LocalFs, canonical_policy};
use dsh_lifecycle::{Registrations, Slot, SteppingClock};
use dsh_observation_policy::{ObservationConfig, ObservationPolicy};
use dsh_sandbox_policy::SandboxMode;
use dsh_scope::Scope;
use dsh_session::{Header, Session, SessionSpec, Vocabulary};
use dsh_system_prompt::SystemPrompt;
use dsh_tool_fs::{FsTools, FsToolsConfig};
use dsh_tools_core::{CallInput, Json, ToolResult, Tools};

pub(crate) struct World {
    dir: tempfile::TempDir,
    tools: Tools,
    pub(crate) intents: Slot<dyn Intents>,
    _mounted: Registrations,
}

impl World {
    /// With this provider of intents.
    pub(crate) fn over(intents: Slot<dyn Intents>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let fs: Arc<dyn FileSystem> = Arc::new(LocalFs::default());
        let policy = Arc::new(canonical_policy(SandboxMode::WorkspaceWrite, dir.path(), []));
        let (tools, prompt) = (Tools::new(), SystemPrompt::default());
        let mounted = FsTools::new(Slot::filled(fs), Arc::new(policy), FsToolsConfig::default())
            .with_intents(intents.clone())
            .register(&tools, &prompt)
            .unwrap();
        Self { dir, tools, intents, _mounted: mounted }
    }

    /// With the policy.
    pub(crate) fn guarded() -> Self {
        Self::over(Slot::filled(Arc::new(ObservationPolicy::new(&ObservationConfig::default()))))
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn put(&self, name: &str, content: &str) {
        std::fs::write(self.file(name), content).unwrap();
    }

    pub(crate) fn content(&self, name: &str) -> String {
        std::fs::read_to_string(self.file(name)).unwrap()
    }

    /// A call of a session; `None` for one of nobody.
    pub(crate) async fn call(&self, session: Option<&str>, tool: &str, arguments: Json) -> Arc<ToolResult> {
        let input = CallInput { agent: session.map(agent), ..CallInput::new("c", tool, arguments) };
        self.tools.execute(input).await
    }

    /// What the call came to: `ok`, or its code.
    pub(crate) async fn came_to(&self, session: Option<&str>, tool: &str, arguments: Json) -> String {
        let result = self.call(session, tool, arguments).await;
        match result.error() {
            None => "ok".to_owned(),
            Some(error) => error.code().unwrap_or("no code").to_owned(),
        }
    }
}

/// The agent of a session.
fn agent(session: &str) -> Agent {
    let spec = SessionSpec {
        header: Header::new(session, 0).unwrap(),
        vocabulary: Arc::new(Vocabulary::core()),
        clock: Arc::new(SteppingClock::starting_at(0)),
        sink: None,
    };
    Agent::new(Scope::root(), Session::create(spec))
}
