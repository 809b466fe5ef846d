//! What a request is answered with.

use std::num::NonZeroUsize;
use std::time::Duration;

/// One answer: a status line, headers and what happens after them, in order. When nothing more is to happen the answer
/// ends as it should, and the connection serves the next request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) is_chunked: bool,
    pub(crate) acts: Vec<Act>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Act {
    /// Bytes of the body, in one piece.
    Send(Vec<u8>),
    /// The same bytes again and again, until the client hangs up.
    Repeat(Vec<u8>),
    Wait(Duration),
    /// Nothing more, until the client hangs up.
    Stall,
    /// The connection is closed in the middle of the answer.
    Drop,
}

impl Reply {
    /// A stream of events with status 200, its body in chunks.
    pub fn stream() -> Self {
        Self::status(200).header("content-type", "text/event-stream")
    }

    /// An answer with this status and nothing else yet.
    pub fn status(status: u16) -> Self {
        Self { status, headers: vec![], is_chunked: true, acts: vec![] }
    }

    /// A refusal with the usual JSON body.
    pub fn refusal(status: u16, code: &str, message: &str) -> Self {
        let error = dsh_json::object! { "message": message, "type": "error", "code": code };
        let body = dsh_json::object! { "error": error }.to_text();
        Self::status(status).header("content-type", "application/json").send(body)
    }

    /// No answer at all: the request is read, then nothing happens until the client hangs up.
    pub fn silence() -> Self {
        Self { status: 0, ..Self::status(0).stall() }
    }

    /// The connection is closed once the request is read.
    pub fn hang_up() -> Self {
        Self { status: 0, ..Self::status(0).drop_connection() }
    }

    /// One header more.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The body ends with the connection instead of a last chunk.
    #[must_use]
    pub fn until_close(mut self) -> Self {
        self.is_chunked = false;
        self
    }

    /// Sends these bytes in one piece.
    #[must_use]
    pub fn send(self, bytes: impl Into<Vec<u8>>) -> Self {
        self.act(Act::Send(bytes.into()))
    }

    /// Sends these bytes in pieces of this size; 0 is 1.
    #[must_use]
    pub fn send_cut(mut self, bytes: impl AsRef<[u8]>, size: usize) -> Self {
        let size = NonZeroUsize::new(size).map_or(1, NonZeroUsize::get);
        self.acts.extend(bytes.as_ref().chunks(size).map(|piece| Act::Send(piece.to_vec())));
        self
    }

    /// Sends these bytes in pieces that are cut at these offsets, in ascending order; one beyond the end cuts nothing.
    #[must_use]
    pub fn send_cut_at(mut self, bytes: impl AsRef<[u8]>, offsets: &[usize]) -> Self {
        let mut rest = bytes.as_ref();
        let mut sent = 0;
        for offset in offsets {
            let Some((piece, after)) = rest.split_at_checked(offset.saturating_sub(sent)) else { break };
            sent += piece.len();
            self.acts.push(Act::Send(piece.to_vec()));
            rest = after;
        }
        self.send(rest)
    }

    /// Sends these bytes again and again, until the client hangs up.
    #[must_use]
    pub fn repeat(self, bytes: impl Into<Vec<u8>>) -> Self {
        self.act(Act::Repeat(bytes.into()))
    }

    /// Waits.
    #[must_use]
    pub fn wait(self, time: Duration) -> Self {
        self.act(Act::Wait(time))
    }

    /// Does nothing more, until the client hangs up.
    #[must_use]
    pub fn stall(self) -> Self {
        self.act(Act::Stall)
    }

    /// Closes the connection in the middle of the answer.
    #[must_use]
    pub fn drop_connection(self) -> Self {
        self.act(Act::Drop)
    }

    fn act(mut self, act: Act) -> Self {
        self.acts.push(act);
        self
    }
}
