//! Failures, as facts.

use std::time::Duration;

use dsh_chat_server::{ChatServer, Reply, sse};
use dsh_llm::{Finish, STREAM_ENDED_EARLY, plain_text};
use dsh_llm_openai::{
    MODEL_AUTH, MODEL_CONTENT_FILTERED, MODEL_CONTEXT_LENGTH, MODEL_HTTP, MODEL_OVERLOADED, MODEL_PROTOCOL,
    MODEL_QUOTA, MODEL_RATE_LIMITED, MODEL_RESPONSE_TOO_LARGE, MODEL_TIMEOUT_IDLE, MODEL_TIMEOUT_TOTAL,
    MODEL_UNREACHABLE, OpenAiConfig,
};
use tokio::time::Instant;

use crate::world::{ask, ask_once, config, facts, model, number};

#[tokio::test]
async fn a_refusal_is_facts() {
    let reply = Reply::refusal(400, "context_length_exceeded", "Too long.\u{1b}[31m\n")
        .header("x-ds-trace-id", "trace-1");
    let (answer, server) = ask_once(reply).await;
    let facts = facts(&answer);
    assert_eq!(
        (&*facts.code, facts.status, facts.request_id.as_deref()),
        (MODEL_CONTEXT_LENGTH, Some(400), Some("trace-1"))
    );
    let expected = format!(
        "openai at {} answered 400 (context_length_exceeded): Too long. [31m; the conversation is longer than this model can read",
        server.url(),
    );
    assert_eq!(&*facts.message, expected);
}

