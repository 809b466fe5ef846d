//! The server: listens, answers in order, records.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io::{Error, ErrorKind, Result};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::sleep;

use crate::reply::Act;
use crate::{Reply, Request};

/// A server that runs until it is dropped; its connections are closed then.
#[derive(Debug)]
pub struct ChatServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    replies: Mutex<VecDeque<Reply>>,
    records: watch::Sender<Vec<Record>>,
    connections: AtomicUsize,
}

#[derive(Debug, Clone, Default)]
struct Record {
    request: Request,
    hung_up: bool,
}

impl ChatServer {
    /// Listens on a free port of this machine. The n-th request gets the n-th reply, whichever connection it comes on;
    /// further ones get status 500 and the code `script_over`.
    ///
    /// # Errors
    /// When no port can be had.
    pub async fn start(replies: impl IntoIterator<Item = Reply>) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            replies: Mutex::new(replies.into_iter().collect()),
            records: watch::Sender::new(vec![]),
            connections: AtomicUsize::new(0),
        });
        let task = tokio::spawn(serve(listener, Arc::clone(&shared)));
        Ok(Self { address, shared, task })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The same as a URL, without a path.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The requests so far, in the order in which they came.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.records.borrow().iter().map(|record| record.request.clone()).collect()
    }

    /// How many connections were made so far.
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::Relaxed)
    }

    /// Waits until this many requests have come.
    pub async fn came(&self, count: usize) {
        let mut records = self.shared.records.subscribe();
        // The sender lives as long as this.
        let _ = records.wait_for(|records| records.len() >= count).await;
    }

    /// Waits until the client of the n-th request, counted from 0, hung up before it had the whole answer.
    pub async fn hung_up(&self, request: usize) {
        let mut records = self.shared.records.subscribe();
        let _ = records.wait_for(|records| records.get(request).is_some_and(|record| record.hung_up)).await;
    }
}

impl Drop for ChatServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    // Dropped with this task, and the connections with it.
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        shared.connections.fetch_add(1, Ordering::Relaxed);
        connections.spawn(converse(stream, Arc::clone(&shared)));
        while connections.try_join_next().is_some() {}
    }
}

/// Answers the requests of one connection. An error is the end of it; what a test can know of it is recorded.
async fn converse(stream: TcpStream, shared: Arc<Shared>) {
    // Pieces leave as they are cut.
    let _ = stream.set_nodelay(true);
    let (mut from, mut to) = stream.into_split();
    let mut held = vec![];
    while let Ok(Some(request)) = Request::read(&mut from, &mut held).await {
        let (at, reply) = shared.record(request);
        let hung_up = |error: &Error| error.kind() != ErrorKind::Interrupted;
        match play(&reply, &mut from, &mut to, &mut held).await {
            Ok(()) if reply.is_chunked => {}
            Ok(()) => return,
            Err(error) => {
                if hung_up(&error) {
                    shared.records.send_modify(|records| {
                        records.get_mut(at).into_iter().for_each(|record| record.hung_up = true);
                    });
                }
                return;
            }
        }
    }
}

impl Shared {
    fn record(&self, request: Request) -> (usize, Reply) {
        let mut at = 0;
        let mut reply = None;
        self.records.send_modify(|records| {
            at = records.len();
            reply = self.replies.lock().pop_front();
            records.push(Record { request, hung_up: false });
        });
        (
            at,
            reply.unwrap_or_else(|| {
                Reply::refusal(500, "script_over", "the script has no reply for this request")
            }),
        )
    }
}

/// Plays a reply. `Interrupted` when the reply itself closes the connection; any other error is the client's.
async fn play(
    reply: &Reply,
    from: &mut OwnedReadHalf,
    to: &mut OwnedWriteHalf,
    held: &mut Vec<u8>,
) -> Result<()> {
    if reply.status > 0 {
        to.write_all(head(reply).as_bytes()).await?;
    }
    for act in &reply.acts {
        tokio::select! {
            biased;
            error = gone(from, held) => return Err(error),
            done = perform(act, reply.is_chunked, to) => done?,
        }
    }
    if reply.is_chunked && reply.status > 0 {
        to.write_all(b"0\r\n\r\n").await?;
    }
    Ok(())
}

async fn perform(act: &Act, is_chunked: bool, to: &mut OwnedWriteHalf) -> Result<()> {
    match act {
        Act::Send(bytes) => send(bytes, is_chunked, to).await,
        Act::Repeat(bytes) => loop {
            send(bytes, is_chunked, to).await?;
            tokio::task::yield_now().await;
        },
        Act::Wait(time) => {
            sleep(*time).await;
            Ok(())
        }
        Act::Stall => std::future::pending().await,
        Act::Drop => Err(ErrorKind::Interrupted.into()),
    }
}

async fn send(bytes: &[u8], is_chunked: bool, to: &mut OwnedWriteHalf) -> Result<()> {
    if !is_chunked {
        return to.write_all(bytes).await;
    }
    // An empty chunk would be the last one.
    if bytes.is_empty() {
        return Ok(());
    }
    let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
    chunk.extend_from_slice(bytes);
    chunk.extend_from_slice(b"\r\n");
    to.write_all(&chunk).await
}

/// Waits until the client hangs up; what it sends meanwhile is kept for the next request.
async fn gone(from: &mut OwnedReadHalf, held: &mut Vec<u8>) -> Error {
    loop {
        match from.read_buf(held).await {
            Ok(0) => return ErrorKind::UnexpectedEof.into(),
            Ok(_) => {}
            // An interrupted wait is not the client's end.
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return error,
        }
    }
}

fn head(reply: &Reply) -> String {
    let mut head =
        format!("HTTP/1.1 {} {}\r\n", reply.status, if reply.status < 400 { "OK" } else { "Refused" });
    for (name, value) in &reply.headers {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    head.push_str(if reply.is_chunked { "transfer-encoding: chunked\r\n" } else { "connection: close\r\n" });
    head.push_str("\r\n");
    head
}
