//! Lines from the standard input, read when they are asked for.

use std::io::{self, BufRead, Read as _};
use std::sync::mpsc::{Sender, channel};

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// How much of a line is kept. The rest of a longer one is read and is no line of its own.
const KEPT: u64 = 4096;

/// A thread that reads. It is left behind while it waits for a line, as such a thread can't be stopped.
pub(super) struct Keyboard {
    wanted: Sender<()>,
    lines: UnboundedReceiver<io::Result<Option<String>>>,
    /// A line is being waited for.
    reading: bool,
}

impl Keyboard {
    pub(super) fn new() -> Self {
        let (wanted, wishes) = channel();
        let (sender, lines) = unbounded_channel();
        // Without a thread there is no line: the channel is closed, which reads as the end.
        let _ = std::thread::Builder::new().name("keyboard".to_owned()).spawn(move || {
            while wishes.recv().is_ok() {
                if sender.send(line()).is_err() {
                    return;
                }
            }
        });
        Self { wanted, lines, reading: false }
    }

    /// Forgets what was typed before it was asked for.
    pub(super) fn forget(&mut self) {
        if self.lines.try_recv().is_ok() {
            self.reading = false;
        }
        // What is no terminal keeps what it holds.
        let _ = rustix::termios::tcflush(io::stdin(), rustix::termios::QueueSelector::IFlush);
    }

    /// The next line; `None` at the end of the input. Dropping the future loses no line that comes after the next
    /// [`forget`](Self::forget).
    pub(super) async fn next(&mut self) -> io::Result<Option<String>> {
        if !self.reading && self.wanted.send(()).is_err() {
            return Ok(None);
        }
        self.reading = true;
        let line = self.lines.recv().await;
        self.reading = false;
        line.unwrap_or(Ok(None))
    }
}

fn line() -> io::Result<Option<String>> {
    whole_line(io::stdin().lock())
}

fn whole_line(mut input: impl BufRead) -> io::Result<Option<String>> {
    let (mut kept, mut piece) = (Vec::new(), Vec::new());
    loop {
        piece.clear();
        let read = input.by_ref().take(KEPT).read_until(b'\n', &mut piece)?;
        if kept.is_empty() {
            kept.clone_from(&piece);
        }
        if read == 0 || piece.ends_with(b"\n") {
            return Ok((!kept.is_empty()).then(|| String::from_utf8_lossy(&kept).into_owned()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_any_length_is_one_line() {
        let long = "x".repeat(3 * 4096) + "y";
        let mut input = io::Cursor::new(format!("y\n\n{long}\nn"));
        let mut next = || whole_line(&mut input).unwrap();
        assert_eq!((next().as_deref(), next().as_deref()), (Some("y\n"), Some("\n")));
        assert_eq!(next(), Some("x".repeat(4096)), "the rest is no answer");
        assert_eq!((next().as_deref(), next()), (Some("n"), None));
    }
}
