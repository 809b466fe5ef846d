//! Messages as lines: one reader with a bound, one writer with a queue.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use dsh_lifecycle::{Cancel, Cause};
use parking_lot::Mutex;
use rmcp::RoleServer;
use rmcp::model::{
    ClientRequest, DiscoverRequestMethod, ErrorData, JsonRpcMessage, JsonRpcRequest, RequestId,
};
use rmcp::service::TxJsonRpcMessage;
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{mpsc, oneshot};

use crate::desk::Desk;
use crate::message::{Call, Message, Read, read};
use crate::recover::id_around;
use crate::seat::{NoPlace, Seat};
use crate::words;

/// Messages that wait to be written before whoever sends another waits.
const WAITING: usize = 64;

/// How much is kept of either end of a line that is too long, to find its id.
const ENDS: usize = 1024;

/// One message on its way out.
pub(crate) struct Outgoing {
    line: Vec<u8>,
    written: Option<oneshot::Sender<()>>,
}

/// What became of a call when its line was read; it is handed to the handler with the message.
#[derive(Clone)]
pub(crate) struct Left(Arc<Mutex<Option<Result<Seat, NoPlace>>>>);

impl Left {
    fn new(left: Result<Seat, NoPlace>) -> Self {
        Self(Arc::new(Mutex::new(Some(left))))
    }

    /// The first who asks gets it.
    pub(crate) fn take(&self) -> Option<Result<Seat, NoPlace>> {
        self.0.lock().take()
    }
}

/// The streams of one client. Calls are left at the desk as their lines are read, so that they start in this order.
pub(crate) struct Lines<R> {
    reader: BufReader<R>,
    line: Line,
    desk: Desk,
    /// Whether `initialize` was seen.
    begun: bool,
    out: Option<mpsc::Sender<Outgoing>>,
    refusals: VecDeque<Vec<u8>>,
    stop: Cancel,
}

impl<R: AsyncRead + Send + Unpin> Lines<R> {
    /// Reads from `reader`; what is to be written goes to the queue. The end of the input cancels `stop`.
    pub(crate) fn new(reader: R, desk: Desk, limit: usize, stop: Cancel) -> (Self, mpsc::Receiver<Outgoing>) {
        let (out, queue) = mpsc::channel(WAITING);
        let line = Line { limit, ..Line::default() };
        let reader = BufReader::new(reader);
        (Self { reader, line, desk, begun: false, out: Some(out), refusals: VecDeque::new(), stop }, queue)
    }

    async fn next(&mut self) -> Option<Message> {
        loop {
            // A place in the queue first: this future may be dropped at any point, and nothing is lost then.
            while !self.refusals.is_empty() {
                let place = self.out.as_ref()?.reserve().await.ok()?;
                if let Some(line) = self.refusals.pop_front() {
                    place.send(Outgoing { line, written: None });
                }
            }
            let read = match self.line.fill(&mut self.reader).await {
                Ok(Some(Taken::Line(line))) => read(&line),
                Ok(Some(Taken::TooLong { id, bytes })) => {
                    let words = words::too_long(bytes, self.line.limit);
                    Read::Refused(id, ErrorData::invalid_request(words, None))
                }
                Ok(None) => return None,
                Err(error) => {
                    tracing::warn!(%error, "failed to read from the client");
                    return None;
                }
            };
            if let Some(message) = self.admit(read) {
                return Some(message);
            }
        }
    }

    /// The message, unless it is answered here.
    fn admit(&mut self, read: Read) -> Option<Message> {
        match read {
            Read::Refused(id, error) => self.refuse(id, error),
            Read::Call(_, Call { id, .. }) if !self.begun => {
                self.refuse(Some(id), ErrorData::invalid_request(words::NOT_BEGUN, None))
            }
            Read::Call(message, call) => self.admit_call(message, call),
            Read::Message(message) if self.begun => Some(message),
            Read::Message(JsonRpcMessage::Request(request)) => self.admit_early(request),
            Read::Nothing
            | Read::Message(
                JsonRpcMessage::Notification(_) | JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_),
            ) => None,
        }
    }

    /// What may come before the session has begun.
    fn admit_early(&mut self, request: JsonRpcRequest<ClientRequest>) -> Option<Message> {
        let asked = &request.request;
        self.begun = matches!(asked, ClientRequest::InitializeRequest(_));
        if self.begun || matches!(asked, ClientRequest::PingRequest(_)) {
            return Some(JsonRpcMessage::Request(request));
        }
        let error = match asked.method() {
            "initialize" => ErrorData::invalid_params(words::BAD_INITIALIZE, None),
            "server/discover" => ErrorData::method_not_found::<DiscoverRequestMethod>(),
            _ => ErrorData::invalid_request(words::NOT_BEGUN, None),
        };
        self.refuse(Some(request.id), error)
    }

    fn admit_call(&mut self, mut message: Message, call: Call) -> Option<Message> {
        let JsonRpcMessage::Request(request) = &mut message else { return None };
        let ClientRequest::CallToolRequest(of_call) = &mut request.request else { return None };
        let left = match self.desk.leave(call) {
            Err(NoPlace::InUse) => {
                let words = words::id_in_use(&request.id);
                return self.refuse(Some(request.id.clone()), ErrorData::invalid_request(words, None));
            }
            left => left,
        };
        of_call.extensions.insert(Left::new(left));
        Some(message)
    }

    fn refuse(&mut self, id: Option<RequestId>, error: ErrorData) -> Option<Message> {
        tracing::debug!(?id, %error, "a message was refused");
        match to_line(&TxJsonRpcMessage::<RoleServer>::error(error, id)) {
            Ok(line) => self.refusals.push_back(line),
            Err(error) => tracing::warn!(%error, "a refusal could not be written"),
        }
        None
    }
}

