//! `dsh run` with a model behind a real socket.

use dsh_chat_server::{ChatServer, Reply, sse};

use crate::world::{Ran, World, assert_closed};

const KEY: &str = "sk-secret-0123456789";

async fn run(world: &World, server: &ChatServer, arguments: &[&str]) -> Ran {
    let mut command = world.command(["run", "--session", "log.jsonl", "Count."]);
    command.args(arguments).env("OPENAI_API_KEY", KEY).env("OPENAI_BASE_URL", server.url());
    // The server answers on this thread's runtime.
    let ran = tokio::task::spawn_blocking(move || Ran::of(command.output().unwrap())).await.unwrap();
    assert!(!format!("{ran:?}").contains(KEY), "{ran:?}");
    assert!(!world.text("log.jsonl").contains(KEY));
    assert_closed(world, &world.path("log.jsonl"));
    ran
}

/// A program that gives back a listing of what it can see of its surroundings, and a read of the host's own.
fn curious() -> Reply {
    let arguments = r#"{"description": "Looks around", "code": "return JSON.stringify(process.env) + '#'"}"#;
    let environ = r#"{"file_path": "/proc/self/environ"}"#;
    let calls = [sse::call(0, "a", "run_code", arguments), sse::call(1, "b", "read", environ)];
    Reply::stream().send([calls.concat(), sse::finish("tool_calls"), sse::done()].concat())
}

#[tokio::test]
async fn a_key_in_the_environment_is_enough_and_no_tool_reaches_it() {
    let world = World::new();
    let server =
        ChatServer::start([curious(), Reply::stream().send(sse::answer("Nothing to see."))]).await.unwrap();
    // Nothing else is configured.
    let ran = run(&world, &server, &[]).await.done();
    assert_eq!(ran.out, "Nothing to see.\n");
    let [first, second] = server.requests().try_into().unwrap_or_else(|all| panic!("{all:?}"));
    assert_eq!(first.header("authorization"), Some(&*format!("Bearer {KEY}")));
    assert!(first.text().starts_with(r#"{"model":"gpt-4.1","#), "{}", first.text());
    assert!(!second.text().contains(KEY), "a tool reached the key");
    assert!(second.text().contains("{}#"), "{}", second.text());
}

#[tokio::test]
async fn a_refusal_says_what_is_wrong_and_what_to_do() {
    let world = World::new();
    let words = format!("Incorrect API key provided: {KEY}.");
    let server = ChatServer::start([Reply::refusal(401, "invalid_api_key", &words)]).await.unwrap();
    let ran = run(&world, &server, &["--model", "openai:gpt-x"]).await;
    assert_eq!(ran.code, 1);
    assert!(ran.error().contains("MODEL_AUTH"), "{ran:?}");
    assert_eq!(server.requests().len(), 1, "what is refused for good is not tried again");
}

#[test]
fn without_a_key_the_variable_is_named() {
    let world = World::new();
    let ran = world.dsh(["run", "--model", "deepseek", "Count."]);
    assert_eq!(ran.code, 2);
    assert!(ran.error().contains("set DEEPSEEK_API_KEY") && ran.error().contains("MODEL_NO_KEY"), "{ran:?}");
}
