//! A client in Rust.

use std::process::Stdio;
use std::time::Duration;

use dsh_json::{Json, object};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, ProgressNotificationParam,
    ServerResult,
};
use rmcp::service::{NotificationContext, PeerRequestOptions, RunningService};
use rmcp::{ClientHandler, RoleClient, ServiceExt as _};
use tokio::process::{Child, Command};
use tokio::sync::mpsc;

use super::raw::WAITS;
use crate::world::{World, assert_closed, verdict};

#[derive(Clone)]
struct Told(mpsc::UnboundedSender<ProgressNotificationParam>);

impl ClientHandler for Told {
    async fn on_progress(&self, progress: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.0.send(progress).unwrap();
    }
}

struct Client {
    service: RunningService<RoleClient, Told>,
    progress: mpsc::UnboundedReceiver<ProgressNotificationParam>,
    server: Child,
}

impl Client {
    async fn connect(world: &World, arguments: &[&str]) -> Self {
        let arguments = ["mcp", "--session", "one.jsonl"].iter().chain(arguments);
        let mut command = Command::from(world.command(arguments));
        let mut server = command.stdin(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
        let streams = (server.stdout.take().unwrap(), server.stdin.take().unwrap());
        let (told, progress) = mpsc::unbounded_channel();
        let service = Told(told).serve(streams).await.unwrap();
        Self { service, progress, server }
    }

    async fn call(&self, name: &'static str, arguments: Json) -> CallToolResult {
        let answer = self.request(name, arguments).await.await_response().await;
        let Ok(ServerResult::CallToolResult(result)) = answer else { panic!("{answer:?}") };
        result
    }

    async fn request(&self, name: &'static str, arguments: Json) -> rmcp::service::RequestHandle<RoleClient> {
        let arguments = serde_json::from_str(&arguments.to_text()).unwrap();
        let params = CallToolRequestParams::new(name).with_arguments(arguments);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        self.service.send_cancellable_request(request, PeerRequestOptions::no_options()).await.unwrap()
    }

    /// Ends as clients do, and finds the log sound.
    async fn leave(mut self, world: &World) {
        self.service.cancel().await.unwrap();
        assert!(self.server.wait().await.unwrap().success());
        assert_closed(world, &world.path("one.jsonl"));
    }
}

#[tokio::test]
async fn every_tool_is_listed_and_called() {
    let world = World::new();
    world.file("ws/a.txt", "alpha\n");
    let client = Client::connect(&world, &[]).await;
    let server = client.service.peer_info().unwrap();
    assert_eq!(server.server_info.as_ref().unwrap().name, "dsh");
    assert!(server.capabilities.tools.clone().unwrap().list_changed.unwrap());

    let tools = client.service.list_all_tools().await.unwrap();
    let told: Vec<_> = tools
        .iter()
        .map(|tool| {
            let reads = tool.annotations.as_ref().and_then(|annotations| annotations.read_only_hint);
            (&*tool.name, reads, tool.output_schema.is_some())
        })
        .collect();
    let expected = [
        ("edit", None, true),
        ("glob", Some(true), true),
        ("grep", Some(true), true),
        ("read", Some(true), true),
        ("run_code", None, true),
        ("write", None, true),
    ];
    assert_eq!(told, expected);
    let described = tools[4].description.as_deref().unwrap();
    assert!(described.contains("read: "), "no declarations: {described}");

    let calls = [
        ("write", object! { "file_path": "b.txt", "content": "beta\n" }),
        ("edit", object! { "file_path": "b.txt", "old_string": "beta", "new_string": "gamma" }),
        ("read", object! { "file_path": "b.txt" }),
        ("glob", object! { "pattern": "*.txt" }),
        ("grep", object! { "pattern": "gamma" }),
        (
            "run_code",
            object! { "code": "return (await tools.read({ file_path: 'b.txt' })).lines[0].text", "description": "Reads a line" },
        ),
    ];
    for (name, arguments) in calls {
        let result = client.call(name, arguments).await;
        assert_eq!(result.is_error, Some(false), "{name}: {result:?}");
        assert!(result.structured_content.is_some_and(|value| value.is_object()), "{name}");
        assert!(result.content[0].as_text().is_some(), "{name}");
    }
    assert_eq!(world.text("ws/b.txt"), "gamma\n");

    let resources = client.service.list_all_resources().await.unwrap();
    assert_eq!(resources[0].uri, "dsh://sdk/typescript");
    client.leave(&world).await;
}

#[tokio::test]
async fn a_refusal_says_what_to_do() {
    let world = World::new();
    let client = Client::connect(&world, &[]).await;
    let result = client.call("write", object! { "file_path": "../out.txt", "content": "" }).await;
    let meta = result.meta.unwrap().0;
    assert_eq!(meta["dsh/error"]["code"], "FS_SANDBOX_DENIED");
    assert_eq!((result.is_error, result.structured_content), (Some(true), None));
    client.leave(&world).await;
}

#[tokio::test]
async fn the_mode_says_what_is_served() {
    for (mode, expected) in [
        ("native", &["edit", "glob", "grep", "read", "write"][..]),
        ("code", &["run_code"]),
        ("both", &["edit", "glob", "grep", "read", "run_code", "write"]),
    ] {
        let world = World::new();
        let client = Client::connect(&world, &["--mode", mode]).await;
        let tools = client.service.list_all_tools().await.unwrap();
        assert_eq!(tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>(), expected, "{mode}");
        let programs = expected.contains(&"run_code");
        let server = client.service.peer_info().unwrap();
        assert_eq!(server.capabilities.resources.is_some(), programs, "{mode}");
        if mode == "code" {
            let result = client.call("glob", object! { "pattern": "*" }).await;
            assert_eq!(result.meta.unwrap().0["dsh/error"]["code"], "UNKNOWN_TOOL");
        }
        client.leave(&world).await;
    }
}

#[tokio::test]
async fn a_program_tells_its_progress() {
    let world = World::new();
    world.file("ws/a.txt", "alpha\n");
    let mut client = Client::connect(&world, &[]).await;
    let code = "for (let i = 0; i < 50; i++) await tools.read({ file_path: 'a.txt' }); return 50";
    let result = client.call("run_code", object! { "code": code, "description": "Reads fifty times" }).await;
    assert_eq!(result.structured_content.unwrap()["result"], 50);
    let mut told = Vec::new();
    while told.last() != Some(&50) {
        let progress = client.progress.recv().await.unwrap();
        assert_eq!(progress.total, None);
        assert!(progress.message.unwrap().ends_with("the last was read"));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count")]
        told.push(progress.progress as u64);
    }
    assert!(told.is_sorted_by(|one, next| one < next), "{told:?}");
    client.leave(&world).await;
}

#[tokio::test]
async fn a_cancelled_call_stops_and_calls_beside_it_share_its_turn() {
    let world = World::new();
    let mut client = Client::connect(&world, &[]).await;
    let waits = object! { "code": WAITS, "description": "Waits for long" };
    let waiting = client.request("run_code", waits).await;
    client.progress.recv().await.unwrap();
    let beside = [client.request("glob", object! { "pattern": "*" }).await];
    let meanwhile = client.request("glob", object! { "pattern": "**" }).await;
    waiting.cancel(Some("enough".to_owned())).await.unwrap();
    for call in beside.into_iter().chain([meanwhile]) {
        let answer = tokio::time::timeout(Duration::from_secs(60), call.await_response()).await.unwrap();
        let Ok(ServerResult::CallToolResult(result)) = answer else { panic!("{answer:?}") };
        assert_eq!(result.is_error, Some(false));
    }
    client.leave(&world).await;
    assert_eq!(verdict(&world, &world.path("one.jsonl")).get("turns"), Some(&1.into()));
    let log = world.text("one.jsonl");
    assert_eq!(log.matches("\"code\":\"ABORTED\"").count(), 1);
}
