//! Writing lines: whole or not at all, and flushed on demand.
//!
//! After a failure one rule holds. An append that fails has not happened: the file is as it was, and the next append is
//! tried like any other. Where that can't be promised the log is *broken*, and takes nothing more until it is opened
//! again: when a piece of a line could not be taken back, when a flush failed, so that nobody knows what the device
//! holds, and when somebody else removed or changed the file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dsh_session::{Event, Header};
use parking_lot::Mutex;

use crate::beside::{create_beside, create_directories, create_new, sync_directory};
use crate::device::Device;
use crate::error::{IoError, WriteError};
use crate::line;

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
    /// The failure after which nothing more is taken.
    broken: Option<WriteError>,
    /// The line, kept for its room.
    line: String,
}

/// What waits until lines are on the device.
struct Flush {
    target: u64,
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
        let put = line::encode_event(event, &mut line).and_then(|()| self.append(&mut state, &line));
        line.shrink_to(KEPT_LINE);
        state.line = line;
        put
    }

    /// Whether everything is on the device; an error when the log is broken.
    pub(crate) fn is_flushed(&self) -> Result<bool, WriteError> {
        Ok(self.begin_flush()?.is_none())
    }

    /// Waits until everything written is on the device, blocking.
    pub(crate) fn flush_blocking(&self) -> Result<(), WriteError> {
        match self.begin_flush()? {
            Some(flush) => {
                let flushed = self.run(&flush);
                self.end_flush(&flush, flushed)
            }
            None => Ok(()),
        }
    }

    /// Breaks the log, for a flush of which nobody knows how it went.
    pub(crate) fn lose_flush(&self, cause: IoError) -> WriteError {
        self.state.lock().broken(cause.into())
    }

    fn begin_flush(&self) -> Result<Option<Flush>, WriteError> {
        let state = self.state.lock();
        self.check(&state)?;
        let flush = Flush { target: state.written, new_names: state.new_names.clone() };
        Ok((state.flushed < state.written).then_some(flush))
    }

    /// What takes time, without the lock: lines can be written meanwhile.
    fn run(&self, flush: &Flush) -> Result<(), IoError> {
        self.device.sync().map_err(IoError::at(&self.path, "flush"))?;
        flush.new_names.iter().try_for_each(|directory| sync_directory(directory))
    }

    fn end_flush(&self, flush: &Flush, flushed: Result<(), IoError>) -> Result<(), WriteError> {
        let mut state = self.state.lock();
        // A file without a name is no log on the device, and loses its directory, too.
        self.check_file(&mut state)?;
        if let Err(cause) = flushed {
            return Err(state.broken(cause.into()));
        }
        state.flushed = state.flushed.max(flush.target);
        state.new_names.clear();
        Ok(())
    }

    fn append(&self, state: &mut State, line: &str) -> Result<(), WriteError> {
        self.check_file(state)?;
        if let Err(error) = self.device.append(line.as_bytes()) {
            let failed = IoError::at(&self.path, "write")(error);
            if let Err(error) = self.device.truncate(state.length) {
                let cause = IoError::at(&self.path, "take back a failed write to")(error);
                state.broken(cause.into());
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
            Some(cause) => {
                Err(WriteError::Broken { path: self.path.clone(), cause: Box::new(cause.clone()) })
            }
        }
    }

    /// Whether the file is as this writer left it.
    fn check_file(&self, state: &mut State) -> Result<(), WriteError> {
        let path = || self.path.clone();
        let found = self.device.look().map_err(IoError::at(&self.path, "look at"))?;
        let wrong = if !found.named {
            match self.put_back(state.length) {
                Ok(kept) => WriteError::Removed { path: path(), kept },
                Err(cause) => WriteError::Lost { path: path(), cause },
            }
        } else if found.length != state.length {
            WriteError::Changed { path: path(), expected: state.length, found: found.length }
        } else {
            return Ok(());
        };
        Err(state.broken(wrong))
    }

    /// Writes what a removed file holds under its name again, and beside it where the name is taken.
    fn put_back(&self, length: u64) -> Result<PathBuf, IoError> {
        let new_names = create_directories(&self.path)?;
        let (kept, mut file) = match create_new(&self.path) {
            Ok(file) => (self.path.clone(), file),
            Err(_) => create_beside(&self.path, "kept")?,
        };
        let copied = self.device.copy_to(&mut file, length).and_then(|()| file.sync_all());
        copied.map_err(IoError::at(&kept, "write"))?;
        new_names.iter().try_for_each(|directory| sync_directory(directory))?;
        Ok(kept)
    }
}

impl State {
    /// Takes nothing more, for this reason.
    fn broken(&mut self, cause: WriteError) -> WriteError {
        self.broken = Some(cause.clone());
        cause
    }
}

/// How much room is kept for the next line.
const KEPT_LINE: usize = 1 << 16;

#[cfg(test)]
mod tests;
