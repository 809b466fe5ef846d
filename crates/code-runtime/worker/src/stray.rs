//! What a worker writes past its frames: standard output and error, in one pipe.

use std::fmt;
use std::io;

use tokio::net::unix::pipe::Receiver;

/// The beginning of what was written, in the order of writing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stray {
    /// The bytes, up to the bound.
    pub bytes: Vec<u8>,
    /// How many came after them.
    pub dropped: u64,
}

impl Stray {
    /// Whether the kept bytes have that text.
    pub(crate) fn says(&self, text: &str) -> bool {
        self.bytes.windows(text.len()).any(|window| window == text.as_bytes())
    }

    fn keep(&mut self, more: &[u8], most: usize) {
        let room = most.saturating_sub(self.bytes.len());
        let (kept, dropped) = more.split_at(room.min(more.len()));
        self.bytes.extend_from_slice(kept);
        self.dropped += dropped.len() as u64;
    }
}

impl fmt::Display for Stray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.bytes))
    }
}

/// Collects it while it is written, so that the writer is never held up for long.
#[derive(Debug)]
pub(crate) struct Collector {
    /// `None` after the end.
    pipe: Option<Receiver>,
    so_far: Stray,
    most: usize,
}

impl Collector {
    pub(crate) fn new(pipe: Receiver, most: usize) -> Self {
        Self { pipe: Some(pipe), so_far: Stray::default(), most }
    }

    /// Waits for more and keeps it; forever after the end. Dropping the future loses nothing.
    pub(crate) async fn collect(&mut self) {
        let Some(pipe) = &self.pipe else { return std::future::pending().await };
        // A pipe that can't be waited for is read like one that can: it says so then.
        let _ = pipe.readable().await;
        self.read();
    }

    /// What there is when nothing writes any more.
    pub(crate) fn finish(&mut self) -> Stray {
        while self.read() {}
        self.pipe = None;
        std::mem::take(&mut self.so_far)
    }

    /// Reads once; whether there may be more at once.
    fn read(&mut self) -> bool {
        let Some(pipe) = &self.pipe else { return false };
        let mut chunk = [0; 4 << 10];
        match pipe.try_read(&mut chunk) {
            Ok(0) => self.pipe = None,
            Ok(read) => self.so_far.keep(chunk.get(..read).unwrap_or_default(), self.most),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return false,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => self.pipe = None,
        }
        self.pipe.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::Stray;

    #[test]
    fn the_beginning_is_kept_and_the_rest_is_counted() {
        let mut stray = Stray::default();
        for part in ["abc", "def", "gh"] {
            stray.keep(part.as_bytes(), 5);
        }
        assert_eq!(stray, Stray { bytes: b"abcde".to_vec(), dropped: 3 });
        assert!(stray.says("cd") && !stray.says("ef"));
    }
}
