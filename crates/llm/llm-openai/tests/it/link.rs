//! Which way a request takes.

use std::time::Duration;

use dsh_chat_server::{ChatServer, Reply, sse};
use dsh_llm::Finish;
use dsh_llm_openai::{Access, MODEL_UNREACHABLE, OpenAi, OpenAiConfig, Provider, Proxy};

use crate::world::{KEY, access, ask, config, facts, model, number};

#[tokio::test]
async fn the_base_url_may_end_as_it_likes() {
    for (base, target) in [
        ("", "/chat/completions"),
        ("/", "/chat/completions"),
        ("/v1", "/v1/chat/completions"),
        ("/v1/", "/v1/chat/completions"),
        ("/a/b/?version=2", "/a/b/chat/completions?version=2"),
    ] {
        let server = ChatServer::start([Reply::stream().send(sse::answer("a"))]).await.unwrap();
        let config = OpenAiConfig { base_url: Some(server.url() + base), ..config(&server) };
        assert_eq!(ask(&model(config)).await.finish, Finish::Stop);
        assert_eq!(server.requests()[0].target, target, "{base}");
    }
}

fn through(proxy: Proxy, base_url: &str) -> OpenAi {
    let config = OpenAiConfig {
        base_url: Some(base_url.to_owned()),
        allow_plain_http: true,
        max_retries: 0,
        ..OpenAiConfig::default()
    };
    OpenAi::new(Provider::OpenAi, "m", config, Access { proxy, ..access() }).unwrap()
}

#[tokio::test]
async fn a_plain_request_goes_through_the_proxy() {
    for given in [str::to_owned as fn(&str) -> String, |url| url.replace("http://", "")] {
        let proxy = ChatServer::start([Reply::stream().send(sse::answer("a"))]).await.unwrap();
        let model =
            through(Proxy { http: Some(given(&proxy.url())), ..Proxy::default() }, "http://model.invalid/v1");
        assert_eq!(ask(&model).await.finish, Finish::Stop);
        assert_eq!(proxy.requests()[0].target, "http://model.invalid/v1/chat/completions");
    }
}

#[tokio::test]
async fn an_encrypted_request_asks_the_proxy_for_a_tunnel_and_shows_it_nothing() {
    let proxy = ChatServer::start([Reply::status(403)]).await.unwrap();
    let model = through(Proxy { https: Some(proxy.url()), ..Proxy::default() }, "https://model.invalid/v1");
    let answer = ask(&model).await;
    assert_eq!(&*facts(&answer).code, MODEL_UNREACHABLE);
    let asked = &proxy.requests()[0];
    assert_eq!((&*asked.method, &*asked.target), ("CONNECT", "model.invalid:443"));
    assert!(!format!("{asked:?}").contains(KEY));
}

#[tokio::test]
async fn the_proxy_is_left_out_where_it_should_be() {
    let proxy = ChatServer::start([]).await.unwrap();
    let server = ChatServer::start([Reply::stream().send(sse::answer("a"))]).await.unwrap();
    let all = Proxy { http: Some(proxy.url()), https: Some(proxy.url()), no_proxy: None };
    assert_eq!(ask(&through(all.clone(), &server.url())).await.finish, Finish::Stop);

    let without = Proxy { no_proxy: Some("model.invalid,.example".to_owned()), ..all };
    for url in ["http://model.invalid/v1", "https://a.example/v1"] {
        assert_eq!(&*facts(&ask(&through(without.clone(), url)).await).code, MODEL_UNREACHABLE);
    }
    assert!(proxy.requests().is_empty());
}

#[tokio::test]
async fn a_server_that_does_not_encrypt_is_unreachable_over_https() {
    let server = ChatServer::start([]).await.unwrap();
    let base_url = Some(server.url().replace("http:", "https:"));
    let config = OpenAiConfig { base_url, connect_timeout_ms: number(200), ..config(&server) };
    let answer = ask(&model(config)).await;
    let facts = facts(&answer);
    assert_eq!(&*facts.code, MODEL_UNREACHABLE);
    assert!(facts.message.contains("could not be reached within `connectTimeoutMs`"), "{}", facts.message);
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn connections_are_kept_between_requests() {
    // The end of the body comes with the last event, and some time after it.
    let late = |_| Reply::stream().send(sse::answer("a")).wait(Duration::from_millis(5));
    let server =
        ChatServer::start((0..3).map(late).chain([Reply::stream().send(sse::answer("a"))])).await.unwrap();
    let model = model(config(&server));
    for _ in 0..4 {
        assert_eq!(ask(&model).await.finish, Finish::Stop);
    }
    assert_eq!((server.requests().len(), server.connections()), (4, 1));
}

#[tokio::test]
async fn without_a_key_none_is_sent() {
    let server = ChatServer::start([Reply::stream().send(sse::answer("a"))]).await.unwrap();
    let model =
        OpenAi::new(Provider::OpenAi, "m", config(&server), Access { key: None, ..access() }).unwrap();
    assert_eq!(ask(&model).await.finish, Finish::Stop);
    assert_eq!(server.requests()[0].header("authorization"), None);
}