#[tokio::test]
async fn refusals_that_do_not_pass_are_not_tried_again() {
    for (reply, code) in [
        (Reply::refusal(401, "invalid_api_key", "no"), MODEL_AUTH),
        (Reply::refusal(402, "x", "no"), MODEL_QUOTA),
        (Reply::refusal(429, "insufficient_quota", "no"), MODEL_QUOTA),
        (Reply::refusal(404, "x", "no"), MODEL_HTTP),
        (Reply::refusal(400, "content_filter", "no"), MODEL_CONTENT_FILTERED),
        (Reply::status(302).header("location", "http://elsewhere.example/"), MODEL_HTTP),
    ] {
        let server = ChatServer::start([reply]).await.unwrap();
        let answer = ask(&model(config(&server))).await;
        assert_eq!(&*facts(&answer).code, code);
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn a_refusal_that_passes_is_tried_again_after_the_asked_wait() {
    let busy = Reply::refusal(429, "rate_limit_exceeded", "slow down");
    let replies = [
        busy.clone().header("retry-after-ms", "60"),
        busy.header("retry-after", "0.06"),
        Reply::stream().send(sse::answer("at last")),
    ];
    let server = ChatServer::start(replies).await.unwrap();
    let began = Instant::now();
    let answer = ask(&model(config(&server))).await;
    assert_eq!((answer.finish, plain_text(&answer.content)), (Finish::Stop, "at last".to_owned()));
    assert!(began.elapsed() >= Duration::from_millis(120));
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn a_longer_wait_than_the_cap_is_left_to_the_caller() {
    let busy = Reply::refusal(429, "rate_limit_exceeded", "slow down").header("retry-after", "3600");
    let server = ChatServer::start([busy]).await.unwrap();
    let answer = ask(&model(config(&server))).await;
    let facts = facts(&answer);
    assert_eq!((&*facts.code, facts.provider_retry_after_ms), (MODEL_RATE_LIMITED, Some(3_600_000)));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn tries_are_bounded() {
    let server =
        ChatServer::start((500..505).map(|status| Reply::refusal(status, "x", "down"))).await.unwrap();
    let answer = ask(&model(config(&server))).await;
    let facts = facts(&answer);
    assert_eq!((&*facts.code, facts.status), (MODEL_OVERLOADED, Some(502)));
    assert!(facts.message.ends_with("answered 502 (x): down (after 3 tries)"), "{}", facts.message);
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn connections_that_break_before_the_answer_are_tried_again() {
    let replies =
        [Reply::hang_up(), Reply::stream().drop_connection(), Reply::stream().send(sse::answer("yes"))];
    let server = ChatServer::start(replies).await.unwrap();
    assert_eq!(ask(&model(config(&server))).await.finish, Finish::Stop);
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unreachable() {
    let server = ChatServer::start([]).await.unwrap();
    let config = config(&server);
    drop(server);
    // Its port is free once its listener is gone; until then the connection is closed at once.
    let answer = ask(&model(config)).await;
    let facts = facts(&answer);
    assert_eq!((&*facts.code, facts.status), (MODEL_UNREACHABLE, None));
    assert!(
        facts.message.contains("could not be reached") && facts.message.ends_with("(after 3 tries)"),
        "{}",
        facts.message
    );
}

#[tokio::test]
async fn nothing_is_tried_again_after_the_first_byte() {
    for reply in [
        Reply::stream().send(sse::text("half")).drop_connection(),
        Reply::stream().send(sse::text("half")),
        Reply::stream().send(sse::text("half") + "data: {\"choices\":[{\"del"),
        Reply::stream().send(sse::text("half") + &sse::done()),
        Reply::stream().send(": just a comment").drop_connection(),
    ] {
        let server = ChatServer::start([reply.header("x-request-id", "r-9")]).await.unwrap();
        let answer = ask(&model(config(&server))).await;
        let facts = facts(&answer);
        assert_eq!(
            (&*facts.code, facts.request_id.as_deref()),
            (STREAM_ENDED_EARLY, Some("r-9")),
            "{}",
            facts.message
        );
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn failures_within_a_stream_keep_what_was_said() {
    for (event, code) in [
        (sse::error("busy", "overloaded_error"), MODEL_OVERLOADED),
        (sse::data("{\"choices\": ["), MODEL_PROTOCOL),
        (sse::data("oops"), MODEL_PROTOCOL),
        (sse::finish("content_filter"), MODEL_CONTENT_FILTERED),
    ] {
        let (answer, _server) =
            ask_once(Reply::stream().send(sse::text("half") + &event + &sse::done())).await;
        assert_eq!((&*facts(&answer).code, plain_text(&answer.content)), (code, "half".to_owned()));
    }
}

#[tokio::test]
async fn a_success_that_is_no_stream_says_what_it_is() {
    let page =
        Reply::status(200).header("content-type", "text/html; charset=utf-8").send("<html>log in</html>");
    let (answer, server) = ask_once(page).await;
    let expected = format!(
        "openai at {} answered with `text/html` instead of a stream; check the base URL",
        server.url()
    );
    assert_eq!((&*facts(&answer).code, &*facts(&answer).message), (MODEL_PROTOCOL, &*expected));

    let failure = Reply::status(200)
        .header("content-type", "application/json")
        .send(r#"{"error":{"message":"m","code":"rate_limit"}}"#);
    let (answer, _server) = ask_once(failure).await;
    assert_eq!(&*facts(&answer).code, MODEL_RATE_LIMITED);
}

#[tokio::test]
async fn an_endless_stream_meets_its_bound() {
    let server = ChatServer::start([Reply::stream().repeat(sse::text("more and more"))]).await.unwrap();
    let config = OpenAiConfig { max_response_bytes: number(300_000), ..config(&server) };
    let answer = ask(&model(config)).await;
    assert_eq!(
        (&*facts(&answer).code, &*facts(&answer).message),
        (MODEL_RESPONSE_TOO_LARGE, "the answer of openai is longer than 300000 bytes, `maxResponseBytes`"),
    );
    assert!(plain_text(&answer.content).len() < 300_000);
    server.hung_up(0).await;
}

#[tokio::test]
async fn an_event_without_an_end_meets_its_bound() {
    for endless in ["data: xxxx", "x"] {
        let server = ChatServer::start([Reply::stream().repeat(endless.repeat(100))]).await.unwrap();
        let config = OpenAiConfig { max_event_bytes: number(10_000), ..config(&server) };
        let answer = ask(&model(config)).await;
        assert_eq!(&*facts(&answer).code, MODEL_RESPONSE_TOO_LARGE);
        server.hung_up(0).await;
    }
}

#[tokio::test]
async fn an_endless_refusal_is_read_in_part() {
    let server = ChatServer::start([Reply::status(400).repeat("no! ".repeat(1_000))]).await.unwrap();
    let answer = ask(&model(config(&server))).await;
    let facts = facts(&answer);
    assert_eq!(&*facts.code, MODEL_HTTP);
    assert!(facts.message.chars().count() < 1_100, "{}", facts.message);
    server.hung_up(0).await;
}

#[tokio::test]
async fn silence_ends_after_the_idle_time() {
    for reply in [Reply::silence(), Reply::stream().stall(), Reply::stream().send(sse::text("half")).stall()]
    {
        let server = ChatServer::start([reply]).await.unwrap();
        let config = OpenAiConfig { idle_timeout_ms: number(150), ..config(&server) };
        let answer = ask(&model(config)).await;
        assert_eq!(
            (&*facts(&answer).code, &*facts(&answer).message),
            (MODEL_TIMEOUT_IDLE, "nothing came from openai for 150 ms, `idleTimeoutMs`"),
        );
        server.hung_up(0).await;
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn signs_of_life_are_no_silence_and_still_end_after_the_whole_time() {
    let alive = (0..100).fold(Reply::stream(), |reply, _| {
        reply.send(sse::comment("keep-alive")).wait(Duration::from_millis(10))
    });
    let server = ChatServer::start([alive.stall()]).await.unwrap();
    let config =
        OpenAiConfig { idle_timeout_ms: number(10_000), total_timeout_ms: number(300), ..config(&server) };
    let began = Instant::now();
    let answer = ask(&model(config)).await;
    assert_eq!(
        (&*facts(&answer).code, &*facts(&answer).message),
        (MODEL_TIMEOUT_TOTAL, "the answer of openai was not complete after 300 ms, `totalTimeoutMs`"),
    );
    assert!(began.elapsed() >= Duration::from_millis(300));
    server.hung_up(0).await;
}

#[tokio::test]
async fn the_whole_time_ends_waits_between_tries_and_tells_why_there_were_any() {
    let busy = Reply::refusal(503, "x", "busy").header("retry-after", "50");
    let server = ChatServer::start([busy]).await.unwrap();
    let config = OpenAiConfig { total_timeout_ms: number(100), ..config(&server) };
    let answer = ask(&model(config)).await;
    let facts = facts(&answer);
    assert_eq!(&*facts.code, MODEL_TIMEOUT_TOTAL);
    assert!(
        facts.message.contains("`totalTimeoutMs`; before that, openai at ")
            && facts.message.ends_with("(x): busy"),
        "{}",
        facts.message
    );
}
