//! Cancelled, or dropped, in every state.

use std::io::Write;

use dsh_chat_server::{ChatServer, Reply, sse};
use dsh_lifecycle::{Cancel, Cause};
use dsh_llm::{Chunk, Finish, Model as _};
use dsh_llm_openai::{OpenAi, OpenAiConfig, Provider, Proxy};
use futures_util::StreamExt as _;
use tokio::time::timeout;

use crate::world::{LONG, access, chunks, config, model, number, request};

const ABORTED: Chunk = Chunk::Finish { reason: Finish::Aborted, replay_state: None };

#[tokio::test]
async fn a_request_is_cancelled_before_its_answer() {
    for reply in [Reply::silence(), Reply::stream().stall(), Reply::status(500).send("{").stall()] {
        let server = ChatServer::start([reply]).await.unwrap();
        let model = model(config(&server));
        let cancel = Cancel::new();
        let stop = async {
            server.came(1).await;
            cancel.cancel(Cause::User);
        };
        let (all, ()) = tokio::join!(chunks(&model, cancel.clone()), stop);
        assert_eq!(all, [ABORTED]);
        timeout(LONG, server.hung_up(0)).await.unwrap();
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn a_request_is_cancelled_within_its_answer() {
    for reply in [Reply::stream().send(sse::text("half")).stall(), Reply::stream().repeat(sse::text("more"))]
    {
        let server = ChatServer::start([reply]).await.unwrap();
        let cancel = Cancel::new();
        let mut stream = model(config(&server)).stream(request(), cancel.clone());
        for _ in 0..2 {
            assert!(stream.next().await.is_some());
        }
        let stop = async { cancel.cancel(Cause::User) };
        let (rest, ()) = tokio::join!(timeout(LONG, stream.collect::<Vec<_>>()), stop);
        assert_eq!(rest.unwrap().last(), Some(&ABORTED));
        timeout(LONG, server.hung_up(0)).await.unwrap();
    }
}

/// Cancels when something is logged.
struct Trip(Cancel);

impl Write for Trip {
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        if String::from_utf8_lossy(line).contains("a request is tried again") {
            self.0.cancel(Cause::User);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_request_is_cancelled_between_two_tries() {
    let busy = Reply::refusal(503, "x", "busy").header("retry-after", "50");
    let server = ChatServer::start([busy]).await.unwrap();
    let cancel = Cancel::new();
    let trip = cancel.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::DEBUG)
        .with_writer(move || Trip(trip.clone()))
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    assert_eq!(chunks(&model(config(&server)), cancel.clone()).await, [ABORTED]);
    assert_eq!((cancel.is_cancelled(), server.requests().len()), (true, 1));
}

#[tokio::test]
async fn a_request_is_cancelled_while_it_connects() {
    // The tunnel to the server is asked for and never made.
    let patient = OpenAiConfig { connect_timeout_ms: number(3_600_000), ..OpenAiConfig::default() };
    let proxy = ChatServer::start([Reply::silence()]).await.unwrap();
    let access =
        dsh_llm_openai::Access { proxy: Proxy { https: Some(proxy.url()), ..Proxy::default() }, ..access() };
    let model = OpenAi::new(Provider::DeepSeek, "m", patient, access).unwrap();
    let cancel = Cancel::new();
    let stop = async {
        proxy.came(1).await;
        cancel.cancel(Cause::User);
    };
    let (all, ()) = tokio::join!(chunks(&model, cancel.clone()), stop);
    assert_eq!(all, [ABORTED]);
    assert_eq!(proxy.requests()[0].target, "api.deepseek.com:443");
    timeout(LONG, proxy.hung_up(0)).await.unwrap();
}

#[tokio::test]
async fn what_was_cancelled_before_is_not_sent() {
    let server = ChatServer::start([]).await.unwrap();
    let cancel = Cancel::new();
    cancel.cancel(Cause::User);
    assert_eq!(chunks(&model(config(&server)), cancel).await, [ABORTED]);
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_cancelled_stream_says_nothing_more() {
    let server =
        ChatServer::start([Reply::stream().send(sse::text("a").repeat(1_000) + &sse::done())]).await.unwrap();
    let cancel = Cancel::new();
    let model = model(config(&server));
    let mut stream = model.stream(request(), cancel.clone());
    let first = stream.next().await;
    assert!(matches!(first, Some(Chunk::BlockStart { .. })), "{first:?}");
    cancel.cancel(Cause::User);
    assert_eq!(stream.collect::<Vec<_>>().await, [ABORTED]);
}

#[tokio::test]
async fn a_dropped_stream_closes_the_connection() {
    let replies =
        [Reply::stream().send(sse::text("half")).stall(), Reply::stream().repeat(sse::text("more"))];
    let server = ChatServer::start(replies).await.unwrap();
    let model = model(config(&server));
    for at in 0..2 {
        let mut stream = model.stream(request(), Cancel::new());
        assert!(stream.next().await.is_some());
        drop(stream);
        timeout(LONG, server.hung_up(at)).await.unwrap();
    }
    // Before there was an answer.
    let server = ChatServer::start([Reply::silence()]).await.unwrap();
    let model = crate::world::model(config(&server));
    let mut stream = model.stream(request(), Cancel::new());
    tokio::select! {
        chunk = stream.next() => panic!("{chunk:?}"),
        () = server.came(1) => {}
    }
    drop(stream);
    timeout(LONG, server.hung_up(0)).await.unwrap();
}

#[tokio::test]
async fn a_stream_that_is_never_read_asks_nothing() {
    let server = ChatServer::start([]).await.unwrap();
    drop(model(config(&server)).stream(request(), Cancel::new()));
    assert!(server.requests().is_empty());
}
