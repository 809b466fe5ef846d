//! What is mounted, and how it goes away.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dsh_fs::{GlobHits, GlobRequest, GrepHits, GrepRequest, Search, SearchError};
use dsh_fs_local::LocalSearch;
use dsh_json::{Json, object};
use dsh_lifecycle::{Cancel, Cause, Slot};
use dsh_sandbox_policy::{PolicySource, SandboxMode, SandboxPolicy};
use dsh_system_prompt::{AssembleContext, SystemPrompt};
use dsh_tool_fs_search::{SearchTools, SearchToolsConfig, SearchToolsError};
use dsh_tools_core::{CallInput, Tools, async_trait};
use insta::assert_snapshot;
use tokio::sync::Notify;

use super::World;

fn tools(config: SearchToolsConfig) -> SearchTools {
    let policy = Arc::new(SandboxPolicy::new(SandboxMode::ReadOnly, "/work", []));
    SearchTools::new(Slot::empty(), Arc::new(policy), config)
}

fn prompt_with(config: SearchToolsConfig) -> String {
    let prompt = SystemPrompt::default();
    let _mounted = tools(config).register(&Tools::new(), &prompt).unwrap();
    prompt.assemble(&AssembleContext::default()).unwrap().render_prompt().unwrap()
}

#[test]
fn everything_goes_with_the_registrations() {
    let (registry, prompt) = (Tools::new(), SystemPrompt::default());
    let names = || registry.view(None).tools().map(|tool| tool.name().to_string()).collect::<Vec<_>>();
    let sections = || prompt.assemble(&AssembleContext::default()).unwrap().sections.len();
    let mounted = tools(SearchToolsConfig::default()).register(&registry, &prompt).unwrap();
    assert_eq!((names(), sections(), mounted.len()), (vec!["glob".to_owned(), "grep".to_owned()], 2, 4));
    drop(mounted);
    assert_eq!((names(), sections()), (vec![], 0));
}

#[test]
fn a_second_mount_is_refused_and_leaves_nothing() {
    let (registry, prompt) = (Tools::new(), SystemPrompt::default());
    let mounted = tools(SearchToolsConfig::default()).register(&registry, &prompt).unwrap();
    let refused = tools(SearchToolsConfig::default()).register(&registry, &prompt);
    assert!(matches!(refused, Err(SearchToolsError::Register(_))));
    drop(mounted);
    assert_eq!(registry.view(None).tools().len(), 0);
}

