//! Answers that come, however they come.

use dsh_chat_server::{ChatServer, Reply, sse};
use dsh_lifecycle::Cancel;
use dsh_llm::{ContentBlock, Finish, Model as _, Usage, plain_text};
use dsh_llm_openai::request_body;

use crate::world::{ask, ask_once, assemble, chunks, config, model, request};

#[tokio::test]
async fn an_answer_arrives_whole() {
    let stream = [
        sse::comment("keep-alive"),
        sse::reasoning("Let me "),
        sse::reasoning("see."),
        sse::text("Hello, "),
        sse::comment("keep-alive"),
        sse::text("wörld 🦀"),
        sse::finish("stop"),
        sse::usage(10, 4),
        sse::done(),
    ]
    .concat();
    let (answer, server) = ask_once(Reply::stream().send(stream)).await;
    assert_eq!(
        *answer.content,
        [
            ContentBlock::Reasoning { text: "Let me see.".into() },
            ContentBlock::Text { text: "Hello, wörld 🦀".into() }
        ],
    );
    assert_eq!(answer.finish, Finish::Stop);
    assert_eq!(answer.usage, Some(Usage { input_tokens: 10, output_tokens: 4, ..Usage::default() }));
    let sent = &server.requests()[0];
    assert_eq!((&*sent.method, &*sent.target), ("POST", "/v1/chat/completions"));
    assert_eq!(sent.header("content-type"), Some("application/json"));
    assert_eq!(sent.header("accept"), Some("text/event-stream"));
    assert_eq!(sent.header("authorization"), Some("Bearer sk-this-is-the-secret-0123456789"));
    assert_eq!(sent.header("user-agent"), Some(concat!("dsh/", env!("CARGO_PKG_VERSION"))));
}

#[tokio::test]
async fn what_is_sent_is_the_pure_functions_bytes() {
    let server =
        ChatServer::start([Reply::stream().send(sse::answer("a")), Reply::stream().send(sse::answer("b"))])
            .await
            .unwrap();
    let model = model(config(&server));
    ask(&model).await;
    ask(&model).await;
    let body = request_body(&request(), model.model(), model.dialect());
    let sent: Vec<String> = server.requests().iter().map(dsh_chat_server::Request::text).collect();
    assert_eq!(sent, [body.clone(), body]);
    assert_eq!(
        sent[0],
        r#"{"model":"test-model","messages":[{"role":"user","content":"Hello"}],"stream":true,"stream_options":{"include_usage":true}}"#,
    );
}

fn calls() -> String {
    [
        sse::call(0, "call_a", "read", ""),
        sse::call(1, "call_b", "glob", "{\"pattern\":"),
        sse::arguments(0, "{\"path\":\"ä"),
        sse::arguments(1, "\"*.rs\"}"),
        sse::arguments(0, ".txt\"}"),
        sse::finish("tool_calls"),
        sse::done(),
    ]
    .concat()
}

fn call(id: &str, name: &str, arguments: &str) -> ContentBlock {
    ContentBlock::ToolCall {
        id: id.into(),
        name: name.into(),
        arguments: arguments.into(),
        provider_call_id: None,
    }
}

#[tokio::test]
async fn parallel_calls_that_interleave_are_put_together() {
    let (answer, _server) = ask_once(Reply::stream().send(calls())).await;
    let expected =
        [call("call_a", "read", "{\"path\":\"ä.txt\"}"), call("call_b", "glob", "{\"pattern\":\"*.rs\"}")];
    assert_eq!(*answer.content, expected);
    assert_eq!(answer.finish, Finish::ToolCalls);
}

#[tokio::test]
async fn cuts_on_the_wire_change_nothing() {
    let stream = [sse::text("é€🦀"), calls().replace('\n', "\r\n"), sse::usage(1, 2)].concat();
    let plans = (1..8).map(|size| Reply::stream().send_cut(&stream, size));
    let until_close = Reply::stream().send_cut(&stream, 3).until_close();
    let server = ChatServer::start(
        std::iter::once(Reply::stream().send(stream.clone())).chain(plans).chain([until_close]),
    )
    .await
    .unwrap();
    let model = model(config(&server));
    let whole = chunks(&model, Cancel::new()).await;
    assert_eq!(assemble(&whole).content.len(), 3);
    for _ in 0..8 {
        assert_eq!(chunks(&model, Cancel::new()).await, whole);
    }
}

#[tokio::test]
async fn calls_that_were_cut_at_the_ceiling_do_not_run() {
    let stream = [
        sse::text("I write."),
        sse::call(0, "c", "write", "{\"content\": \"half of"),
        sse::finish("length"),
        sse::done(),
    ]
    .concat();
    let (answer, _server) = ask_once(Reply::stream().send(stream)).await;
    assert_eq!((answer.finish, plain_text(&answer.content)), (Finish::MaxTokens, "I write.".to_owned()));
}

#[tokio::test]
async fn an_answer_is_complete_without_its_usage_and_the_streams_end() {
    let said = [sse::text("done"), sse::finish("stop")].concat();
    for reply in [
        Reply::stream().send(said.clone()),
        Reply::stream().send(said.clone()).until_close(),
        Reply::stream().send(said.clone()).drop_connection(),
        // Without an empty line at the end.
        Reply::stream().send(said.trim_end().to_owned()),
    ] {
        let (answer, _server) = ask_once(reply).await;
        assert_eq!((answer.finish, plain_text(&answer.content)), (Finish::Stop, "done".to_owned()));
    }
}

#[tokio::test]
async fn the_end_of_a_complete_answer_is_not_waited_for_long() {
    let said = [sse::text("done"), sse::finish("stop")].concat();
    let server = ChatServer::start([Reply::stream().send(said).stall()]).await.unwrap();
    let config = dsh_llm_openai::OpenAiConfig { end_timeout_ms: crate::world::number(20), ..config(&server) };
    assert_eq!(ask(&model(config)).await.finish, Finish::Stop);
    server.hung_up(0).await;
}

#[tokio::test]
async fn a_long_answer_costs_time_in_proportion() {
    let delta = sse::text("twenty bytes of text");
    let stream = delta.repeat(10_000_000 / delta.len()) + &sse::finish("stop") + &sse::done();
    let expected = stream.matches("twenty").count() * 20;
    let (answer, _server) = ask_once(Reply::stream().send_cut(stream, 100_000)).await;
    assert_eq!((answer.finish, plain_text(&answer.content).len()), (Finish::Stop, expected));
}
