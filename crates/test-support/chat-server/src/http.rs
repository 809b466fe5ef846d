//! As much of HTTP/1.1 as the protocol needs: requests with a length, answers in chunks.

use std::io::{Error, ErrorKind, Result};

use tokio::io::{AsyncRead, AsyncReadExt};

/// A request as it came.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Request {
    /// Such as `POST`.
    pub method: String,
    /// The path; from a client of a proxy, the whole URL, or `host:port`.
    pub target: String,
    /// The headers in order, their names in lower case.
    pub headers: Vec<(String, String)>,
    /// The bytes of the body.
    pub body: Vec<u8>,
}

/// Bytes of the head of a request.
const HEAD: usize = 64 << 10;
/// Bytes of the body of a request.
const BODY: usize = 256 << 20;

impl Request {
    /// The value of a header, named in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// The body as text; bytes that are none are replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Reads the next request of a connection, `None` when the client hung up between two. `held` keeps what came after
    /// one request for the next.
    pub(crate) async fn read(
        from: &mut (impl AsyncRead + Unpin),
        held: &mut Vec<u8>,
    ) -> Result<Option<Self>> {
        let bad = |why| Error::new(ErrorKind::InvalidData, why);
        let head_end = loop {
            if let Some(at) = held.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                break at;
            }
            if held.len() > HEAD {
                return Err(bad("the head of the request is too long"));
            }
            if from.read_buf(held).await? == 0 {
                return if held.is_empty() { Ok(None) } else { Err(ErrorKind::UnexpectedEof.into()) };
            }
        };
        let head: Vec<u8> = held.drain(..head_end + 4).collect();
        let head = String::from_utf8_lossy(&head).into_owned();
        let mut lines = head.split("\r\n");
        let mut first = lines.next().unwrap_or_default().split(' ').map(str::to_owned);
        let (method, target) = (first.next().unwrap_or_default(), first.next().unwrap_or_default());
        let header = |line: &str| {
            let (name, value) = line.split_once(':')?;
            Some((name.trim().to_ascii_lowercase(), value.trim().to_owned()))
        };
        let mut request = Self { method, target, headers: lines.filter_map(header).collect(), body: vec![] };
        let length = request.header("content-length").map_or(Ok(0), str::parse::<usize>);
        let length = length.map_err(|_odd| bad("a length that is no number"))?;
        if length > BODY {
            return Err(bad("the body of the request is too long"));
        }
        while held.len() < length {
            if from.read_buf(held).await? == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
        request.body = held.drain(..length).collect();
        Ok(Some(request))
    }
}
