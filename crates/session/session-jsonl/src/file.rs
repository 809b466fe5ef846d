//! The log file that is being written: one writer, one line at a time.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use dsh_session::{Event, Header, Sink, SinkError, Vocabulary};

use crate::beside::{create_directories, create_new, parent_of};
use crate::error::{IoError, OpenError};
use crate::read::{Contents, Tail, read_file};
use crate::set_aside::{SetAside, set_aside};
use crate::whole::{link_new, with_true_seed};
use crate::writer::Writer;

/// A session's file, locked for one writer: the session's [`Sink`]. A handle; clones are the same file. The lock goes
/// with the last of them.
#[derive(Clone)]
pub struct LogFile(Arc<Writer>);

/// A log that can be written to, and what was in it.
pub struct Opened {
    /// The file.
    pub log: LogFile,
    /// The session's header: of the file, where it had one.
    pub header: Header,
    /// Its events, in order.
    pub events: Vec<Event>,
    /// The torn end that was taken off.
    pub set_aside: Option<SetAside>,
}

impl LogFile {
    /// Creates a file with the header and no events, readable by its owner only, and the directories on the way to it.
    /// An existing file is [`OpenError::Exists`]. Blocking.
    pub fn create(path: impl AsRef<Path>, header: &Header) -> Result<Self, OpenError> {
        let path = path.as_ref();
        let new_names = create_directories(path)?;
        let file = create_new(path).map_err(|error| {
            if error.kind() == io::ErrorKind::AlreadyExists {
                OpenError::Exists { path: path.to_owned() }
            } else {
                IoError::at(path, "create")(error).into()
            }
        })?;
        lock(&file, path)?;
        match Self::start(path, file, header, new_names) {
            Ok(log) => Ok(log),
            Err(error) => {
                // Nobody has seen it; a leftover is an empty log, which can be opened.
                let _ = std::fs::remove_file(path);
                Err(error.into())
            }
        }
    }

    /// Creates a file that begins with events of an earlier session, as [`fork`](crate::fork) does. It has its name
    /// only once all of them are on the device. An existing file is [`OpenError::Exists`]. Blocking.
    pub fn create_with(path: impl AsRef<Path>, header: &Header, events: &[Event]) -> Result<Self, OpenError> {
        let path = path.as_ref();
        let new_names = create_directories(path)?;
        let file = link_new(path, header, events)?;
        let length = file.metadata().map_err(IoError::at(path, "read"))?.len();
        let next_seq = events.len() as u64;
        Ok(Self(Arc::new(Writer::over(path, Arc::new(file), length, next_seq, new_names))))
    }

    /// Opens a log to continue it: locks and reads it, and takes a torn end off, which is kept beside it. What the log
    /// left open, [`Session::resume`](dsh_session::Session::resume) closes. Blocking.
    ///
    /// Refused without a change: a log in use, a damaged one, one with an event of a required type that `vocabulary`
    /// does not have, a file that is no log, or an empty one ([`OpenError::NotStarted`]).
    pub fn open(path: impl AsRef<Path>, vocabulary: &Vocabulary) -> Result<Opened, OpenError> {
        let path = path.as_ref();
        let (file, contents) = lock_and_read(path, vocabulary)?;
        let Contents { header: Some(header), events, tail } = contents else {
            return Err(OpenError::NotStarted { path: path.to_owned() });
        };
        Self::go_on(path, file, header, events, tail)
    }

