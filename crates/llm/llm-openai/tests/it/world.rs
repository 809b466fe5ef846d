//! A model that talks to a server, and what it says.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

use dsh_chat_server::{ChatServer, Reply};
use dsh_lifecycle::{Cancel, SteppingClock};
use dsh_llm::{
    Assembled, Assembler, Chunk, ErrorFacts, Finish, Message, Model, ModelRequest, Role, Source, text,
};
use dsh_llm_openai::{Access, ApiKey, OpenAi, OpenAiConfig, Provider, Proxy};
use futures_util::StreamExt as _;
use tokio::time::timeout;

pub(crate) const KEY: &str = "sk-this-is-the-secret-0123456789";

/// How long a test may wait for what has to happen.
pub(crate) const LONG: Duration = Duration::from_secs(30);

pub(crate) fn access() -> Access {
    Access {
        key: ApiKey::new(KEY).unwrap(),
        key_variable: "OPENAI_API_KEY".into(),
        proxy: Proxy::default(),
        clock: Arc::new(SteppingClock::starting_at(0)),
    }
}

/// Settings for this server, without waits between tries.
pub(crate) fn config(server: &ChatServer) -> OpenAiConfig {
    OpenAiConfig {
        base_url: Some(format!("{}/v1", server.url())),
        backoff_base_ms: 1,
        max_retries: 2,
        ..OpenAiConfig::default()
    }
}

pub(crate) fn number(number: u64) -> NonZeroU64 {
    NonZeroU64::new(number).unwrap()
}

pub(crate) fn model(config: OpenAiConfig) -> OpenAi {
    OpenAi::new(Provider::OpenAi, "test-model", config, access()).unwrap()
}

pub(crate) fn request() -> ModelRequest {
    let hello = Message { id: "m1".into(), role: Role::User, content: text("Hello"), source: Source::User };
    ModelRequest { messages: vec![Arc::new(hello)], ..ModelRequest::default() }
}

/// All chunks of an answer; one finish, and it is the last.
pub(crate) async fn chunks(model: &OpenAi, cancel: Cancel) -> Vec<Chunk> {
    let all = model.stream(request(), cancel).collect::<Vec<_>>();
    let all = timeout(LONG, all).await.unwrap();
    let ends = all.iter().filter(|chunk| matches!(chunk, Chunk::Finish { .. })).count();
    assert!(ends == 1 && matches!(all.last(), Some(Chunk::Finish { .. })), "{all:?}");
    all
}

pub(crate) fn assemble(chunks: &[Chunk]) -> Assembled {
    let mut assembler = Assembler::default();
    for chunk in chunks {
        assembler.push(chunk);
    }
    assembler.finish()
}

pub(crate) async fn ask(model: &OpenAi) -> Assembled {
    assemble(&chunks(model, Cancel::new()).await)
}

/// The answer to one request, and the server that gave it.
pub(crate) async fn ask_once(reply: Reply) -> (Assembled, ChatServer) {
    let server = ChatServer::start([reply]).await.unwrap();
    let answer = ask(&model(OpenAiConfig { max_retries: 0, ..config(&server) })).await;
    (answer, server)
}

pub(crate) fn facts(answer: &Assembled) -> &ErrorFacts {
    let Finish::Error(facts) = &answer.finish else {
        panic!("expected a failure, found {:?}", answer.finish)
    };
    facts
}
