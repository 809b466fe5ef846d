//! Server-sent events: bytes in, the data of one event after the other out.
//!
//! Lines end with CRLF, LF or CR, wherever the pieces are cut. Comments and fields other than `data` mean nothing to this
//! protocol. The crates for this format hold an event of any length, and one refuses fields that the standard says to
//! ignore; here an event has a bound, and the work is linear in the bytes.

use std::mem;
use std::ops::ControlFlow;

use memchr::memchr2;

/// An event, or a line, over the bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooLong;

/// Finds the events in a stream of bytes.
#[derive(Debug)]
pub(crate) struct Splitter {
    /// The start of a line whose end has not come.
    line: Vec<u8>,
    /// The data lines of the event so far, joined by LF.
    data: Vec<u8>,
    has_data: bool,
    after_cr: bool,
    at_start: bool,
    max_bytes: usize,
}

impl Splitter {
    /// A splitter for events of at most `max_bytes`.
    pub(crate) fn new(max_bytes: usize) -> Self {
        Self { line: vec![], data: vec![], has_data: false, after_cr: false, at_start: true, max_bytes }
    }

    /// Takes the next bytes and calls `event` with the data of each event that they complete, until it breaks.
    pub(crate) fn push(
        &mut self,
        mut bytes: &[u8],
        mut event: impl FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, TooLong> {
        if mem::take(&mut self.after_cr) {
            match bytes.split_first() {
                None => self.after_cr = true,
                Some((b'\n', rest)) => bytes = rest,
                Some(_) => {}
            }
        }
        while let Some(at) = memchr2(b'\n', b'\r', bytes) {
            let (head, end) = bytes.split_at(at);
            bytes = match end {
                [b'\r', b'\n', rest @ ..] | [_, rest @ ..] => rest,
                [] => &[],
            };
            self.after_cr = end == b"\r";
            let flow = if self.line.is_empty() {
                self.take(head, &mut event)?
            } else {
                self.keep(head)?;
                let mut line = mem::take(&mut self.line);
                let flow = self.take(&line, &mut event)?;
                line.clear();
                self.line = line;
                flow
            };
            if flow.is_break() {
                return Ok(flow);
            }
        }
        self.keep(bytes)?;
        Ok(ControlFlow::Continue(()))
    }

    /// The bytes are over: the data of an event whose empty line is missing.
    pub(crate) fn end(&mut self) -> Option<Vec<u8>> {
        let line = mem::take(&mut self.line);
        let fits = line.is_empty() || self.take(&line, &mut |_| ControlFlow::Continue(())).is_ok();
        let data = mem::take(&mut self.data);
        (mem::take(&mut self.has_data) && fits).then_some(data)
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        self.room(self.line.len() + bytes.len())?;
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn room(&self, bytes: usize) -> Result<(), TooLong> {
        if self.data.len() + bytes > self.max_bytes { Err(TooLong) } else { Ok(()) }
    }

    fn take(
        &mut self,
        line: &[u8],
        event: &mut impl FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, TooLong> {
        let line = if mem::take(&mut self.at_start) {
            line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line)
        } else {
            line
        };
        if line.is_empty() {
            let flow =
                if mem::take(&mut self.has_data) { event(&self.data) } else { ControlFlow::Continue(()) };
            self.data.clear();
            return Ok(flow);
        }
        let value = match line.strip_prefix(b"data") {
            Some([b':', b' ', value @ ..] | [b':', value @ ..]) => value,
            Some([]) => &[],
            Some(_) | None => return Ok(ControlFlow::Continue(())),
        };
        self.room(value.len() + 1)?;
        if mem::replace(&mut self.has_data, true) {
            self.data.push(b'\n');
        }
        self.data.extend_from_slice(value);
        Ok(ControlFlow::Continue(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(pieces: &[&[u8]], max_bytes: usize) -> Result<Vec<String>, TooLong> {
        let mut splitter = Splitter::new(max_bytes);
        let mut found = vec![];
        let mut text = |data: &[u8]| found.push(String::from_utf8_lossy(data).into_owned());
        for piece in pieces {
            let flow = splitter.push(piece, |data| {
                text(data);
                ControlFlow::Continue(())
            })?;
            assert!(flow.is_continue());
        }
        if let Some(data) = splitter.end() {
            text(&data);
        }
        Ok(found)
    }

    #[test]
    fn a_stream_is_its_data_events() {
        for (stream, expected) in [
            ("", &[] as &[&str]),
            ("data: a\n\ndata: b\n\n", &["a", "b"]),
            ("data: a\r\n\r\ndata: b\r\n\r\n", &["a", "b"]),
            ("data: a\r\rdata: b\r\r", &["a", "b"]),
            ("data: a\n\r\ndata: b\r\n\n", &["a", "b"]),
            ("data: a\r\ndata: b\r\n\r\n", &["a\nb"]),
            ("data:a\n\ndata:  b\n\n", &["a", " b"]),
            ("data: a\ndata: b\ndata\n\n", &["a\nb\n"]),
            (": keep-alive\n\n: more\ndata: a\n: between\ndata: b\n\n", &["a\nb"]),
            ("event: error\nid: 1\nretry: 5\nwhat is this\ndatabase: no\ndata: a\n\n", &["a"]),
            ("\u{feff}data: a\n\n", &["a"]),
            ("\u{feff}\ndata: \u{feff}\n\n", &["\u{feff}"]),
            ("data: a\n\ndata: no end", &["a", "no end"]),
            ("data: a\n\ndata: no empty line\n", &["a", "no empty line"]),
            ("\n\n\r\n\rdata\n\n", &[""]),
        ] {
            let whole = events(&[stream.as_bytes()], 100).unwrap();
            assert_eq!(whole, expected, "{stream:?}");
            for size in 1..5 {
                let pieces: Vec<&[u8]> = stream.as_bytes().chunks(size).collect();
                assert_eq!(events(&pieces, 100).unwrap(), expected, "{stream:?} in pieces of {size}");
            }
        }
    }

    #[test]
    fn an_event_over_the_bound_is_refused_before_it_is_held() {
        assert_eq!(events(&[b"data: 123456789\n\n"], 10).unwrap(), ["123456789"]);
        assert_eq!(events(&[b"data: 1234567890\n\n"], 10), Err(TooLong));
        assert_eq!(events(&[b"data: 1234\n", b"data: 12345\n\n"], 10).unwrap(), ["1234\n12345"]);
        assert_eq!(events(&[b"data: 1234\n", b"data: 123456\n\n"], 10), Err(TooLong));
        assert_eq!(events(&[b": 12345678", b"9"], 10), Err(TooLong));
        assert_eq!(events(&[&b"data:\n".repeat(12)], 10), Err(TooLong));
    }

    #[test]
    fn nothing_is_read_after_a_break() {
        let mut splitter = Splitter::new(100);
        let mut found = 0;
        let flow = splitter.push(b"data: a\n\ndata: b\n\n", |_| {
            found += 1;
            ControlFlow::Break(())
        });
        assert_eq!((flow, found), (Ok(ControlFlow::Break(())), 1));
    }
}