#[test]
fn both_tools_overlap_and_declare_their_time() {
    let (registry, prompt) = (Tools::new(), SystemPrompt::default());
    let _mounted = tools(SearchToolsConfig::default()).register(&registry, &prompt).unwrap();
    for tool in registry.view(None).tools() {
        assert!(tool.parallel(&Json::parse(r#"{"pattern": "x"}"#).unwrap()));
        assert_eq!(tool.timeout(), Some(Duration::from_secs(30)));
    }
}

#[test]
fn the_prompt_says_what_becomes_of_too_many_results() {
    assert_snapshot!(prompt_with(SearchToolsConfig::default()));
    let head = SearchToolsConfig { sample_over_cap_glob_results: false, ..SearchToolsConfig::default() };
    let text = prompt_with(head.clone());
    assert!(text.contains("Of more than 100 files you see the first ones; narrow `pattern`"), "{text}");
    let one = NonZeroUsize::MIN;
    let text = prompt_with(SearchToolsConfig { glob_max_results: one, grep_max_matches: one, ..head });
    assert!(text.contains("Of more than 1 file you see the first one; narrow"), "{text}");
    assert!(text.contains("You see the first match; narrow"), "{text}");
}

#[test]
fn schemas_are_closed_where_the_output_is() {
    let (registry, prompt) = (Tools::new(), SystemPrompt::default());
    let _mounted = tools(SearchToolsConfig::default()).register(&registry, &prompt).unwrap();
    let described: Vec<String> = registry
        .view(None)
        .tools()
        .map(|tool| {
            format!(
                "{}: {}\ntakes {}\nreturns {}",
                tool.name(),
                tool.description(),
                tool.parameters().json().to_pretty(),
                tool.output().json().to_pretty()
            )
        })
        .collect();
    assert_snapshot!(described.join("\n\n"));
}

#[tokio::test]
async fn without_a_search_calls_say_so() {
    let (registry, prompt) = (Tools::new(), SystemPrompt::default());
    let _mounted = tools(SearchToolsConfig::default()).register(&registry, &prompt).unwrap();
    let arguments = Json::parse(r#"{"pattern": "x"}"#).unwrap();
    let result = registry.execute(CallInput::new("call", "grep", arguments)).await;
    let error = result.error().unwrap();
    assert_eq!(
        (error.code(), &*error.message),
        (Some("SEARCH_FAILED"), "there is no search in this session; use other tools")
    );
}

#[tokio::test]
async fn a_call_that_was_stopped_before_searches_nothing() {
    let world = World::new(&[("a", "x")]);
    let input = CallInput::new("call", "grep", Json::parse(r#"{"pattern": "x"}"#).unwrap());
    input.cancel.cancel(Cause::User);
    let result = world.tools.execute(input).await;
    assert_eq!(result.error().unwrap().code(), Some("ABORTED_BEFORE_DISPATCH"));
}

/// A search that ends with its cancellation.
struct Endless(Arc<Notify>);

#[async_trait]
impl Search for Endless {
    async fn glob(
        &self,
        _: GlobRequest,
        _: &SandboxPolicy,
        cancel: &Cancel,
    ) -> Result<GlobHits, SearchError> {
        self.0.notify_one();
        cancel.cancelled().await;
        Err(SearchError::Aborted)
    }

    async fn grep(
        &self,
        _: GrepRequest,
        _: &SandboxPolicy,
        cancel: &Cancel,
    ) -> Result<GrepHits, SearchError> {
        self.0.notify_one();
        cancel.cancelled().await;
        Err(SearchError::Aborted)
    }
}

#[tokio::test]
async fn a_call_that_is_stopped_while_it_searches_is_aborted() {
    let (registry, begun) = (Tools::new(), Arc::new(Notify::new()));
    let policy = Arc::new(SandboxPolicy::new(SandboxMode::ReadOnly, "/work", []));
    let search = Slot::filled(Arc::new(Endless(Arc::clone(&begun))) as Arc<dyn Search>);
    let tools = SearchTools::new(search, policy, SearchToolsConfig::default());
    let _mounted = tools.register(&registry, &SystemPrompt::default()).unwrap();
    for tool in ["glob", "grep"] {
        let input = CallInput::new("call", tool, Json::parse(r#"{"pattern": "x"}"#).unwrap());
        let stop = input.cancel.clone();
        let stopped = async {
            begun.notified().await;
            stop.cancel(Cause::User);
        };
        let (result, ()) = tokio::join!(registry.execute(input), stopped);
        assert_eq!(result.error().unwrap().code(), Some("ABORTED"), "{tool}");
    }
}

/// A policy that can be switched between two calls.
struct Switch {
    policies: [Arc<SandboxPolicy>; 2],
    second: AtomicBool,
}

impl PolicySource for Switch {
    fn policy(&self, _session: Option<&str>) -> Arc<SandboxPolicy> {
        let [first, second] = &self.policies;
        Arc::clone(if self.second.load(Ordering::Relaxed) { second } else { first })
    }
}

#[tokio::test]
async fn the_policy_and_the_search_are_looked_up_for_each_call() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a"), "x").unwrap();
    let root = dir.path().canonicalize().unwrap();
    let policy = |mode, root: &Path| Arc::new(SandboxPolicy::new(mode, root, []));
    let switch = Arc::new(Switch {
        policies: [
            policy(SandboxMode::ReadOnly, Path::new("/nowhere")),
            policy(SandboxMode::DangerFullAccess, &root),
        ],
        second: AtomicBool::new(false),
    });
    let (registry, slot) = (Tools::new(), Slot::<dyn Search>::empty());
    let tools = SearchTools::new(slot.clone(), Arc::<Switch>::clone(&switch), SearchToolsConfig::default());
    let _mounted = tools.register(&registry, &SystemPrompt::default()).unwrap();
    let code = async || {
        let arguments = object! { "pattern": "x", "path": root.to_str().unwrap_or_default() };
        let result = registry.execute(CallInput::new("call", "grep", arguments)).await;
        result.error().map(|error| error.code().unwrap_or_default().to_owned())
    };
    assert_eq!(code().await.as_deref(), Some("SEARCH_FAILED"));
    let search = slot.provide(Arc::new(LocalSearch::new())).unwrap();
    assert_eq!(code().await.as_deref(), Some("FS_SANDBOX_DENIED"));
    switch.second.store(true, Ordering::Relaxed);
    assert_eq!(code().await, None);
    drop(search);
    assert_eq!(code().await.as_deref(), Some("SEARCH_FAILED"));
}
