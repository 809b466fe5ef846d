//! Lines from the standard input, read when they are asked for.

use std::io;
use std::sync::mpsc::{Sender, channel};

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// The longest line that is an answer; of a longer one the rest counts as the next.
const MAX_BYTES: u64 = 4096;

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
    use io::{BufRead as _, Read as _};
    let mut text = Vec::new();
    let read = io::stdin().lock().take(MAX_BYTES).read_until(b'\n', &mut text)?;
    Ok((read > 0).then(|| String::from_utf8_lossy(&text).into_owned()))
}