impl<R: AsyncRead + Send + Unpin + 'static> Transport<RoleServer> for Lines<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let out = self.out.clone();
        async move {
            let line = to_line(&item)?;
            let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
            let (written, done) = oneshot::channel();
            let out = out.ok_or_else(gone)?;
            out.send(Outgoing { line, written: Some(written) }).await.map_err(|_| gone())?;
            drop(out);
            done.await.map_err(|_| gone())
        }
    }

    async fn receive(&mut self) -> Option<Message> {
        let message = self.next().await;
        if message.is_none() {
            // Nobody is left who would read an answer: what runs stops now.
            self.stop.cancel(Cause::Disposed);
        }
        message
    }

    async fn close(&mut self) -> io::Result<()> {
        self.out = None;
        Ok(())
    }
}

/// Writes what is queued, until nobody can queue more. A client that does not take it any more is gone: that cancels
/// `stop`.
pub(crate) async fn write(
    mut writer: impl AsyncWrite + Unpin,
    mut queue: mpsc::Receiver<Outgoing>,
    stop: &Cancel,
) {
    while let Some(Outgoing { line, written }) = queue.recv().await {
        let done = async {
            writer.write_all(&line).await?;
            writer.flush().await
        };
        if let Err(error) = done.await {
            tracing::debug!(%error, "the client does not read any more");
            stop.cancel(Cause::Disposed);
            return;
        }
        if let Some(written) = written {
            // Whoever sent it may have left.
            let _ = written.send(());
        }
    }
}

fn to_line(message: &TxJsonRpcMessage<RoleServer>) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}

/// A line as it comes in.
#[derive(Default)]
struct Line {
    limit: usize,
    bytes: Vec<u8>,
    /// All that were read of it, and the end of those that were not kept.
    total: usize,
    tail: Vec<u8>,
}

enum Taken {
    Line(Vec<u8>),
    TooLong { id: Option<RequestId>, bytes: usize },
}

impl Line {
    /// Reads to the end of the line; `None` is the end of the input. What was read is kept if the future is dropped.
    async fn fill(&mut self, reader: &mut (impl AsyncBufReadExt + Unpin)) -> io::Result<Option<Taken>> {
        loop {
            let available = reader.fill_buf().await?;
            if available.is_empty() {
                return Ok(None);
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let part = available.get(..end.unwrap_or(available.len())).unwrap_or_default();
            self.add(part);
            let used = part.len() + usize::from(end.is_some());
            reader.consume(used);
            if end.is_some() {
                return Ok(Some(self.take()));
            }
        }
    }

    fn add(&mut self, part: &[u8]) {
        self.total = self.total.saturating_add(part.len());
        if self.total <= self.limit {
            self.bytes.extend_from_slice(part);
            return;
        }
        if self.tail.is_empty() {
            self.tail.extend_from_slice(last(&self.bytes));
            self.bytes.extend_from_slice(part.get(..ENDS.min(part.len())).unwrap_or_default());
            self.bytes.truncate(ENDS);
            self.bytes.shrink_to_fit();
        }
        self.tail.extend_from_slice(last(part));
        let kept = last(&self.tail).len();
        self.tail.drain(..self.tail.len() - kept);
    }

    fn take(&mut self) -> Taken {
        let Self { bytes, total, tail, .. } =
            std::mem::replace(self, Self { limit: self.limit, ..Self::default() });
        if total <= self.limit {
            return Taken::Line(bytes);
        }
        Taken::TooLong { id: id_around(&bytes, &tail), bytes: total }
    }
}

fn last(part: &[u8]) -> &[u8] {
    part.get(part.len().saturating_sub(ENDS)..).unwrap_or_default()
}
