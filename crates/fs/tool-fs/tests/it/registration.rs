//! Mounting and unmounting.

use std::sync::Arc;

use dsh_fs::FileSystem;
use dsh_fs_local::LocalFs;
use dsh_lifecycle::Slot;
use dsh_sandbox_policy::{SandboxMode, SandboxPolicy};
use dsh_system_prompt::{AssembleContext, Section, SystemPrompt};
use dsh_tool_fs::{FsTools, FsToolsConfig, FsToolsError};
use dsh_tools_core::{CallInput, Tools, object};

fn tools_over(fs: Slot<dyn FileSystem>) -> FsTools {
    let policy = SandboxPolicy::new(SandboxMode::ReadOnly, "/", []);
    FsTools::new(fs, Arc::new(policy), FsToolsConfig::default())
}

#[test]
fn mounting_adds_tools_and_sections_and_dropping_takes_them_away() {
    let (tools, prompt) = (Tools::new(), SystemPrompt::default());
    let sections = || prompt.assemble(&AssembleContext::default()).unwrap().render_prompt().unwrap();
    let known = || ["read", "write", "edit"].map(|name| tools.definition(None, name).is_some());
    let before = sections();
    let mounted = tools_over(Slot::empty()).register(&tools, &prompt).unwrap();
    assert_eq!(known(), [true; 3]);
    insta::assert_snapshot!(sections());
    let arguments = object! { "file_path": "a", "content": "", "old_string": "a", "new_string": "b" };
    let parallel = |name| tools.definition(None, name).is_some_and(|tool| tool.parallel(&arguments));
    assert!(parallel("read") && !parallel("write") && !parallel("edit"));
    drop(mounted);
    assert_eq!((known(), sections()), ([false; 3], before));
}

#[test]
fn a_taken_name_leaves_nothing_mounted() {
    let (tools, prompt) = (Tools::new(), SystemPrompt::default());
    let _taken = prompt.section(None, Section::new("tool:write", 1, "mine")).unwrap();
    let refused = tools_over(Slot::empty()).register(&tools, &prompt);
    assert!(matches!(refused, Err(FsToolsError::Prompt(_))));
    assert!(tools.definition(None, "read").is_none() && tools.definition(None, "write").is_none());
    assert_eq!(prompt.assemble(&AssembleContext::default()).unwrap().render_prompt().unwrap(), "mine");
}

#[tokio::test]
async fn the_file_system_is_looked_up_at_each_call() {
    let fs: Slot<dyn FileSystem> = Slot::empty();
    let (tools, prompt) = (Tools::new(), SystemPrompt::default());
    let _mounted = tools_over(fs.clone()).register(&tools, &prompt).unwrap();
    let text = async || {
        let call = CallInput::new("c", "read", object! { "file_path": "/no/such" });
        dsh_llm::plain_text(&tools.execute(call).await.content)
    };
    assert_eq!(text().await, "Error: no file system is mounted; files can't be reached in this session");
    let _provided = fs.provide(Arc::new(LocalFs::default())).unwrap();
    assert_eq!(text().await, "Error: /no/such does not exist. Check the path.");
}
