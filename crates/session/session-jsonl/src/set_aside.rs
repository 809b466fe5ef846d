//! Taking a bad end off a log, and keeping it.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use crate::beside::{create_beside, parent_of, sync_directory};
use crate::error::IoError;

/// The end of a log that was taken off, and where it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetAside {
    /// The file that keeps the bytes; new, beside the log.
    pub path: PathBuf,
    /// Where they began in the log.
    pub offset: u64,
    /// How many they are.
    pub bytes: u64,
}

/// Moves everything from `offset` on into a new file beside the log, which is on the device before the log is cut. With
/// nothing there only cuts. An existing file is never written over.
pub(crate) fn set_aside(log: &File, path: &Path, offset: u64) -> Result<Option<SetAside>, IoError> {
    let mut from = log;
    let length = from.metadata().map_err(IoError::at(path, "read"))?.len();
    if length <= offset {
        return Ok(None);
    }
    let (aside, mut to) = create_beside(path, &format!("removed-{offset}"))?;
    let copied =
        from.seek(SeekFrom::Start(offset)).and_then(|_| io::copy(&mut from.take(length - offset), &mut to));
    let bytes = copied.and_then(|bytes| to.sync_all().map(|()| bytes)).map_err(|error| {
        // The log has not changed; what the copy holds is not needed.
        let _ = std::fs::remove_file(&aside);
        IoError::at(&aside, "write")(error)
    })?;
    if let Some(parent) = parent_of(path) {
        sync_directory(&parent)?;
    }
    log.set_len(offset).map_err(IoError::at(path, "cut"))?;
    Ok(Some(SetAside { path: aside, offset, bytes }))
}
