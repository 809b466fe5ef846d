//! Writing lines: whole or not at all, and flushed on demand.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dsh_session::{Event, Header};
use parking_lot::Mutex;

use crate::device::Device;
use crate::error::{IoError, WriteError};
use crate::line;
use crate::set_aside::sync_directory;

/// The one writer of a log file.
pub(crate) struct Writer {
    path: PathBuf,
    device: Arc<dyn Device>,
    state: Mutex<State>,
}

struct State {
    /// How much of the file is sound.
    length: u64,
    next_seq: u64,
    /// How many lines were written, and how many of them are on the device.
    written: u64,
    flushed: u64,
    /// The directories that hold a new name on the way to the file.
    new_names: Vec<PathBuf>,
    /// The failure that could not be undone.
    broken: Option<IoError>,
    /// The line, kept for its room.
    line: String,
}

/// What waits until lines are on the device.
pub(crate) struct Flush {
    target: u64,
    path: PathBuf,
    device: Arc<dyn Device>,
    new_names: Vec<PathBuf>,
}

impl Writer {
    /// Writes the header to a file that is empty, and leaves it empty when that fails.
    pub(crate) fn start(
        path: &Path,
        device: Arc<dyn Device>,
        header: &Header,
        new_names: Vec<PathBuf>,
    ) -> Result<Self, IoError> {
        let mut line = String::new();
        line::encode(&header.to_json(), &mut line);
        if let Err(error) = device.append(line.as_bytes()) {
            // A piece of a header is as good as none, should this fail as well.
            let _ = device.truncate(0);
            return Err(IoError::at(path, "write")(error));
        }
        Ok(Self::over(path, device, line.len() as u64, 0, new_names))
    }

    /// Goes on after `length` bytes that hold a header and `next_seq` events.
    pub(crate) fn over(
        path: &Path,
        device: Arc<dyn Device>,
        length: u64,
        next_seq: u64,
        new_names: Vec<PathBuf>,
    ) -> Self {
        let (written, line) = (1, String::new());
        let state = State { length, next_seq, written, flushed: 0, new_names, broken: None, line };
        Self { path: path.to_owned(), device, state: Mutex::new(state) }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the line of the next event, in one write; takes back what a failed write left.
    pub(crate) fn put(&self, event: &Event) -> Result<(), WriteError> {
        let mut state = self.state.lock();
        self.check(&state)?;
        if event.seq != state.next_seq {
            let expected = state.next_seq;
            return Err(WriteError::OutOfOrder { path: self.path.clone(), expected, found: event.seq });
        }
        let mut line = std::mem::take(&mut state.line);
        line.clear();
        let put = encode(event, &mut line).and_then(|()| self.append(&mut state, &line));
        line.shrink_to(KEPT_LINE);
        state.line = line;
        put
    }

    /// What is to be waited for, where blocking is allowed; `None` when everything is on the device.
    pub(crate) fn begin_flush(&self) -> Result<Option<Flush>, WriteError> {
        let state = self.state.lock();
        self.check(&state)?;
        if state.flushed == state.written {
            return Ok(None);
        }
        Ok(Some(Flush {
            target: state.written,
            path: self.path.clone(),
            device: Arc::clone(&self.device),
            new_names: state.new_names.clone(),
        }))
    }

    /// Notes how a flush went, which ran as far as `target`. After a failed one the writer is broken: the system may
    /// have dropped what it could not store, so nothing can be built on it.
    pub(crate) fn end_flush(&self, target: u64, flushed: Result<(), IoError>) -> Result<(), WriteError> {
        let mut state = self.state.lock();
        match flushed {
            Ok(()) => {
                state.flushed = state.flushed.max(target);
                state.new_names.clear();
                Ok(())
            }
            Err(cause) => {
                state.broken = Some(cause.clone());
                Err(WriteError::Io(cause))
            }
        }
    }

    /// Waits until everything written is on the device, blocking.
    pub(crate) fn flush_blocking(&self) -> Result<(), WriteError> {
        match self.begin_flush()? {
            Some(flush) => self.end_flush(flush.target(), flush.run()),
            None => Ok(()),
        }
    }

    fn append(&self, state: &mut State, line: &str) -> Result<(), WriteError> {
        if let Err(error) = self.device.append(line.as_bytes()) {
            let failed = IoError::at(&self.path, "write")(error);
            if let Err(error) = self.device.truncate(state.length) {
                state.broken = Some(IoError::at(&self.path, "take back a failed write to")(error));
            }
            return Err(failed.into());
        }
        state.length += line.len() as u64;
        state.next_seq += 1;
        state.written += 1;
        Ok(())
    }

    fn check(&self, state: &State) -> Result<(), WriteError> {
        match &state.broken {
            None => Ok(()),
            Some(cause) => Err(WriteError::Broken { path: self.path.clone(), cause: cause.clone() }),
        }
    }
}

impl Flush {
    /// How many lines are on the device when it has run.
    pub(crate) fn target(&self) -> u64 {
        self.target
    }

    /// Waits for the device, blocking.
    pub(crate) fn run(self) -> Result<(), IoError> {
        self.device.sync().map_err(IoError::at(&self.path, "flush"))?;
        self.new_names.iter().try_for_each(|directory| sync_directory(directory))
    }
}

/// How much room is kept for the next line.
const KEPT_LINE: usize = 1 << 16;

fn encode(event: &Event, line: &mut String) -> Result<(), WriteError> {
    let json = event.to_json();
    let depth = json.depth();
    if depth > line::MAX_LINE_DEPTH {
        return Err(WriteError::TooDeep { seq: event.seq, depth, limit: line::MAX_LINE_DEPTH });
    }
    line::encode(&json, line);
    if line.len() > line::MAX_LINE_BYTES {
        let (bytes, limit) = (line.len(), line::MAX_LINE_BYTES);
        return Err(WriteError::TooLong { seq: event.seq, bytes, limit });
    }
    Ok(())
}

#[cfg(test)]
mod tests;
