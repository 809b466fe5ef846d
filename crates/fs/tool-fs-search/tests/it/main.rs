//! The search tools through the registry, on real trees.
#![expect(clippy::unwrap_used, reason = "the helpers of a test may panic like the test itself")]

mod find;
mod kept;
mod mount;
mod search;
mod store;

use std::fs;
use std::sync::Arc;

use dsh_fs_local::LocalSearch;
use dsh_json::Json;
use dsh_lifecycle::{Registrations, Slot};
use dsh_llm::plain_text;
use dsh_sandbox_policy::{SandboxMode, SandboxPolicy};
use dsh_spill::SpillStore;
use dsh_system_prompt::SystemPrompt;
use dsh_tool_fs_search::{SearchTools, SearchToolsConfig};
use dsh_tools_core::{CallInput, CallView, ResultView, StoredResult, ToolResult, Tools};
use tempfile::TempDir;

/// A workspace with the search tools over it.
struct World {
    dir: TempDir,
    tools: Tools,
    mounted: Registrations,
}

impl World {
    fn new(files: &[(&str, &str)]) -> Self {
        Self::with("{}", files)
    }

    /// Configured by JSON, with these files: path and content, written in this order, so that they age in it.
    fn with(config: &str, files: &[(&str, &str)]) -> Self {
        Self::keeping(config, Slot::empty(), files)
    }

    /// The same with a slot for the store of complete results.
    fn keeping(config: &str, store: Slot<dyn SpillStore>, files: &[(&str, &str)]) -> Self {
        let dir = TempDir::new().unwrap();
        for (age, (path, content)) in files.iter().enumerate() {
            let file = dir.path().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, content).unwrap();
            let modified = std::time::UNIX_EPOCH + std::time::Duration::from_secs(age as u64);
            fs::File::options().write(true).open(file).unwrap().set_modified(modified).unwrap();
        }
        let config: SearchToolsConfig = Json::parse(config).unwrap().read().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let policy = Arc::new(SandboxPolicy::new(SandboxMode::ReadOnly, root, []));
        let tools = Tools::new();
        let search = Slot::filled(Arc::new(LocalSearch::new()) as Arc<dyn dsh_fs::Search>);
        let mounted = SearchTools::new(search, Arc::new(policy), config)
            .with_spill(store)
            .register(&tools, &SystemPrompt::default())
            .unwrap();
        Self { dir, tools, mounted }
    }

    async fn call(&self, tool: &str, arguments: &str) -> Arc<ToolResult> {
        let input = CallInput::new("call", tool, Json::parse(arguments).unwrap());
        self.tools.execute(input).await
    }

    /// What the model reads.
    async fn text(&self, tool: &str, arguments: &str) -> String {
        plain_text(&self.call(tool, arguments).await.content)
    }

    /// The value that a program gets, as JSON.
    async fn value(&self, tool: &str, arguments: &str) -> String {
        let result = self.call(tool, arguments).await;
        result.value().unwrap().to_text()
    }

    /// The code and the words of a failure.
    async fn failure(&self, tool: &str, arguments: &str) -> (Option<String>, String) {
        let result = self.call(tool, arguments).await;
        let error = result.error().unwrap();
        (error.code().map(str::to_owned), error.message.clone())
    }

    fn call_card(&self, tool: &str, arguments: &str) -> CallView {
        let view = self.tools.view(None);
        view.get(tool).unwrap().present_call(&Json::parse(arguments).unwrap()).unwrap()
    }

    fn result_card(&self, tool: &str, arguments: &str, result: &ToolResult) -> Option<ResultView> {
        let stored = StoredResult {
            content: &result.content,
            is_error: result.is_error(),
            meta: result.meta.as_ref(),
        };
        let view = self.tools.view(None);
        view.get(tool).unwrap().present_result(&Json::parse(arguments).unwrap(), &stored)
    }
}
