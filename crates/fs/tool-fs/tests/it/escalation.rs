//! More reach for one call, when a person allows it (spec 07 §5.2, spec 10 §B.2).

use std::sync::Arc;

use async_trait::async_trait;
use dsh_agent::Agent;
use dsh_fs::FileSystem;
use dsh_fs_local::{LocalFs, canonical_policy};
use dsh_lifecycle::{Registration, Registrations, Slot, SteppingClock};
use dsh_llm::plain_text;
use dsh_sandbox_policy::SandboxMode;
use dsh_scope::Scope;
use dsh_session::{Header, Session, SessionSpec, Vocabulary};
use dsh_system_prompt::SystemPrompt;
use dsh_tool_fs::{FsTools, FsToolsConfig};
use dsh_tools_core::{
    Approval, ApprovalRequest, Approver, CallInput, Json, ToolError, ToolResult, Tools, object,
};
use parking_lot::Mutex;

/// A workspace with a file beside it, tools that may ask for more, and a person with one answer.
struct Scene {
    dir: tempfile::TempDir,
    tools: Tools,
    questions: Arc<Mutex<Vec<String>>>,
    mounted: Registrations,
    person: Option<Registration>,
}

struct Person {
    questions: Arc<Mutex<Vec<String>>>,
    answer: Approval,
}

#[async_trait]
impl Approver for Person {
    async fn ask(&self, request: ApprovalRequest<'_>) -> Result<Approval, ToolError> {
        let reason = request.reason.unwrap_or_default();
        self.questions.lock().push(format!("{}: {reason}", request.execution.name));
        Ok(self.answer)
    }
}

impl Scene {
    fn new(mode: SandboxMode, answer: Option<Approval>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for (name, content) in [("ws/a", "inside\n"), ("beside", "outside\n")] {
            std::fs::create_dir_all(dir.path().join("ws")).unwrap();
            std::fs::write(dir.path().join(name), content).unwrap();
        }
        let fs: Arc<dyn FileSystem> = Arc::new(LocalFs::default());
        let policy = Arc::new(canonical_policy(mode, &dir.path().join("ws"), []));
        let (tools, prompt) = (Tools::new(), SystemPrompt::default());
        let all =
            FsTools::new(Slot::filled(fs), Arc::new(policy), FsToolsConfig::default()).with_escalation();
        let mounted = all.register(&tools, &prompt).unwrap();
        let questions = Arc::new(Mutex::new(Vec::new()));
        let person = answer.map(|answer| {
            let person = Person { questions: Arc::clone(&questions), answer };
            tools.approver().provide(Arc::new(person)).unwrap()
        });
        Self { dir, tools, questions, mounted, person }
    }

    async fn call(&self, tool: &str, arguments: Json) -> Arc<ToolResult> {
        let session = Session::create(SessionSpec {
            header: Header::new("s", 0).unwrap(),
            vocabulary: Arc::new(Vocabulary::core()),
            clock: Arc::new(SteppingClock::starting_at(0)),
            sink: None,
        });
        let agent = Some(Agent::new(Scope::root(), session));
        self.tools.execute(CallInput { agent, ..CallInput::new("c", tool, arguments) }).await
    }

    fn beside(&self) -> String {
        std::fs::read_to_string(self.dir.path().join("beside")).unwrap()
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.questions.lock())
    }

    fn text(&self, result: &ToolResult) -> String {
        let dir = self.dir.path().canonicalize().unwrap();
        plain_text(&result.content).replace(dir.to_str().unwrap(), "$DIR")
    }
}

fn wider(mode: &str, arguments: Json) -> Json {
    let Json::Object(members) = arguments else { panic!("no object") };
    let mut members = Arc::unwrap_or_clone(members);
    members.insert("sandbox_permissions", mode);
    members.insert("justification", "the user keeps notes there");
    members.into()
}

