//! The demonstration over the real tools: whatever they write, it has to read.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use dsh_fs::{FileSystem, Search};
use dsh_fs_local::{LocalFs, LocalSearch, canonical_policy};
use dsh_lifecycle::{Cancel, Registrations, Slot};
use dsh_llm::{
    Assembler, Content, ContentBlock, Message, Model, ModelRequest, Role, Source, plain_text, text,
};
use dsh_llm_script::DemoModel;
use dsh_sandbox_policy::SandboxMode;
use dsh_system_prompt::SystemPrompt;
use dsh_tool_fs::{FsTools, FsToolsConfig};
use dsh_tool_fs_search::{SearchTools, SearchToolsConfig};
use dsh_tools_core::{Arguments, CallInput, Json, Tools};
use futures_util::StreamExt as _;

/// The tools over a directory.
struct Workspace {
    tools: Tools,
    _mounted: Vec<Registrations>,
}

impl Workspace {
    fn over(root: &Path) -> Self {
        let policy = Arc::new(Arc::new(canonical_policy(SandboxMode::ReadOnly, root, [])));
        let (files, search) = (Slot::<dyn FileSystem>::default(), Slot::<dyn Search>::default());
        files.provide(Arc::new(LocalFs::default())).unwrap().keep();
        search.provide(Arc::new(LocalSearch::new())).unwrap().keep();
        let (tools, prompt) = (Tools::new(), SystemPrompt::default());
        let files = FsTools::new(files, Arc::clone(&policy) as _, FsToolsConfig::default());
        let search = SearchTools::new(search, policy, SearchToolsConfig::default());
        let mounted =
            vec![files.register(&tools, &prompt).unwrap(), search.register(&tools, &prompt).unwrap()];
        Self { tools, _mounted: mounted }
    }

    async fn answer(&self, block: &ContentBlock) -> Message {
        let ContentBlock::ToolCall { id, name, arguments, .. } = block else {
            panic!("not a call: {block:?}")
        };
        let arguments = Arguments::from(Json::parse(arguments).unwrap());
        let result = self.tools.execute(CallInput::new(Arc::clone(id), Arc::clone(name), arguments)).await;
        let block = ContentBlock::ToolResult {
            tool_call_id: Arc::clone(id),
            content: Arc::clone(&result.content),
            is_error: result.is_error(),
        };
        let source = Source::Tool { call_id: Arc::clone(id) };
        Message { id: format!("result-{id}").into(), role: Role::User, content: Arc::new([block]), source }
    }
}

async fn said(messages: &[Arc<Message>]) -> Content {
    let request = ModelRequest { messages: messages.to_vec(), ..ModelRequest::default() };
    let mut assembler = Assembler::default();
    let mut chunks = DemoModel.stream(request, Cancel::new());
    while let Some(chunk) = chunks.next().await {
        assembler.push(&chunk);
    }
    assembler.finish().content
}

/// What it writes about a directory, and how many rounds of calls it makes before.
async fn overview(root: &Path) -> (usize, String) {
    let workspace = Workspace::over(root);
    let prompt =
        Message { id: "prompt".into(), role: Role::User, content: text("Hello"), source: Source::User };
    let mut messages = vec![Arc::new(prompt)];
    for rounds in 0..4 {
        let content = said(&messages).await;
        let source = Source::Model { provider: "demo".into(), model: "overview".into(), replay_state: None };
        let answer =
            Message { id: format!("answer-{rounds}").into(), role: Role::Assistant, content, source };
        let answer = Arc::new(answer);
        messages.push(Arc::clone(&answer));
        let calls: Vec<_> = answer.tool_calls().collect();
        if calls.is_empty() {
            return (rounds, plain_text(&answer.content));
        }
        for call in calls {
            messages.push(Arc::new(workspace.answer(call).await));
        }
    }
    panic!("there is no end of it");
}

fn write(root: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

#[tokio::test]
async fn a_project_is_described() {
    let root = tempfile::tempdir().unwrap();
    write(
        root.path(),
        &[
            ("README.md", "# Sorting hat\n\nIt sorts.\n"),
            ("Cargo.toml", "[package]\nname = \"hat\"\n"),
            ("src/main.rs", "fn main() {}\n// TODO: sort\n"),
            ("src/(odd) name.rs", "// FIXME: `rename` this file\n"),
            ("docs/a.md", "a\n"),
            (".env", ""),
        ],
    );
    let (rounds, text) = overview(root.path()).await;
    assert_eq!(rounds, 2);
    insta::assert_snapshot!("overview_of_a_project", text);
}

#[tokio::test]
async fn an_empty_directory_is_described() {
    let root = tempfile::tempdir().unwrap();
    let (rounds, text) = overview(root.path()).await;
    assert_eq!(rounds, 1);
    assert!(text.contains("\nIt is empty: there are no files in it.\n"), "{text}");
}

#[tokio::test]
async fn what_a_page_leaves_out_is_counted() {
    let root = tempfile::tempdir().unwrap();
    for number in 0..140 {
        let python = format!("lib/[{}]/{number}.py", number % 7);
        write(root.path(), &[(&*python, "# TODO\n# TODO\n"), (&*format!("data {{x}}/{number}.txt"), "")]);
    }
    write(root.path(), &[("readme", "Hat\n===\n")]);
    let (rounds, text) = overview(root.path()).await;
    assert_eq!(rounds, 2);
    insta::assert_snapshot!("overview_of_many_files", text);
}

#[tokio::test]
async fn build_output_and_dependencies_are_left_out() {
    let root = tempfile::tempdir().unwrap();
    for number in 0..300 {
        write(
            root.path(),
            &[
                (&*format!("target/debug/{number}.d"), "TODO"),
                (&*format!("target/{number}.json"), ""),
                (&*format!("node_modules/p{number}/README.md"), "# Not this\n"),
                (&*format!(".cache/{number}"), ""),
            ],
        );
    }
    for number in 0..60 {
        write(
            root.path(),
            &[(&*format!("src/{number}.rs"), "// FIXME\n"), (&*format!("docs/{number}.md"), "")],
        );
    }
    write(root.path(), &[("package.json", "{}\n"), ("build.rs", ""), ("fixtures/README.md", "# Nor this\n")]);
    let (rounds, text) = overview(root.path()).await;
    assert_eq!(rounds, 2);
    assert!(text.lines().count() <= 25, "{text}");
    insta::assert_snapshot!("overview_without_build_output", text);
    // What lies deeper down is told apart as well.
    for number in 0..200 {
        let path = format!("src/part/node_modules/{number}.rs");
        write(root.path(), &[(&*path, "")]);
    }
    let (_, deeper) = overview(root.path()).await;
    assert_eq!(deeper, text.replace("1,200 more", "1,400 more"));
}
