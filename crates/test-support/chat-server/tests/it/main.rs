//! The server, asked over real sockets by a client that knows nothing.
#![expect(clippy::unwrap_used, reason = "a test that can't set up its scene fails")]

use dsh_chat_server::{ChatServer, Reply, sse};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const ASK: &[u8] = b"POST /v1/x HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nhi";

async fn read_until(stream: &mut TcpStream, end: &str) -> String {
    let mut all = vec![];
    while !all.ends_with(end.as_bytes()) {
        assert_ne!(stream.read_buf(&mut all).await.unwrap(), 0, "{}", String::from_utf8_lossy(&all));
    }
    String::from_utf8(all).unwrap()
}

#[tokio::test]
async fn replies_follow_each_other_on_one_connection() {
    let first = Reply::stream().header("x-request-id", "r1").send_cut("abcde", 2).send("");
    let server = ChatServer::start([first, Reply::stream().send_cut_at("abc", &[1, 1, 9])]).await.unwrap();
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    stream.write_all(&ASK.repeat(3)).await.unwrap();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n";
    assert_eq!(
        read_until(&mut stream, "0\r\n\r\n").await.split("0\r\n\r\n").next().unwrap(),
        format!(
            "{head}x-request-id: r1\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n2\r\ncd\r\n1\r\ne\r\n"
        ),
    );
    server.came(3).await;
    let request = &server.requests()[0];
    assert_eq!((&*request.method, &*request.target, &*request.text()), ("POST", "/v1/x", "hi"));
    assert_eq!(request.header("host"), Some("h"));
}

#[tokio::test]
async fn a_request_beyond_the_script_is_told_so() {
    let server = ChatServer::start([]).await.unwrap();
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    stream.write_all(ASK).await.unwrap();
    let answer = read_until(&mut stream, "0\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 500 Refused\r\n") && answer.contains("script_over"), "{answer}");
}

#[tokio::test]
async fn a_client_that_hangs_up_is_noticed() {
    let endless = Reply::stream().repeat("x".repeat(1_000));
    let server =
        ChatServer::start([Reply::silence(), Reply::stream().send("a").stall(), endless]).await.unwrap();
    for at in 0..3 {
        let mut stream = TcpStream::connect(server.address()).await.unwrap();
        stream.write_all(ASK).await.unwrap();
        server.came(at + 1).await;
        drop(stream);
        server.hung_up(at).await;
    }
}

#[tokio::test]
async fn a_dropped_connection_has_no_last_chunk() {
    let replies = [
        Reply::stream().send("ab").drop_connection(),
        Reply::hang_up(),
        Reply::status(200).until_close().send("ab"),
    ];
    let server = ChatServer::start(replies).await.unwrap();
    for expected in [
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n",
        "",
        "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nab",
    ] {
        let mut stream = TcpStream::connect(server.address()).await.unwrap();
        stream.write_all(ASK).await.unwrap();
        let mut all = String::new();
        stream.read_to_string(&mut all).await.unwrap();
        assert_eq!(all, expected);
    }
}

#[test]
fn events_are_those_of_the_protocol() {
    assert_eq!(
        sse::text("Hi"),
        "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,\
         \"model\":\"test-model\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"},\"finish_reason\":null}]}\n\n",
    );
    assert_eq!(sse::comment("keep-alive") + &sse::done(), ": keep-alive\n\ndata: [DONE]\n\n");
}