#[tokio::test]
async fn a_denial_says_how_to_ask() {
    let scene = Scene::new(SandboxMode::ReadOnly, Some(Approval::AllowedOnce));
    let mut told = Vec::new();
    for (tool, arguments) in [
        ("read", object! { "file_path": "../beside" }),
        ("write", object! { "file_path": "a", "content": "x" }),
        ("edit", object! { "file_path": "a", "old_string": "inside", "new_string": "x" }),
    ] {
        let result = scene.call(tool, arguments).await;
        assert_eq!(result.error().unwrap().code(), Some("FS_SANDBOX_DENIED"));
        told.push(scene.text(&result));
    }
    insta::assert_snapshot!(told.join("\n\n"));
    assert!(scene.asked().is_empty());
}

#[tokio::test]
async fn a_grant_widens_this_call_alone() {
    let scene = Scene::new(SandboxMode::WorkspaceWrite, Some(Approval::AllowedOnce));
    let write = object! { "file_path": "../beside", "content": "changed\n" };
    let result = scene.call("write", wider("danger-full-access", write.clone())).await;
    assert!(result.error().is_none(), "{}", scene.text(&result));
    assert_eq!(scene.beside(), "changed\n");
    assert_eq!(
        scene.asked(),
        ["write: run this one call under the sandbox mode danger-full-access: the user keeps notes there"]
    );
    let again = scene.call("write", write).await;
    assert_eq!(again.error().unwrap().code(), Some("FS_SANDBOX_DENIED"));
    let read = scene.call("read", wider("danger-full-access", object! { "file_path": "../beside" })).await;
    assert!(scene.text(&read).contains("1: changed"));
    let edit = object! { "file_path": "../beside", "old_string": "changed", "new_string": "edited" };
    scene.call("edit", wider("danger-full-access", edit)).await;
    assert_eq!(scene.beside(), "edited\n");
}

#[tokio::test]
async fn whatever_is_no_grant_changes_nothing_and_is_told_apart() {
    let rows = [
        (Some(Approval::Rejected), "APPROVAL_REJECTED"),
        (Some(Approval::Cancelled), "APPROVAL_CANCELLED"),
        (Some(Approval::Unavailable), "APPROVAL_UNAVAILABLE"),
        (None, "APPROVAL_UNSUPPORTED"),
    ];
    for (answer, code) in rows {
        let scene = Scene::new(SandboxMode::WorkspaceWrite, answer);
        let write = object! { "file_path": "../beside", "content": "changed\n" };
        let result = scene.call("write", wider("danger-full-access", write)).await;
        assert_eq!(result.error().unwrap().code(), Some(code));
        assert_eq!(scene.beside(), "outside\n");
        assert_eq!(scene.person.is_some(), answer.is_some());
    }
}

#[tokio::test]
async fn what_could_not_be_granted_is_never_asked() {
    let scene = Scene::new(SandboxMode::WorkspaceWrite, Some(Approval::AllowedOnce));
    let write = || object! { "file_path": "a", "content": "x" };
    let mut told = Vec::new();
    for arguments in [
        wider("workspace-write", write()),
        wider("read-only", write()),
        object! { "file_path": "a", "content": "x", "sandbox_permissions": "danger-full-access" },
        object! { "file_path": "a", "content": "x", "justification": "because" },
        object! { "file_path": "a", "content": "x", "sandbox_permissions": "danger-full-access", "justification": " " },
    ] {
        let result = scene.call("write", arguments).await;
        assert_eq!(result.error().unwrap().code(), Some("INVALID_ARGS"));
        told.push(scene.text(&result));
    }
    insta::assert_snapshot!(told.join("\n\n"));
    assert!(scene.asked().is_empty());
    assert_eq!(std::fs::read_to_string(scene.dir.path().join("ws/a")).unwrap(), "inside\n");
}

#[tokio::test]
async fn the_two_arguments_are_offered_only_where_they_work() {
    let scene = Scene::new(SandboxMode::ReadOnly, None);
    let offered = |tools: &Tools| {
        let all = ["read", "write", "edit"].map(|name| tools.definition(None, name).unwrap());
        all.map(|tool| tool.parameters().json().to_text().contains("sandbox_permissions"))
    };
    assert_eq!(offered(&scene.tools), [true; 3]);
    assert_eq!(offered(&crate::world::World::new().tools), [false; 3]);
    assert_eq!(scene.mounted.len(), 6);
}