    /// [`open`](Self::open)s the log when there is one, and else creates one with `header`; a file whose writer was
    /// stopped before the header was written counts as none. Blocking.
    pub fn open_or_create(
        path: impl AsRef<Path>,
        header: Header,
        vocabulary: &Vocabulary,
    ) -> Result<Opened, OpenError> {
        let path = path.as_ref();
        match Self::create(path, &header) {
            Ok(log) => return Ok(Opened { log, header, events: Vec::new(), set_aside: None }),
            Err(OpenError::Exists { .. }) => {}
            Err(error) => return Err(error),
        }
        let (file, Contents { header: found, events, tail }) = lock_and_read(path, vocabulary)?;
        if let Some(found) = found {
            return Self::go_on(path, file, found, events, tail);
        }
        let set_aside = take_off_torn(&file, path, tail)?;
        let log = Self::start(path, file, &header, Vec::new())?;
        Ok(Opened { log, header, events, set_aside })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    fn start(path: &Path, file: File, header: &Header, new_names: Vec<PathBuf>) -> Result<Self, IoError> {
        Ok(Self(Arc::new(Writer::start(path, Arc::new(file), header, new_names)?)))
    }

    fn go_on(
        path: &Path,
        file: File,
        header: Header,
        events: Vec<Event>,
        tail: Tail,
    ) -> Result<Opened, OpenError> {
        let set_aside = take_off_torn(&file, path, tail)?;
        let (file, header) = with_true_seed(path, file, header, &events)?;
        let log = Self(Arc::new(writer_over(path, file, &events)?));
        Ok(Opened { log, header, events, set_aside })
    }
}

#[async_trait]
impl Sink for LogFile {
    /// Writes the event's line; a failed write is taken back. The error is a [`WriteError`](crate::WriteError).
    fn write(&self, event: &Event) -> Result<(), SinkError> {
        self.0.put(event).map_err(SinkError::new)
    }

    /// Waits for the device, the first time for the directory too, on tokio's blocking threads; needs a tokio runtime.
    /// After a failure the log takes nothing more. The error is a [`WriteError`](crate::WriteError).
    async fn flush(&self) -> Result<(), SinkError> {
        if self.0.is_flushed().map_err(SinkError::new)? {
            return Ok(());
        }
        let writer = Arc::clone(&self.0);
        let flushed = tokio::task::spawn_blocking(move || writer.flush_blocking()).await;
        let flushed = flushed.unwrap_or_else(|stopped| {
            Err(self.0.lose_flush(IoError::at(self.path(), "flush")(io::Error::other(stopped))))
        });
        flushed.map_err(SinkError::new)
    }
}

impl std::fmt::Debug for LogFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LogFile").field("path", &self.path()).finish_non_exhaustive()
    }
}

/// Opens for writing, whatever the tail is, except a damaged one; nothing is changed yet.
fn lock_and_read(path: &Path, vocabulary: &Vocabulary) -> Result<(File, Contents), OpenError> {
    let (file, contents) = lock_and_read_any(path, vocabulary)?;
    contents.check_undamaged(path)?;
    Ok((file, contents))
}

pub(crate) fn lock_and_read_any(path: &Path, vocabulary: &Vocabulary) -> Result<(File, Contents), OpenError> {
    let opened = OpenOptions::new().read(true).append(true).open(path);
    let file = opened.map_err(IoError::at(path, "open"))?;
    lock(&file, path)?;
    let contents = read_file(&file, path)?;
    contents.check_known(path, vocabulary)?;
    Ok((file, contents))
}

/// A writer for a file that holds a header and `events`, and nothing else.
pub(crate) fn writer_over(path: &Path, file: File, events: &[Event]) -> Result<Writer, IoError> {
    let length = file.metadata().map_err(IoError::at(path, "read"))?.len();
    // Its name may be new: its creator may not have come as far as a flush.
    let new_names = parent_of(path).into_iter().collect();
    Ok(Writer::over(path, Arc::new(file), length, events.len() as u64, new_names))
}

/// Takes off what is not sound, and keeps it beside the log.
pub(crate) fn take_off(file: &File, path: &Path, tail: Tail) -> Result<Option<SetAside>, IoError> {
    tail.offset().map_or(Ok(None), |offset| set_aside(file, path, offset))
}

/// The same for a log that is continued, told to whoever reads the program's warnings.
fn take_off_torn(file: &File, path: &Path, tail: Tail) -> Result<Option<SetAside>, IoError> {
    let aside = take_off(file, path, tail)?;
    if let Some(SetAside { path: kept, offset, bytes }) = &aside {
        let (log, kept) = (path.display(), kept.display());
        tracing::warn!(%log, offset, bytes, %kept, "took a torn end off a session log");
    }
    Ok(aside)
}

fn lock(file: &File, path: &Path) -> Result<(), OpenError> {
    file.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => OpenError::Locked { path: path.to_owned() },
        TryLockError::Error(error) => IoError::at(path, "lock")(error).into(),
    })
}
