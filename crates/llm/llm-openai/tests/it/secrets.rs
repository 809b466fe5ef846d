//! The key is in nothing that is written.

use std::fmt::Write as _;
use std::io::Write;
use std::sync::Arc;

use dsh_chat_server::{ChatServer, Reply, sse};
use dsh_llm::Chunk;
use dsh_llm_openai::{OpenAi, OpenAiConfig, Provider, Proxy};
use parking_lot::Mutex;

use crate::world::{KEY, access, chunks, config};

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn the_key_is_in_no_failure_and_no_log() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(move || writer.clone())
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);

    let echo = |status| {
        Reply::refusal(
            status,
            &format!("bad_{KEY}"),
            &format!("the key {KEY} is wrong: {}{KEY}", "x".repeat(990)),
        )
    };
    let server = ChatServer::start([
        echo(401).header("x-request-id", &format!("r-{KEY}")),
        echo(503),
        echo(503),
        echo(503),
        Reply::stream().send(sse::error(&format!("who is {KEY}?"), KEY)),
        Reply::stream().send(sse::finish(KEY)),
        Reply::stream().send(sse::data(&format!("{{\"{KEY}\": }}"))),
        Reply::status(200).header("content-type", "text/html").send(KEY),
    ])
    .await
    .unwrap();
    let proxy = Proxy { https: Some(format!("http://me:{KEY}@127.0.0.1:1")), ..Proxy::default() };
    let surroundings = dsh_llm_openai::Access { proxy, ..access() };
    let mut written = format!("{surroundings:?} {:#?}", surroundings.key);
    let model = OpenAi::new(Provider::OpenAi, "m", config(&server), surroundings.clone()).unwrap();
    write!(written, "{model:?}").unwrap();
    for _ in 0..6 {
        let all = chunks(&model, dsh_lifecycle::Cancel::new()).await;
        assert!(
            matches!(all.last(), Some(Chunk::Finish { reason: dsh_llm::Finish::Error(_), .. })),
            "{all:?}"
        );
        write!(written, "{all:?} {}", all.last().unwrap().to_json()).unwrap();
    }
    assert_eq!(server.requests().len(), 8);
    // A proxy that is not there.
    let encrypted = OpenAiConfig { base_url: None, ..config(&server) };
    let model = OpenAi::new(Provider::OpenAi, "m", encrypted, surroundings).unwrap();
    write!(written, "{:?}", chunks(&model, dsh_lifecycle::Cancel::new()).await).unwrap();

    let logged = String::from_utf8(log.0.lock().clone()).unwrap();
    assert!(logged.contains("a request is tried again"), "{logged}");
    for (place, text) in [("failures", written), ("log", logged)] {
        assert!(!text.contains(&KEY[..20]), "the key is in the {place}: {text}");
    }
}
